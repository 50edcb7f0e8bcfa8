"""A job folder: all that the inference process sees, and what it writes. Gold answers never enter it.

job.json        engine, model, precision, …
prompts.jsonl   what to ask, each with a key over all that its answer depends on
images/ pages/  the files the prompts name
batches.json    sizes of batches that were tried in vain, see Job.batches_tried
environment.json  library versions and device, as told before the model was loaded; batch size, parameters
out/            all that the inference process can write, and nothing in it is believed to be well-formed:
  answers.jsonl   one line an answer with its prompt's key, appended as they come
  alone.jsonl     some prompts asked again, one at a time: for latency, and to see that batches change nothing
  measured        there once that has been done
  done            there once everything has been asked
"""

import filecmp
import hashlib
import io
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from evaluator.data_types import Answer, Box, Decoding, ModelError, Prompt
from evaluator.engines.base import MAX_PIXELS, ApiOptions
from evaluator.files import opened_plain, place
from submissions.records import MAX_REASONING_TOKENS, Thinking

_ANSWER = TypeAdapter(Answer)
LIBRARIES = ("torch", "transformers", "tokenizers", "pillow")  # whose versions may change an answer
# What of a job has no effect on an answer.
_WITHOUT_EFFECT = ("batch_size", "timeout", "max_requests", "max_tokens", "max_cost", "prices", "key")


@dataclass(frozen=True)
class JobSpec:
    engine: str
    model: str  # folder
    revision: str
    precision: str
    max_new_tokens: int
    max_pixels: int = MAX_PIXELS
    batch_size: int | None = None
    api: ApiOptions | None = None
    max_reasoning_tokens: int = MAX_REASONING_TOKENS
    thinking: Thinking | None = None
    decoding: Decoding = "greedy"
    adapter: str | None = None  # folder
    base_revision: str | None = None
    custom_code: bool = False


class Job:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "out"
        self.answers_file = self.out / "answers.jsonl"
        self.alone_file = self.out / "alone.jsonl"
        self.done_mark = self.out / "done"
        self.measured_mark = self.out / "measured"
        self.lock = self.out / "lock"
        self.prompts_file = folder / "prompts.jsonl"
        self._environment_file = folder / "environment.json"
        self._batches_file = folder / "batches.json"
        self.log = folder / "inference.log"

    @classmethod
    def prepare(cls, folder: Path, spec: JobSpec, prompts: Iterable[Prompt], alone: Collection[str] = ()) -> "Job":
        """Write a job, or write it over one that stands there: answers to prompts that are the same are kept.

        `alone` are the ids of the prompts that are to be asked again one at a time.
        """
        job = cls(folder)
        job.out.mkdir(parents=True, exist_ok=True)
        (folder / "job.json").write_text(json.dumps(asdict(spec), ensure_ascii=False), encoding="utf-8")
        ground = json.dumps(
            [_effective({**asdict(spec), "model": None, "adapter": None}), {name: version(name) for name in LIBRARIES}]
        )
        partial = folder / "prompts.part"
        with partial.open("w", encoding="utf-8") as file:
            for prompt in prompts:
                row = job._packed(prompt)
                asked = json.dumps({k: v for k, v in row.items() if k != "id"}, ensure_ascii=False)
                key = hashlib.sha256(f"{ground}\n{asked}".encode()).hexdigest()[:32]
                file.write(json.dumps({"key": key, "alone": prompt.id in alone, **row}, ensure_ascii=False) + "\n")
        if not (job.prompts_file.exists() and filecmp.cmp(partial, job.prompts_file, shallow=False)):
            job.done_mark.unlink(missing_ok=True)
            job.measured_mark.unlink(missing_ok=True)
        partial.replace(job.prompts_file)
        return job

    def batches_tried(self) -> list[int]:
        """Sizes of batches whose answers were thrown away, because other batches gave other scores."""
        if not self._batches_file.exists():
            return []
        tried: list[int] = json.loads(self._batches_file.read_text(encoding="utf-8"))
        return tried

    def discard_answers(self, batch_size: int) -> None:
        """Throw away the answers that were given in batches of this size; those measured one at a time stay."""
        self._batches_file.write_text(json.dumps([*self.batches_tried(), batch_size]), encoding="utf-8")
        self.answers_file.unlink(missing_ok=True)
        self.done_mark.unlink(missing_ok=True)

    def spec(self) -> JobSpec:
        fields = json.loads((self.folder / "job.json").read_text(encoding="utf-8"))
        return JobSpec(**{**fields, "api": ApiOptions(**fields["api"]) if fields["api"] else None})

    def prompts(self, *, alone: bool = False) -> Iterator[Prompt]:
        """What to ask; or only what is to be asked one at a time."""
        return (self._unpacked(row) for row in self._rows() if row["alone"] or not alone)

    def keys(self) -> dict[str, str]:
        """Each prompt's key, by id."""
        return {row["id"]: row["key"] for row in self._rows()}

    def answers(self) -> dict[str, Answer]:
        """Answers so far to the prompts as they are now, by prompt id; a later one replaces an earlier one.

        A line torn by a killed writer is cut off and will be asked again.
        """
        return self._answers(self.answers_file)

    def alone(self) -> dict[str, Answer]:
        """Answers so far to the prompts that are asked one at a time."""
        return self._answers(self.alone_file)

    @staticmethod
    def row(key: str, answer: Answer) -> str:
        """An answer as a line of its file."""
        return json.dumps({"key": key, **asdict(answer)}, ensure_ascii=False) + "\n"

    def _answers(self, file: Path) -> dict[str, Answer]:
        answers: dict[str, Answer] = {}
        keys, size = self.keys(), 0
        try:
            with opened_plain(file) as lines:
                for line in lines:
                    if not line.endswith(b"\n"):
                        break
                    size += len(line)
                    row = json.loads(line)
                    if keys.get(row["id"]) == row.pop("key"):
                        answers[row["id"]] = _ANSWER.validate_python(row)
                lines.truncate(size)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError("model_error", f"{file.name} is not as the engine writes it: {error}") from None
        return answers

    def _rows(self) -> Iterator[dict[str, Any]]:
        with self.prompts_file.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)

    def environment(self) -> dict[str, Any]:
        environment: dict[str, Any] = json.loads(self._environment_file.read_text(encoding="utf-8"))
        return environment

    def keep_environment(self, environment: dict[str, Any]) -> None:
        self._environment_file.write_text(json.dumps(environment), encoding="utf-8")

    def _packed(self, prompt: Prompt) -> dict[str, Any]:
        page = None if prompt.page is None else place(self.folder, "pages", ".html", prompt.page.encode())
        images = [place(self.folder, "images", image.suffix, image.read_bytes()) for image in prompt.images]
        images += [place(self.folder, "images", ".png", _cut(prompt.images[0], box)) for box in prompt.crops]
        return {**asdict(prompt), "page": page, "images": images, "crops": ()}

    def _unpacked(self, row: dict[str, Any]) -> Prompt:
        page = (self.folder / row["page"]).read_text(encoding="utf-8") if row["page"] else None
        known = {f.name: row[f.name] for f in fields(Prompt)}
        images = tuple(self.folder / name for name in row["images"])
        return Prompt(**{**known, "page": page, "crops": (), "images": images, "links": tuple(row["links"])})


def _effective(settings: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _effective(value) if isinstance(value, dict) else value
        for name, value in settings.items()
        if name not in _WITHOUT_EFFECT
    }


def _cut(image: Path, box: Box) -> bytes:
    """A piece of an image as PNG."""
    from PIL import Image

    x, y, width, height = box
    piece = io.BytesIO()
    with Image.open(image) as whole:
        whole.crop((x, y, x + width, y + height)).save(piece, "PNG")
    return piece.getvalue()
