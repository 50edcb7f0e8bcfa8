"""A result as lm-eval, Every Eval Ever or Inspect write it.

Go there to change an export.
"""

from collections.abc import Callable
from typing import Any

from evaluator.formats.every_eval_ever import to_every_eval_ever
from evaluator.formats.inspect_log import to_inspect
from evaluator.formats.lm_eval import to_lm_eval
from submissions.records.result import EvalResult

# By the part of the URL between the key and `.json`: /results/KEY.lm-eval.json
RESULT_FORMATS: dict[str, Callable[[EvalResult], dict[str, Any]]] = {
    "lm-eval": to_lm_eval,
    "every-eval-ever": to_every_eval_ever,
    "inspect": to_inspect,
}
