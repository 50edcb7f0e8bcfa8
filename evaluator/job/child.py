"""The inference process: `python -m evaluator.job.child JOB_DIR`. It sees prompts and images, but no gold answers.

`evaluator/job/process.py` starts it, in the sandbox. It reads the job folder (`folder.py`), loads the engine and the model,
and appends the answers to a file. It writes events to stdout as JSON lines; everything that libraries print goes to
stderr. It exits when its stdin closes, so it never outlives its parent.
"""

import json
import os
import re
import resource
import sys
import threading
import traceback
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from filelock import FileLock

from evaluator.core.data_types import MAX_MESSAGE, Answer
from evaluator.core.errors import EvaluationError
from evaluator.core.memory import is_out_of_memory
from evaluator.engines.base import Engine
from evaluator.engines.hardware import peak_gpu_memory, reset_peak_gpu_memory
from evaluator.engines.load import engine_class, load_engine
from evaluator.engines.options import EngineOptions
from evaluator.job.folder import REMOTE_MEMORY, Job
from evaluator.job.latency_pass import WARM_UP, one_at_a_time
from submissions.config.garbage_collection import no_garbage_collection
from submissions.texts.failure_codes import FailureCode

FAILED = 3  # exit status if the reason was reported as an event


def main(folder: str) -> int:
    """Answer the questions of the job in `folder`, and return the exit status."""
    # From here on, file descriptor 1 is stderr, where everything that libraries print goes, and `events` is stdout.
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    job = Job(Path(folder))
    # A process that queries a remote server runs outside the sandbox, so its memory is limited here. The server may send
    # responses of any size.
    if job.options().remote:
        resource.setrlimit(resource.RLIMIT_DATA, (REMOTE_MEMORY, REMOTE_MEMORY))
    # If an earlier parent was killed, its inference process may still be writing the last answer to the same files.
    with FileLock(job.lock):
        try:
            _answer(job, events)
        except EvaluationError as error:
            _emit_event(events, event="failed", code=error.code, message=first_sentence(str(error)))
            sys.stderr.write(f"{error}\n")
            return FAILED
        except Exception as error:
            message = first_sentence(f"{type(error).__name__}: {error}")
            _emit_event(events, event="failed", code=_failure_code(error), message=message)
            raise
    return 0


def _answer(job: Job, events: TextIO) -> None:
    """Answer the questions that have no answer yet, then measure latency. Raises EvaluationError."""
    answers = job.answers()  # also removes an incomplete last line of a killed process, so that lines can be appended
    # The token budget also covers the answers of an earlier, interrupted process.
    earlier = [*answers.values(), *job.latency_answers().values()]
    prompt_tokens = sum(answer.prompt_tokens or 0 for answer in earlier)
    completion_tokens = sum(answer.tokens or 0 for answer in earlier)
    options = replace(job.options(), spent=(prompt_tokens, completion_tokens))
    # The environment is reported before the model is loaded, so that no file of the model can affect it.
    _emit_event(events, event="environment", values=_environment(options))
    engine = load_engine(options.engine, options)
    _emit_event(
        events,
        event="loaded",
        batch_size=engine.batch_size,
        params=engine.params,
        # Custom code could report any name here, so its two names are left out. Of other engines, `Observer` fails the run if a
        # name is malformed.
        image_processor=None if options.custom_code else getattr(engine, "image_processor", None),
        server_version=None if options.custom_code else getattr(engine, "server_version", None),
        server_context=getattr(engine, "server_context", None),
    )
    # Infrastructure errors are asked again, and answers of another build of the server, which may answer differently.
    build = getattr(engine, "server_build", None)
    done = {
        prompt_id for prompt_id, answer in answers.items() if answer.status != "infra_error" and answer.server == build
    }
    try:
        with job.answers_file.open("a", encoding="utf-8") as file:
            for answer in engine.answer(p for p in job.prompts() if p.id not in done):
                _append(file, answer)
                _emit_event(events, event="answered")
        # Latency is not measured again if a repeated run only regenerates the answers with another batch size.
        is_measured = job.measured_mark.exists() and all(a.server == build for a in job.latency_answers().values())
        if not is_measured:
            # A remote server needs no warm-up, and charges for each question.
            _measure_latency(job, engine, events, warm_up=0 if options.remote else WARM_UP)
    finally:
        engine.close()
    job.done_mark.touch()


def _measure_latency(job: Job, engine: Engine, events: TextIO, warm_up: int) -> None:
    """Answer the latency samples one at a time, and note the memory that they needed. `warm_up` prompts come before."""
    reset_peak_gpu_memory()
    has_failed = False
    with job.latency_file.open("w", encoding="utf-8") as file:
        for answer in one_at_a_time(engine, job.latency_prompts(), warm_up):
            _append(file, answer)
            has_failed |= answer.status == "infra_error"
            _emit_event(events, event="measured")
    if not has_failed:
        job.mark_measured(peak_gpu_memory())


def _append(file: TextIO, answer: Answer) -> None:
    """Write an answer to the file at once, so that it survives if this process is killed."""
    file.write(Job.row(answer))
    file.flush()


def _environment(options: EngineOptions) -> Mapping[str, str | float]:
    """Import the engine and return its environment.

    Raises EvaluationError. No file of the model has been read yet, so a failure here is never the model's.
    """
    try:
        with no_garbage_collection():  # importing torch and transformers creates many objects, all of which are kept
            engine_type = engine_class(options.engine)
        environment: Mapping[str, str | float] = engine_type.environment(options)
    except EvaluationError:
        raise
    except Exception as error:
        traceback.print_exc()
        code = _failure_code(error)
        if code is FailureCode.MODEL_ERROR:  # the code of all unknown exceptions
            code = FailureCode.INTERNAL_ERROR
        raise EvaluationError(code, first_sentence(f"{type(error).__name__}: {error}")) from error
    return environment


def _emit_event(events: TextIO, **event: Any) -> None:
    """Write an event for the parent process as a JSON line."""
    events.write(json.dumps(event) + "\n")
    events.flush()


def _failure_code(error: Exception) -> FailureCode:
    """Return the failure code of an exception that a library or the model raised."""
    if isinstance(error, ImportError):
        return FailureCode.MISSING_LIBRARY
    return FailureCode.OUT_OF_MEMORY if is_out_of_memory(error) else FailureCode.MODEL_ERROR


def first_sentence(message: str) -> str:
    """Return the first sentence of a message, at most MAX_MESSAGE characters.

    Libraries name the problem first; installation hints follow: "No CUDA. Install …" -> "No CUDA."
    """
    one_line = " ".join(message.split())
    return re.split(r"(?<=[.!?])\s", one_line, maxsplit=1)[0][:MAX_MESSAGE]


def _end_with_parent() -> None:
    """Exit when stdin closes, that is, when the parent has ended."""
    while os.read(0, 1):  # unbuffered, because the lock of a buffered reader would abort the interpreter at exit
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
