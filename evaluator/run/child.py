"""The inference process: `python -m evaluator.run.child JOB_DIR`. It sees prompts and images, and no gold answers.

Events go to stdout as JSON lines; everything the libraries print goes to stderr. The process ends when its stdin
closes, so it never outlives the one that started it.
"""

import json
import os
import platform
import re
import sys
import threading
from pathlib import Path
from typing import Any, TextIO

from filelock import FileLock

from evaluator.data_types import MAX_MESSAGE, Answer, ModelError
from evaluator.engines import load_engine
from evaluator.engines.base import EngineOptions
from evaluator.run.job import Job
from evaluator.run.latency import WARM_UP, calibration_ms, one_at_a_time


def main(folder: str) -> int:
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    job = Job(Path(folder))
    with FileLock(job.lock):  # a killed parent's child may still be writing its last line
        try:
            _answer(job, events)
        except ModelError as error:
            _tell(events, event="failed", code=error.code, message=first_sentence(str(error)))
            sys.stderr.write(f"{error}\n")
            return 3
        except Exception as error:
            _tell(events, event="failed", code=_code(error), message=first_sentence(f"{type(error).__name__}: {error}"))
            raise
    return 0


def _answer(job: Job, events: TextIO) -> None:
    spec, keys = job.spec(), job.keys()
    answers = job.answers()
    done = {key for key, answer in answers.items() if answer.status != "infra_error"}
    paid = [*answers.values(), *job.alone().values()]
    options = EngineOptions(
        Path(spec.model),
        spec.precision,
        spec.max_new_tokens,
        batch_size=spec.batch_size,
        max_pixels=spec.max_pixels,
        api=spec.api,
        max_reasoning_tokens=spec.max_reasoning_tokens,
        thinking=spec.thinking,
        decoding=spec.decoding,
        adapter=Path(spec.adapter) if spec.adapter else None,
        custom_code=spec.custom_code,
        spent=(sum(a.prompt_tokens or 0 for a in paid), sum(a.tokens or 0 for a in paid)),
    )
    _tell(events, event="environment", values=_environment())  # before anything of the model is read
    engine = load_engine(spec.engine, options)
    _tell(events, event="loaded", batch_size=engine.batch_size, params=engine.params)

    def keep(file: TextIO, answer: Answer) -> None:
        file.write(job.row(keys[answer.id], answer))
        file.flush()

    try:
        with job.answers_file.open("a", encoding="utf-8") as file:
            for answer in engine.answer(p for p in job.prompts() if p.id not in done):
                keep(file, answer)
                _tell(events, event="answered")
        if not job.measured_mark.exists():  # else measured already, and asked again in other batches
            with job.alone_file.open("w", encoding="utf-8") as file:
                failed = False
                # A server elsewhere is warm, and asks money for each question.
                warm_up = 0 if spec.api and spec.api.remote else WARM_UP
                for answer in one_at_a_time(engine, job.prompts(alone=True), warm_up):
                    keep(file, answer)
                    failed |= answer.status == "infra_error"
                    _tell(events, event="measured")
            if not failed:
                job.measured_mark.touch()
    finally:
        engine.close()
    job.done_mark.touch()


def _tell(events: TextIO, **event: Any) -> None:
    events.write(json.dumps(event) + "\n")
    events.flush()


def _code(error: Exception) -> str:
    import torch

    if isinstance(error, ImportError):
        return "missing_library"
    return "out_of_memory" if isinstance(error, (MemoryError, torch.OutOfMemoryError)) else "model_error"


def first_sentence(message: str) -> str:
    """What libraries say first is what is wrong; how to install this or that comes later."""
    return re.split(r"(?<=[.!?])\s", " ".join(message.split()), maxsplit=1)[0][:MAX_MESSAGE]


def _environment() -> dict[str, str | float]:
    import torch
    import transformers

    hardware = torch.cuda.get_device_name() if torch.cuda.is_available() else f"{_cpu()} × {os.cpu_count()}"
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "hardware": hardware,
        "calibration_ms": calibration_ms(),
    }


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _end_with_parent() -> None:
    while os.read(0, 1):  # unbuffered: a buffered reader's lock would abort the interpreter's own exit
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
