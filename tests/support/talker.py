"""The inference process with an engine that says what would do harm where it is shown."""

import sys
from collections.abc import Iterable, Iterator

from evaluator.data_types import Answer, Prompt
from tests.support.instant import Instant, run

SAID = "<script>alert(1)</script>\x1b[2J\x1b]0;owned\x07 HANNUN-CANARY-77aa"


class Talker(Instant):
    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        return (Answer(prompt.id, SAID, "ok", 0.001) for prompt in prompts)


if __name__ == "__main__":
    sys.stderr.write(SAID + "\n")
    sys.exit(run(Talker()))
