"""What a model repository contains: files, config, chat template, quantization.

Go there to change which models are recognised.
"""
