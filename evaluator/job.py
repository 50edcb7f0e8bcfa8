"""A job folder: all that the inference process sees, and what it writes. Gold answers never enter it.

job.json        engine, model folder, precision, …
prompts.jsonl   what to ask
images/ pages/  the files the prompts name
answers.jsonl   one line an answer, appended as they come
environment.json  library versions, device, batch size
"""

import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from evaluator.types import Answer, Box, Prompt


@dataclass(frozen=True)
class JobSpec:
    engine: str
    model: str  # folder
    revision: str
    precision: str
    max_new_tokens: int
    batch_size: int | None


class Job:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers_file = folder / "answers.jsonl"
        self.log = folder / "inference.log"

    @classmethod
    def prepare(cls, folder: Path, spec: JobSpec, prompts: Iterable[Prompt]) -> "Job":
        """Write a job, or open the one that stands there if it asks exactly the same: its answers are kept."""
        job = cls(folder)
        folder.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(job._packed(p), ensure_ascii=False) + "\n" for p in prompts)
        text = json.dumps(asdict(spec), ensure_ascii=False)
        fingerprint = hashlib.sha256(f"{text}\n{lines}".encode()).hexdigest()
        mark = folder / "fingerprint"
        if not mark.exists() or mark.read_text() != fingerprint:
            mark.unlink(missing_ok=True)
            job.answers_file.unlink(missing_ok=True)
            (folder / "prompts.jsonl").write_text(lines, encoding="utf-8")
            (folder / "job.json").write_text(text, encoding="utf-8")
            mark.write_text(fingerprint)
        return job

    def spec(self) -> JobSpec:
        return JobSpec(**json.loads((self.folder / "job.json").read_text(encoding="utf-8")))

    def prompts(self) -> Iterator[Prompt]:
        with (self.folder / "prompts.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                yield self._unpacked(json.loads(line))

    def answers(self) -> dict[str, Answer]:
        """Answers so far, by prompt id. A line torn by a killed writer is cut off and will be asked again."""
        if not self.answers_file.exists():
            return {}
        content = self.answers_file.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(self.answers_file, len(whole))
        names = {f.name for f in fields(Answer)}
        # Not splitlines: an answer may hold U+2028 and the like, which JSON does not escape.
        rows = (json.loads(line) for line in whole.decode().split("\n")[:-1])
        return {row["id"]: Answer(**{k: v for k, v in row.items() if k in names}) for row in rows}

    def environment(self) -> dict[str, Any]:
        environment: dict[str, Any] = json.loads((self.folder / "environment.json").read_text(encoding="utf-8"))
        return environment

    def _packed(self, prompt: Prompt) -> dict[str, Any]:
        page = None if prompt.page is None else self._place("pages", ".html", prompt.page.encode())
        images = [self._place("images", image.suffix, image.read_bytes()) for image in prompt.images]
        images += [self._place("images", ".png", _cut(prompt.images[0], box)) for box in prompt.crops]
        return {**asdict(prompt), "page": page, "images": images, "crops": ()}

    def _unpacked(self, row: dict[str, Any]) -> Prompt:
        page = (self.folder / row["page"]).read_text(encoding="utf-8") if row["page"] else None
        return Prompt(
            **{**row, "page": page, "crops": (), "images": tuple(self.folder / name for name in row["images"])}
        )

    def _place(self, folder: str, suffix: str, content: bytes) -> str:
        """Put a file into the job, named by its content, and return that name."""
        name = f"{folder}/{hashlib.sha256(content).hexdigest()[:32]}{suffix}"
        target = self.folder / name
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            partial = target.with_suffix(".part")
            partial.write_bytes(content)
            partial.replace(target)
        return name


def _cut(image: Path, box: Box) -> bytes:
    """A piece of an image as PNG."""
    from PIL import Image

    x, y, width, height = box
    piece = io.BytesIO()
    with Image.open(image) as whole:
        whole.crop((x, y, x + width, y + height)).save(piece, "PNG")
    return piece.getvalue()
