"""An engine without a model: a minimal example, and a stand-in for tests of everything around engines.

It is not in the registry; tests add it. An optional `dummy.json` in the model's folder configures it:
`{"answer": "42", "seconds": 0.01, "fail": "nan_logits"}`.
"""

import json
import time
from collections.abc import Iterable, Iterator

from evaluator.core.data_types import Answer, Prompt
from evaluator.core.errors import EvaluationError
from evaluator.engines.options import EngineOptions
from submissions.texts.failure_codes import FailureCode

SETTINGS_FILE = "dummy.json"


class DummyEngine:
    batch_size = 1
    params = None

    def __init__(self, options: EngineOptions) -> None:
        file = options.model / SETTINGS_FILE
        settings = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        self._text: str = settings.get("answer", "42")
        self._seconds: float = settings.get("seconds", 0.0)  # for each answer
        if "fail" in settings:
            raise EvaluationError(FailureCode(settings["fail"]), "requested by dummy.json")

    @staticmethod
    def environment(options: EngineOptions) -> dict[str, str | float]:
        return {"hardware": "none", "calibration_ms": 1.0}

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        for prompt in prompts:
            time.sleep(self._seconds)
            yield Answer(prompt.id, self._text, "ok", 0.001 + self._seconds)

    def close(self) -> None:
        """Do nothing: nothing was started."""
