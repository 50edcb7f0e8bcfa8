"""An engine without a model: the shortest example of one, and what tests of everything around the engine use.

It is not in the catalog; a test puts it there. `dummy.json` in the model's folder may say what it does:
`{"answer": "42", "stop_after": 5}`.
"""

import json
import threading
from collections.abc import Iterable, Iterator

from evaluator.data_types import Answer, Prompt
from evaluator.engines.options import EngineOptions

SETTINGS = "dummy.json"


class DummyEngine:
    batch_size = 1
    params = None

    def __init__(self, options: EngineOptions) -> None:
        file = options.model / SETTINGS
        settings = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        self._text: str = settings.get("answer", "42")
        self._stop_after: int | None = settings.get("stop_after")  # answers, after which it is silent for ever

    @staticmethod
    def environment(options: EngineOptions) -> dict[str, str | float]:
        return {"hardware": "none", "calibration_ms": 1.0}

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        for number, prompt in enumerate(prompts):
            if number == self._stop_after:
                threading.Event().wait()
            yield Answer(prompt.id, self._text, "ok", 0.001)

    def close(self) -> None:
        """Nothing was started."""
