"""Engines: the code that loads or calls a model and asks it the prompts. There is one file for each engine."""
