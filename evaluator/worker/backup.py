"""Back up the answers of a running evaluation in the private store, so that another worker can resume from them.

`run.py` restores a backup before an evaluation and removes it afterwards; `heartbeat.py` updates it with each heartbeat.
"""

import json
from collections.abc import Collection
from functools import partial
from pathlib import Path

from evaluator.core.files import open_regular_file, remove_path
from evaluator.job.folder import KEY_LENGTH, MAX_LINE, Job
from evaluator.results.shard import Shard
from submissions.store.private import PrivateStore

ANSWERS = "answers"  # folder of the private store
MAX_PART = 64 * 2**20  # bytes of answers copied per update
# The start of a line with an answer's id, as `Job.row` writes it: a hash, and a number that tells equal prompts apart.
ID_PREFIX_LENGTH = len('{"id": "') + KEY_LENGTH + len("-0000000")


def remove_answers_except(private: PrivateStore, open_requests: Collection[str]) -> None:
    """Delete backups of requests that are neither pending nor running, which killed workers have left behind."""
    for path in private.paths(ANSWERS):
        request_key = path.removeprefix(f"{ANSWERS}/").partition("-")[0]
        if request_key not in open_requests:
            private.delete(path)


class AnswerBackup:
    """Copy the answers of a running evaluation to the private store, and restore them.

    If the host is lost, the next worker resumes from the copies. The run over the complete set also reads here what its
    shards answered on other hosts. The folder `answers/` has files of complete lines, named by request, attempt, shard
    (if it is one) and offset in the answers file, and a file with the discarded batch sizes:

        answers/KEY-0001-000000000000.jsonl    answers/KEY-0001-03-000000000000.jsonl    answers/KEY-batches.json

    The id of an answer is a hash of everything it depends on, so the files of all attempts and shards can be concatenated.
    """

    def __init__(
        self, private: PrivateStore, key: str, attempt: int, job_dir: Path, shard: Shard | None = None
    ) -> None:
        """Create the backup of one attempt of the request with this `key`. Nothing is read or written yet."""
        self._private = private
        self._request_prefix = f"{ANSWERS}/{key}-"
        self._attempt_prefix = f"{self._request_prefix}{attempt:04}-" + (f"{shard.number:02}-" if shard else "")
        self._job = Job(job_dir)
        self._copied = 0  # bytes of the answers file that the backup has
        self._discarded: list[int] = []  # batch sizes whose answers were discarded, as the backup has them
        self._is_restored = False  # until then the job folder lacks answers that the backup has

    def restore(self) -> None:
        """Add the backed-up answers that the job folder lacks. Raises StoreError or OSError if reading or writing fails."""
        self._job.out.mkdir(parents=True, exist_ok=True)
        paths = self._paths()
        if self._job.answers_file.is_symlink() or not self._job.answers_file.is_file():
            remove_path(self._job.answers_file)  # a model may have replaced the file
        is_on_new_host = not self._job.answers_file.exists()  # otherwise an earlier attempt ran on this host
        if is_on_new_host and self._batches_path in paths:
            self._job.batches_file.write_bytes(self._private.read(self._batches_path))
        with open_regular_file(self._job.answers_file, create=True) as file:
            present = set[bytes]()  # ids of the answers that the job folder has
            size = 0  # bytes of the complete lines
            for line in iter(partial(file.readline, MAX_LINE), b""):
                if not line.endswith(b"\n"):  # a killed writer left half a line, or a model wrote one that is too long
                    break
                present.add(_id_of(line))
                size += len(line)
            file.seek(size)
            file.truncate()
            for path in paths:
                if path != self._batches_path:
                    lines = self._private.read(path).splitlines(keepends=True)
                    file.writelines(line for line in lines if _id_of(line) not in present)
            # On a new host the file has only what the backup has. Where an earlier attempt ran, a killed worker may have added
            # answers after its last copy. The position stays 0 then, and `update` copies the whole file again.
            if is_on_new_host:
                self._copied = file.tell()
                self._discarded = self._job.discarded_batch_sizes()
        self._is_restored = True

    def update(self) -> None:
        """Copy the answers added since the last call, or nothing before `restore` has ended.

        Raises StoreError or OSError if reading or writing fails.
        """
        if not self._is_restored:
            return
        if (discarded := self._job.discarded_batch_sizes()) != self._discarded:
            # None of the copied answers may be used any more. The first update after a restart on the same host comes here
            # too, if the earlier attempt had discarded answers. That loses nothing: the file has all that is removed.
            self.remove()
            self._private.write(self._batches_path, json.dumps(discarded).encode())
            self._copied = 0
            self._discarded = discarded
        if not self._job.answers_file.exists():
            return
        with open_regular_file(self._job.answers_file) as file:
            file.seek(self._copied)
            content = file.read(MAX_PART)
        if complete := content[: content.rfind(b"\n") + 1]:
            self._private.write(f"{self._attempt_prefix}{self._copied:012}.jsonl", complete)
            self._copied += len(complete)

    def remove(self) -> None:
        """Delete the backup of all attempts and shards: the request has ended, or its answers were discarded.

        Raises StoreError if the store fails.
        """
        for path in self._paths():
            self._private.delete(path)

    @property
    def _batches_path(self) -> str:
        return f"{self._request_prefix}batches.json"

    def _paths(self) -> list[str]:
        """Return the paths of all files of this request, of all attempts and shards."""
        return [path for path in self._private.paths(ANSWERS) if path.startswith(self._request_prefix)]


def _id_of(line: bytes) -> bytes:
    """Return the part of a line that has the answer's id: `{"id": "0123…cdef-0", …` -> `{"id": "0123…cdef-0"`.

    The line is not parsed, because it is untrusted and may be long. A line forged by a model has the id of no prompt.
    """
    return line[:ID_PREFIX_LENGTH].partition(b",")[0]
