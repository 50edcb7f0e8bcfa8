"""The inference process with an engine whose answers hang on the size of its batches, as some kernels' do."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from evaluator.data_types import Answer, Prompt
from evaluator.run import child as inference

BATCH = 64


class Moody:
    params = None

    def __init__(self, _: str, options: Any) -> None:
        self.batch_size = options.batch_size or BATCH

    def close(self) -> None:
        pass

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        asked = list(prompts)
        for prompt in asked:
            batched = self.batch_size > 1 and len(asked) > 1
            yield Answer(prompt.id, "" if batched else (prompt.page or "")[:3000], "ok", 0.001)


if __name__ == "__main__":
    vars(inference)["load_engine"] = Moody
    vars(inference)["_environment"] = lambda: {"hardware": "none", "calibration_ms": 1.0}
    sys.exit(inference.main(sys.argv[1]))
