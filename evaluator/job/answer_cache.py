"""A cache of answers across jobs, so that a prompt is asked only once per model and options.

The key is a hash over everything that an answer depends on: the first part of a prompt's id in its job (`Job.prepare`). There
is one JSON-lines file for each model. It is not shared between machines, because the recorded seconds depend on the
machine. It can be deleted at any time. `evaluator/results/score_answers.py` fills a job from it before the inference
process starts, and keeps the answers once they are scored.
"""

import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path

from filelock import FileLock

from evaluator.core.data_types import Answer
from evaluator.core.files import open_regular_file
from evaluator.job.folder import KEY_LENGTH, Job


class AnswerCache:
    """Answers of earlier jobs, stored in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fill(self, job: Job, answered: Collection[str]) -> int:
        """Copy cached answers into a job, except to the prompts with `answered` ids. Return how many were copied."""
        file = self._file(job)
        if not file.exists():
            return 0
        missing: dict[str, list[str]] = {}  # ids of the prompts without an answer, by key; equal prompts share a key
        for prompt_id in job.prompt_ids:
            if prompt_id not in answered:
                missing.setdefault(_key(prompt_id), []).append(prompt_id)
        found: dict[str, str] = {}  # lines of the cache, by key
        with (
            FileLock(f"{file}.lock"),
            file.open(encoding="utf-8") as lines,
            open_regular_file(job.answers_file, create=True) as answers,
        ):
            answers.seek(0, os.SEEK_END)
            for line in lines:
                if not line.endswith("\n"):
                    break  # incomplete last line of a killed writer
                key = _key(json.loads(line)["id"])
                if key in missing:
                    found[key] = line  # a later answer comes from a newer build of the server
            copies = [
                {**json.loads(line), "id": prompt_id} for key, line in found.items() for prompt_id in missing[key]
            ]
            answers.writelines((json.dumps(row, ensure_ascii=False) + "\n").encode() for row in copies)
        return len(copies)

    def keep(self, job: Job, answers: Iterable[Answer]) -> None:
        """Add the answers of a finished job to the cache, except those that it has and infrastructure failures."""
        file = self._file(job)
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{file}.lock"):
            content = file.read_bytes() if file.exists() else b""
            complete = content[: content.rfind(b"\n") + 1]  # without the incomplete last line of a killed writer
            rows = map(json.loads, complete.decode().split("\n")[:-1])
            # Another build of a server may answer differently, so that there may be an answer of each.
            stored = {(_key(row["id"]), row.get("server")) for row in rows}
            new = {  # lines by key, so that equal prompts are stored once
                _key(answer.id): job.row(answer)
                for answer in answers
                if answer.status != "infra_error" and (_key(answer.id), answer.server) not in stored
            }
            with file.open("r+b" if content else "wb") as store:
                store.seek(len(complete))
                store.truncate()
                store.write("".join(new.values()).encode())

    def _file(self, job: Job) -> Path:
        """Return the file of a job's model, which is named by the model's revision."""
        return self._folder / f"{job.options().revision}.jsonl"


def _key(prompt_id: str) -> str:
    """Return the hash in a prompt's id: "0123…cdef-2" -> "0123…cdef"."""
    return prompt_id[:KEY_LENGTH]
