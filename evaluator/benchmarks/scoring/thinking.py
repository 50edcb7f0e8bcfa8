"""Separate the answer of a model from the reasoning that it writes before it."""


def after_thinking(output: str) -> str:
    """Return the text after the last `</think>`, or the whole output if there is none.

    The engines have already removed reasoning by the model's own tags. Files for `python -m evaluator score` may still
    contain it.
    """
    return output.rpartition("</think>")[2]
