"""The inference process with an engine that answers at once and writes down, beside the job, what it was asked."""

import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from evaluator.data_types import Answer, Prompt
from tests.support.instant import Instant, run

ASKED = "asked.log"
STOP = "stop-after"  # a file with the number of answers after which the engine stands still


class Noted(Instant):
    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        with Path(sys.argv[1]).with_name(ASKED).open("a") as asked:
            for number, prompt in enumerate(prompts):
                if number == _stop_after():
                    threading.Event().wait()  # until the worker's end ends this process
                asked.write(f"{prompt.id}\n")
                asked.flush()
                yield Answer(prompt.id, f"{prompt.question}의 답", "ok", 0.001)


def _stop_after() -> int | None:
    file = Path(sys.argv[1]).with_name(STOP)
    return int(file.read_text()) if file.exists() else None


if __name__ == "__main__":
    sys.exit(run(Noted()))
