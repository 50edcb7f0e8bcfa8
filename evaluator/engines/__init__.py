"""One file an engine, and what they share; servers such as vLLM are asked by `api`.

Go there to change how a model is loaded and asked (batches: `chat`, halved by `base`).
"""
