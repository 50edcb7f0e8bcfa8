"""Transcription: write down a page. Items have no question, and the answer is long."""

from evaluator.benchmarks.base import Benchmark


class Transcription(Benchmark):
    """Base class of transcription benchmarks. A subclass declares the prompt and `score_text`."""

    min_context = 10240
    max_new_tokens = 8192
    answer_tokens = 1500
