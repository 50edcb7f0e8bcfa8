"""`python -m scripts.bench_shards FOLDER LAUNCHER SHARDS SECONDS`: an evaluation on a simulated device, which waits so
long for each answer. Prints the seconds from the claim to the publication."""

import json
import os
import shutil
import sys
import time
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from submissions.config.settings import Settings
    from submissions.records.request import EvalRequest

BENCHMARK = "ko-vdc"


def main(folder: Path, launcher: str, count: int, seconds: float) -> None:
    # Here, for each process that scores begins by importing this module.
    import pytest

    from evaluator.engines.dummy import DummyEngine
    from evaluator.engines.registry import ENGINES, REGISTRY
    from submissions.checks.model_checks import inspect_model
    from submissions.checks.request import build_request
    from submissions.config.paths import ROOT
    from tests.conftest import environment_of, settings_in
    from tests.support.tiny_models import make_image_text

    shutil.rmtree(folder, ignore_errors=True)
    model = make_image_text(folder / "models/tiny/waits")
    (model / "dummy.json").write_text(json.dumps({"seconds": seconds}))
    location = f"{DummyEngine.__module__}:{DummyEngine.__name__}"
    ENGINES["chat"] = ENGINES["chat"]._replace(location=location)
    settings = settings_in(folder, folder / "models").model_copy(
        update={"shards": {BENCHMARK: count}, "alone": 0, "worker_every": timedelta(seconds=0.1)}
    )
    os.environ |= environment_of(settings) | {
        "PYTHONPATH": str(ROOT / "tests/support/site"),
        "TESTS_ENGINE": location,
        "HANNUN_ALONE": "0",
    }
    request = build_request(inspect_model("tiny/waits", None, settings.models_dir, REGISTRY), BENCHMARK, REGISTRY, "x")
    with ExitStack() as stack:
        own = settings
        if launcher == "ray":
            from tests.support.ray_cluster import RayPlace

            patch = stack.enter_context(pytest.MonkeyPatch.context())
            own = stack.enter_context(RayPlace.started(settings, folder, patch)).settings
        else:
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(count)))  # simulated ones
        print(_seconds(own, request))


def _seconds(settings: "Settings", request: "EvalRequest") -> float:
    from evaluator.worker.loop import Worker
    from submissions.queue.queue import Queue
    from submissions.store.open import open_store

    queue = Queue(open_store(settings.store))
    queue.submit(request)
    worker = Worker(settings)
    started = time.perf_counter()
    assert worker.run_pending() == 1
    assert [row.status for row in queue.rows()] == ["finished"]
    return time.perf_counter() - started


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
