"""Answers kept beyond their job, by the key over all that they depend on: a prompt is asked once, whatever the run.

One JSON-lines file a model, on this machine only: the seconds an answer took are this machine's. Delete it freely.
"""

import json
import os
from pathlib import Path

from filelock import FileLock

from evaluator.core.files import open_regular_file
from evaluator.job.folder import KEY_LENGTH, Job


class AnswerCache:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fill(self, job: Job) -> int:
        """Give a job the answers it would ask for again; returns how many."""
        file = self._file(job)
        if not file.exists():
            return 0
        wanted: dict[str, list[str]] = {}
        known = job.answers()
        for prompt_id in job.prompt_ids:
            if prompt_id not in known:
                wanted.setdefault(_key(prompt_id), []).append(prompt_id)
        found = 0
        with (
            FileLock(f"{file}.lock"),
            file.open(encoding="utf-8") as lines,
            open_regular_file(job.answers_file, create=True) as answers,
        ):
            answers.seek(0, os.SEEK_END)
            for line in lines:
                if not line.endswith("\n"):
                    break  # torn by a killed writer
                row = json.loads(line)
                for prompt_id in wanted.pop(_key(row["id"]), []):
                    answers.write((json.dumps({**row, "id": prompt_id}, ensure_ascii=False) + "\n").encode())
                    found += 1
        return found

    def keep(self, job: Job) -> None:
        """Add a finished job's answers."""
        file = self._file(job)
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{file}.lock"):
            content = file.read_bytes() if file.exists() else b""
            whole = content[: content.rfind(b"\n") + 1]
            known = {_key(json.loads(line)["id"]) for line in whole.decode().split("\n")[:-1]}
            answers = job.answers().values()
            new = {_key(a.id): job.row(a) for a in answers if a.status != "infra_error" and _key(a.id) not in known}
            with file.open("r+b" if content else "wb") as store:
                store.seek(len(whole))
                store.truncate()
                store.write("".join(new.values()).encode())

    def _file(self, job: Job) -> Path:
        return self._folder / f"{job.options().revision}.jsonl"


def _key(prompt_id: str) -> str:
    return prompt_id[:KEY_LENGTH]
