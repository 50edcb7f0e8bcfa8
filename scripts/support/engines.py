"""Test engines for the inference process. They run without the sandbox, because it hides the tests."""

import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import islice
from pathlib import Path

import pytest

from evaluator.core.data_types import Answer, Prompt
from evaluator.engines.dummy import DummyEngine
from evaluator.engines.images import fitted_size, load_image
from evaluator.engines.options import EngineOptions
from evaluator.engines.registry import ENGINES
from submissions.records.base import MAX_PIXELS

OPENERS, BATCH = 4, 16  # threads that open images and prompts per batch, as in the chat engine on a CPU
MARKUP = "<script>alert(1)</script>\x1b[2J\x1b]0;owned\x07 HANNUN-CANARY-77aa"
QUESTION_LOG = "asked.log"  # a file with the IDs of all prompts that the engine received
STOP_AFTER_FILE = "stop-after"  # a file with the number of answers after which the engine hangs


def use_engine(monkeypatch: pytest.MonkeyPatch, engine: type, name: str = "chat") -> None:
    """Replace the engine `name` by this engine for the duration of the test."""
    location = f"{engine.__module__}:{engine.__name__}"
    monkeypatch.setitem(ENGINES, name, ENGINES[name]._replace(location=location))


class InstantEngine(DummyEngine):
    """Answer at once, so that only the evaluator's overhead remains. Images are decoded as in the chat engine."""

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        remaining = iter(prompts)
        with ThreadPoolExecutor(OPENERS) as openers:
            while batch := list(islice(remaining, BATCH)):
                list(openers.map(_decode, [path for prompt in batch for path in prompt.images]))
                yield from (Answer(prompt.id, "42", "ok", 0.001) for prompt in batch)


class LoggingEngine(DummyEngine):
    """Log the ID of every prompt to a file beside the job folder."""

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        folder = Path(sys.argv[1])  # the job folder of this inference process
        stop = folder.with_name(STOP_AFTER_FILE)
        stop_after = int(stop.read_text()) if stop.exists() else None
        with folder.with_name(QUESTION_LOG).open("a") as asked:
            for number, prompt in enumerate(prompts):
                if number == stop_after:
                    threading.Event().wait()  # until this process ends together with the worker
                asked.write(f"{prompt.id}\n")
                asked.flush()
                yield Answer(prompt.id, f"{prompt.question}의 답", "ok", 0.001)


class LetterEngine(DummyEngine):
    """Choose a description by a hash of its text and the model, whatever its position among the choices."""

    def __init__(self, options: EngineOptions) -> None:
        super().__init__(options)
        self._model = (options.model / "README.md").read_bytes()

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        for prompt in prompts:
            choices = [line for line in prompt.text.splitlines() if line[:3] in ("A. ", "B. ", "C. ", "D. ")]
            preferred = min(choices or ["42"], key=lambda line: sha256(self._model + line[3:].encode()).digest())
            yield Answer(prompt.id, preferred[0] if choices else preferred, "ok", 0.001)


class MarkupEngine(DummyEngine):
    """Answer with markup and escape sequences that would do harm if they were shown unescaped."""

    def __init__(self, options: EngineOptions) -> None:
        super().__init__(options)
        sys.stderr.write(MARKUP + "\n")

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        return (Answer(prompt.id, MARKUP, "ok", 0.001) for prompt in prompts)


class BatchVariantEngine(DummyEngine):
    """Give other answers in batches than alone, as models do with some kernels."""

    def __init__(self, options: EngineOptions) -> None:
        super().__init__(options)
        self.batch_size = options.batch_size or 64

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        asked = list(prompts)
        for prompt in asked:
            batched = self.batch_size > 1 and len(asked) > 1
            yield Answer(prompt.id, "" if batched else (prompt.page or "")[:3000], "ok", 0.001)


def _decode(path: Path) -> None:
    width, height, _ = fitted_size(path, MAX_PIXELS)
    load_image(path, (width, height))
