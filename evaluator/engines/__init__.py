"""How models are asked: one file an engine."""
