"""Answers of models that write their reasoning before them."""


def after_thinking(output: str) -> str:
    """What stands behind the last `</think>`: the whole output where there is none.

    The engines keep reasoning and answer apart by the model's own tags. Files of `python -m evaluator score` may not.
    """
    return output.rpartition("</think>")[2]
