"""Copies of a running evaluation's answers in the private store, from which another worker can go on."""

import json
from collections.abc import Collection
from functools import partial
from pathlib import Path

from evaluator.core.files import open_regular_file, remove_path
from evaluator.job.folder import KEY_LENGTH, MAX_LINE, Job
from evaluator.results.shard import Shard
from submissions.store.private import PrivateStore

ANSWERS = "answers"  # folder of the private store
MAX_PART = 64 * 2**20  # bytes of answers copied at once


def remove_answers_except(private: PrivateStore, open_requests: Collection[str]) -> None:
    """Delete what killed workers have left of requests that are neither pending nor running."""
    for path in private.paths(ANSWERS):
        if path.removeprefix(f"{ANSWERS}/").partition("-")[0] not in open_requests:
            private.delete(path)


class AnswerBackup:
    """The answers of a running evaluation, copied to the private store as they come.

    If the machine is lost, the next worker goes on from them. The run over a whole set also finds here what its shards
    have answered on other machines. Below `answers/` are parts of whole lines, named by request, attempt, shard and
    offset, and the batch sizes that were discarded. An answer's id is a hash of all that it depends on, so the parts of
    any attempt or shard can be read one after another.
    """

    def __init__(
        self, private: PrivateStore, key: str, attempt: int, job_dir: Path, shard: Shard | None = None
    ) -> None:
        self._private = private
        self._prefix = f"{ANSWERS}/{key}-"
        self._own = f"{self._prefix}{attempt:04}-" + (f"{shard.number:02}-" if shard else "")
        self._job = Job(job_dir)
        self._copied = 0  # bytes of the answers file
        self._discarded: list[int] = []

    def restore(self) -> None:
        """Add copied answers that the job folder lacks. Raises StoreError, OSError."""
        self._job.out.mkdir(parents=True, exist_ok=True)
        paths = self._paths()
        if self._job.answers_file.is_symlink() or not self._job.answers_file.is_file():
            remove_path(self._job.answers_file)  # a model may have put something else there
        fresh = not self._job.answers_file.exists()
        if fresh and self._batches in paths:
            self._job.batches_file.write_bytes(self._private.read(self._batches))
        with open_regular_file(self._job.answers_file, create=True) as file:
            known, size = set[bytes](), 0
            for line in iter(partial(file.readline, MAX_LINE), b""):
                if line.endswith(b"\n"):  # else torn by a killed writer
                    known.add(_id_of(line))
                    size += len(line)
            file.seek(size)
            file.truncate()
            for path in paths:
                if path != self._batches:
                    lines = self._private.read(path).splitlines(keepends=True)
                    file.writelines(line for line in lines if _id_of(line) not in known)
            if fresh:
                self._copied, self._discarded = file.tell(), self._job.discarded_batch_sizes()

    def update(self) -> None:
        """Copy the answers that came since the last call. Raises StoreError, OSError."""
        if (discarded := self._job.discarded_batch_sizes()) != self._discarded:
            self.remove()
            self._private.write(self._batches, json.dumps(discarded).encode())
            self._copied, self._discarded = 0, discarded
        if not self._job.answers_file.exists():
            return
        with open_regular_file(self._job.answers_file) as file:
            file.seek(self._copied)
            content = file.read(MAX_PART)
        if whole := content[: content.rfind(b"\n") + 1]:
            self._private.write(f"{self._own}{self._copied:012}.jsonl", whole)
            self._copied += len(whole)

    def remove(self) -> None:
        """Delete the copies, once there is a result or will be none. Raises StoreError."""
        for path in self._paths():
            self._private.delete(path)

    @property
    def _batches(self) -> str:
        return f"{self._prefix}batches.json"

    def _paths(self) -> list[str]:
        return [path for path in self._private.paths(ANSWERS) if path.startswith(self._prefix)]


def _id_of(line: bytes) -> bytes:
    """Return the prompt's id, with which `Job.row` begins a line. Anything else that a model wrote there matches no prompt."""
    return line[: len('{"id": "') + KEY_LENGTH + len("-0000000")].partition(b",")[0]
