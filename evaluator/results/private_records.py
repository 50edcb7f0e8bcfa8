"""What an evaluation leaves in the private store: its details and scores for good, its answers while it runs."""

import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Collection
from functools import partial
from pathlib import Path

from evaluator.core.errors import Details
from evaluator.core.files import open_regular_file, remove_path
from evaluator.job.folder import KEY_LENGTH, MAX_LINE, Job
from evaluator.results.item_scores import ItemScores
from evaluator.results.shard import Shard
from submissions.store.folders import sharded
from submissions.store.private import PrivateStore

log = logging.getLogger(__name__)

_DETAILS_KEY, _ANSWERS = "details.key", "answers"
MAX_PART = 64 * 2**20  # bytes of answers copied at once


def save_details(private: PrivateStore, key: str, details: Details, secret: bytes | None) -> None:
    """Scores and answers by item, the ids of the items keyed by `secret`, or else by one that is made once."""
    secret = secret or _made_once(private)
    rows = [
        {**row, "id": hmac.new(secret, str(row["id"]).encode(), hashlib.sha256).hexdigest()[:32]} for row in details
    ]
    content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    private.write(sharded(f"details/{key}.jsonl"), content)


def save_item_scores(private: PrivateStore, key: str, scores: ItemScores) -> None:
    """What other models' results will be compared with."""
    private.write(_scores_path(key), scores.to_parquet())


def read_item_scores(private: PrivateStore, key: str) -> ItemScores | None:
    """None where there are none, or none that can be read. Raises StoreError."""
    try:
        return ItemScores.from_parquet(private.read(_scores_path(key)))
    except (KeyError, ValueError) as error:
        log.info("no scores of %s to compare with: %s", key, error)
        return None


def _scores_path(key: str) -> str:
    return sharded(f"scores/{key}.parquet")


def _made_once(private: PrivateStore) -> bytes:
    private.create(_DETAILS_KEY, secrets.token_hex(32).encode())
    return private.read(_DETAILS_KEY)


def remove_answers_except(private: PrivateStore, open_requests: Collection[str]) -> None:
    """What killed workers have left of requests that are neither pending nor running."""
    for path in private.paths(_ANSWERS):
        if path.removeprefix(f"{_ANSWERS}/").partition("-")[0] not in open_requests:
            private.delete(path)


class AnswerBackup:
    """The answers of a running evaluation, copied to the private store as they come.

    Where the machine is lost, with its disk as in a Job, the next worker goes on from them; and what shards have answered
    on other machines, the run over the whole set finds there. Below `answers/` are parts of whole lines, each named by
    request, attempt, shard and offset, and the batch sizes that were discarded. Answers stand under hashes over all that
    they depend on, so parts of any attempt or shard can be read one after another.
    """

    def __init__(
        self, private: PrivateStore, key: str, attempt: int, job_dir: Path, shard: Shard | None = None
    ) -> None:
        self._private = private
        self._prefix = f"{_ANSWERS}/{key}-"
        self._own = f"{self._prefix}{attempt:04}-" + (f"{shard.number:02}-" if shard else "")
        self._job = Job(job_dir)
        self._copied = 0  # bytes of the answers file
        self._discarded: list[int] = []

    def restore(self) -> None:
        """Give the job folder what was copied and is not there. Raises StoreError, OSError."""
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
        """Copy what has come since the last time. Raises StoreError, OSError."""
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
        """There is a result, or there will be none. Raises StoreError."""
        for path in self._paths():
            self._private.delete(path)

    @property
    def _batches(self) -> str:
        return f"{self._prefix}batches.json"

    def _paths(self) -> list[str]:
        return [path for path in self._private.paths(_ANSWERS) if path.startswith(self._prefix)]


def _id_of(line: bytes) -> bytes:
    """The prompt's id, as `Job.row` begins a line with it; what a model has written in its place is nobody's answer."""
    return line[: len('{"id": "') + KEY_LENGTH + len("-0000000")].partition(b",")[0]
