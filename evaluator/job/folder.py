"""The job folder: everything that the inference process sees and writes. It never contains gold answers.

The worker creates it (`Job.prepare`), the inference process (`child.py`) answers its prompts, and the worker reads the answers
(`Job.answers`). A run that is repeated reuses the folder, and asks only what has no answer.

job.json        the EngineOptions
prompts.jsonl   the prompts; their ids are hashes over everything that the answer depends on
images/ pages/  the files that the prompts refer to
batches.json    batch sizes whose answers were discarded, see Job.discarded_batch_sizes
environment.json  what the inference process reports: library versions, device, batch size, parameters; written by the worker
model/          links to the model's files with a plain generation config, for servers that read settings from it
inference.log   output of the inference process and its libraries
out/            the only folder that the inference process can write; its content is not trusted to be well-formed:
  answers.jsonl   one line for each answer, appended as they become ready
  single.jsonl    answers to the latency samples: some prompts asked again, one at a time
  measured        exists once the latency samples are complete; holds the bytes of GPU memory they needed at most, if any
  done            exists once everything has been asked
  lock            held by the inference process
"""

import filecmp
import hashlib
import io
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from evaluator.core.data_types import MAX_ANSWER, Answer, Box, Prompt, cleaned
from evaluator.core.errors import EvaluationError
from evaluator.core.files import open_regular_file, remove_path, write_content_addressed
from evaluator.engines.hardware import LIBRARIES, library_versions
from evaluator.engines.options import (
    NON_SEMANTIC_API_OPTIONS,
    NON_SEMANTIC_OPTIONS,
    PIXELS_VERSION,
    SERVER_LOG_PREFIX,
    EngineOptions,
)
from submissions.texts.failure_codes import FailureCode

_ANSWER = TypeAdapter(Answer)
_OPTIONS = TypeAdapter(EngineOptions)
# The content of the file `measured`, which code of the model may have written: at most 10^15 bytes, a thousand terabytes.
_BYTES: TypeAdapter[int | None] = TypeAdapter(Annotated[int | None, Field(ge=0, le=10**15, strict=True)])
MAX_DIGITS = 20  # bytes that are read of the file `measured`
# Bytes of an answer as JSON: text and raw output have up to 6 bytes a character each, the other fields much less.
MAX_LINE = 16 * MAX_ANSWER
REMOTE_MEMORY = 4 * 2**30  # bytes for the process that queries a remote server, which runs without a sandbox
LOG_TAIL_BYTES = 2**18
KEY_LENGTH = 32  # hex digits of the hash over everything that an answer depends on
REMOTE_LIBRARIES = ("pillow",)  # libraries whose version can change the answers of a remote server


class Job:
    """Read and write a job folder, whose files the module's docstring lists."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ids: dict[str, str] = {}  # prompt id → id in this job; set by `prepare`
        self.out = folder / "out"
        self.answers_file = self.out / "answers.jsonl"
        self.latency_file = self.out / "single.jsonl"
        self.done_mark = self.out / "done"
        self.measured_mark = self.out / "measured"
        self.lock = self.out / "lock"
        self.prompts_file = folder / "prompts.jsonl"
        self._options_file = folder / "job.json"
        self._environment_file = folder / "environment.json"
        self.batches_file = folder / "batches.json"
        self.log = folder / "inference.log"

    @classmethod
    def prepare(
        cls, folder: Path, options: EngineOptions, prompts: Iterable[Prompt], latency_samples: Collection[str] = ()
    ) -> "Job":
        """Create a job, or update an existing one. Answers to unchanged prompts are kept.

        `latency_samples` are the ids of the prompts that are asked again, one at a time.
        """
        job = cls(folder)
        folder.mkdir(parents=True, exist_ok=True)
        job._options_file.write_bytes(_OPTIONS.dump_json(options))
        job.out.mkdir(exist_ok=True)
        fingerprint = config_fingerprint(options)
        occurrences = Counter[str]()  # by key: number of equal prompts so far
        unfinished = folder / "prompts.part"
        with unfinished.open("w", encoding="utf-8") as file:
            for prompt in prompts:
                row = job._pack(prompt)
                content = json.dumps({k: v for k, v in row.items() if k != "id"}, ensure_ascii=False)
                key = hashlib.sha256(f"{fingerprint}\n{content}".encode()).hexdigest()[:KEY_LENGTH]
                # The key makes the id independent of the test set, the number makes it unique in this job.
                job.ids[prompt.id] = f"{key}-{occurrences[key]}"
                occurrences[key] += 1
                row |= {"id": job.ids[prompt.id], "latency_sample": prompt.id in latency_samples}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        # If the prompts have changed, not all of them have been answered and measured.
        if not (job.prompts_file.exists() and filecmp.cmp(unfinished, job.prompts_file, shallow=False)):
            remove_path(job.done_mark)
            remove_path(job.measured_mark)
        unfinished.replace(job.prompts_file)
        return job

    @property
    def is_prepared(self) -> bool:
        """Whether the folder is one of a job, and not of something else."""
        return self._options_file.exists()

    def discarded_batch_sizes(self) -> list[int]:
        """Return the batch sizes whose answers were discarded because scores depended on the batch size."""
        if not self.batches_file.exists():
            return []
        sizes: list[int] = json.loads(self.batches_file.read_text(encoding="utf-8"))
        return sizes

    def discard_answers(self, batch_size: int) -> None:
        """Discard the answers that were generated with this batch size. The latency samples are kept."""
        self.batches_file.write_text(json.dumps([*self.discarded_batch_sizes(), batch_size]), encoding="utf-8")
        remove_path(self.answers_file)
        remove_path(self.done_mark)

    def options(self) -> EngineOptions:
        """Return the options of the engine."""
        return _OPTIONS.validate_json(self._options_file.read_bytes())

    def prompts(self) -> Iterator[Prompt]:
        """Return the prompts of the job."""
        return (self._unpack(row) for row in self._rows())

    def latency_prompts(self) -> Iterator[Prompt]:
        """Return the prompts that are asked again one at a time, to measure latency."""
        return (self._unpack(row) for row in self._rows() if row["latency_sample"])

    @cached_property
    def prompt_ids(self) -> list[str]:
        """The ids of the prompts, in order. They can be cached because `prepare` returns a new Job."""
        return [row["id"] for row in self._rows()]

    def answers(self) -> dict[str, Answer]:
        """Return the answers so far to the current prompts, by their ids in this job.

        A later answer replaces an earlier one. An incomplete last line, left by a killed writer, is removed from the file,
        so that the next answer does not continue it; its prompt is asked again. Raises EvaluationError if the file is
        malformed.
        """
        return self._read_answers(self.answers_file)

    def latency_answers(self) -> dict[str, Answer]:
        """Return the answers to the latency samples, read in the same way as `answers`."""
        return self._read_answers(self.latency_file)

    def mark_measured(self, gpu_memory: int | None) -> None:
        """Note that the latency samples are complete, and how many bytes of GPU memory they needed at most."""
        self.measured_mark.write_text(json.dumps(gpu_memory), encoding="utf-8")

    def peak_gpu_memory(self) -> int | None:
        """Return the bytes of GPU memory that the latency samples needed at most, or None if none was used or measured."""
        try:
            with open_regular_file(self.measured_mark) as file:
                return _BYTES.validate_json(file.read(MAX_DIGITS))
        except (OSError, ValueError):  # not measured, or written by code of the model
            return None

    def last_server_message(self) -> str | None:
        """Return the last message of a model server in the log, or None. It may quote a question."""
        lines = tail_of(self.log).splitlines()
        return next(
            (line[len(SERVER_LOG_PREFIX) :] for line in reversed(lines) if line.startswith(SERVER_LOG_PREFIX)), None
        )

    @staticmethod
    def row(answer: Answer) -> str:
        """Return an answer as a line of the answers file."""
        return json.dumps(asdict(cleaned(answer)), ensure_ascii=False) + "\n"

    def _read_answers(self, file: Path) -> dict[str, Answer]:
        """Return the answers in a file, see `answers`. The file is untrusted, because code of the model can write it."""
        answers: dict[str, Answer] = {}
        prompt_ids = set(self.prompt_ids)
        size = 0  # bytes of the complete lines
        try:
            with open_regular_file(file) as lines:
                for line in iter(partial(lines.readline, MAX_LINE), b""):
                    if not line.endswith(b"\n"):
                        if len(line) == MAX_LINE:
                            raise ValueError(f"a line is longer than {MAX_LINE:,} bytes")
                        break
                    size += len(line)
                    row = json.loads(line)
                    if row["id"] in prompt_ids:
                        answers[row["id"]] = cleaned(_ANSWER.validate_python(row))
                lines.truncate(size)
        except FileNotFoundError:
            return {}
        except ValidationError as error:  # the message must not contain the input, which is private
            first = error.errors(include_input=False, include_url=False)[0]
            raise EvaluationError(
                FailureCode.MODEL_ERROR, f"{file.name} is malformed: {first['loc']}: {first['msg']}"
            ) from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise EvaluationError(
                FailureCode.MODEL_ERROR, f"{file.name} is malformed: {type(error).__name__}"
            ) from None
        return answers

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Yield the packed prompts (`_pack`), each with its id in this job and whether it is a latency sample."""
        with self.prompts_file.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)

    def environment(self) -> dict[str, Any]:
        """Return what the inference process reported of itself: library versions, hardware, batch size and so on."""
        environment: dict[str, Any] = json.loads(self._environment_file.read_text(encoding="utf-8"))
        return environment

    def write_environment(self, environment: dict[str, Any]) -> None:
        self._environment_file.write_text(json.dumps(environment), encoding="utf-8")

    def _pack(self, prompt: Prompt) -> dict[str, Any]:
        """Copy the page and the images of a prompt into the job, and return its fields with the names of the copies.

        Crops become further images. Files are named by their content, so that the names can be hashed instead of it.
        """

        def write(folder: str, suffix: str, content: bytes) -> str:
            return write_content_addressed(self.folder, folder, suffix, content)

        page = None if prompt.page is None else write("pages", ".html", prompt.page.encode())
        images = [write("images", image.suffix, image.read_bytes()) for image in prompt.images]
        images += [write("images", ".png", _crop(prompt.images[0], box)) for box in prompt.crops]
        return {**asdict(prompt), "page": page, "images": images, "crops": ()}

    def _unpack(self, row: dict[str, Any]) -> Prompt:
        """Return the prompt of a packed row."""
        values = {field.name: row[field.name] for field in fields(Prompt)}
        values["page"] = (self.folder / row["page"]).read_text(encoding="utf-8") if row["page"] else None
        values["images"] = tuple(self.folder / name for name in row["images"])
        values["crops"] = ()
        values["links"] = tuple(row["links"])
        return Prompt(**values)


def tail_of(log: Path) -> str:
    """Return the last LOG_TAIL_BYTES of a log, without terminal control characters, or an empty string without a log."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - LOG_TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    return "".join(c for c in text if c.isprintable() or c == "\n")


def config_fingerprint(options: EngineOptions) -> str:
    """Return, as JSON, everything that all answers of a job depend on: options and library versions."""
    values = {name: value for name, value in asdict(options).items() if name not in NON_SEMANTIC_OPTIONS}
    if values["api"]:
        values["api"] = {k: v for k, v in values["api"].items() if k not in NON_SEMANTIC_API_OPTIONS}
    libraries = REMOTE_LIBRARIES if options.remote else LIBRARIES
    return json.dumps([values, library_versions(libraries), PIXELS_VERSION])


def _crop(image: Path, box: Box) -> bytes:
    """Return a region of an image, as models see it, as the content of a PNG file."""
    from evaluator.engines.images import load_image

    x, y, width, height = box
    buffer = io.BytesIO()
    load_image(image).crop((x, y, x + width, y + height)).save(buffer, "PNG")
    return buffer.getvalue()
