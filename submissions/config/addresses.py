"""How addresses on the Hub begin. Imports nothing, so that command lines can use it."""

DATASETS = "hf://datasets/"
BUCKETS = "hf://buckets/"
SPACES = "hf://spaces/"
