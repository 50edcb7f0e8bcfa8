"""Engines that stand in for real ones in the inference process. They run outside of the sandbox, which shows no tests."""

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

OPENERS, BATCH = 4, 16  # threads and prompts, the chat engine's on a CPU
MARKUP = "<script>alert(1)</script>\x1b[2J\x1b]0;owned\x07 HANNUN-CANARY-77aa"
ASKED = "asked.log"
STOP = "stop-after"  # a file with the number of answers after which the engine is silent


def use_engine(monkeypatch: pytest.MonkeyPatch, engine: type, name: str = "chat") -> None:
    """Have models that the engine `name` would run be run by this one."""
    location = f"{engine.__module__}:{engine.__name__}"
    monkeypatch.setitem(ENGINES, name, ENGINES[name]._replace(location=location))


class InstantEngine(DummyEngine):
    """Answers at once, so that what is left is our own overhead. Images are decoded, as the chat engine does it."""

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        remaining = iter(prompts)
        with ThreadPoolExecutor(OPENERS) as openers:
            while batch := list(islice(remaining, BATCH)):
                list(openers.map(_decode, [path for prompt in batch for path in prompt.images]))
                yield from (Answer(prompt.id, "42", "ok", 0.001) for prompt in batch)


class LoggingEngine(DummyEngine):
    """Writes down, beside the job, what it was asked."""

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        folder = Path(sys.argv[1])  # the job of this inference process
        stop = folder.with_name(STOP)
        stop_after = int(stop.read_text()) if stop.exists() else None
        with folder.with_name(ASKED).open("a") as asked:
            for number, prompt in enumerate(prompts):
                if number == stop_after:
                    threading.Event().wait()  # until the worker's end ends this process
                asked.write(f"{prompt.id}\n")
                asked.flush()
                yield Answer(prompt.id, f"{prompt.question}의 답", "ok", 0.001)


class LetterEngine(DummyEngine):
    """Prefers some descriptions to others, wherever they stand; another model other ones."""

    def __init__(self, options: EngineOptions) -> None:
        super().__init__(options)
        self._model = (options.model / "README.md").read_bytes()

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        for prompt in prompts:
            choices = [line for line in prompt.text.splitlines() if line[:3] in ("A. ", "B. ", "C. ", "D. ")]
            preferred = min(choices or ["42"], key=lambda line: sha256(self._model + line[3:].encode()).digest())
            yield Answer(prompt.id, preferred[0] if choices else preferred, "ok", 0.001)


class MarkupEngine(DummyEngine):
    """Says what would do harm where it is shown."""

    def __init__(self, options: EngineOptions) -> None:
        super().__init__(options)
        sys.stderr.write(MARKUP + "\n")

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        return (Answer(prompt.id, MARKUP, "ok", 0.001) for prompt in prompts)


class BatchVariantEngine(DummyEngine):
    """Its answers depend on the size of its batches, as some kernels' do."""

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
