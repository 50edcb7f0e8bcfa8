"""What a model repository contains: files, config, chat template, quantisation.

Go there to change which models are recognised.
"""
