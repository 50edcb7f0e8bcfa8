"""Get a model's files: from its folder in HANNUN_MODELS_DIR, or from the Hub at an exact commit.

A separate process downloads from the Hub: `python -m evaluator.worker.model_download MODEL REVISION FOLDER`. Its only token
is HF_TOKEN, a read-only one, and it is killed if it takes too long or downloads too much. With `--code` it downloads
Python files too. The worker does that only if the operator has approved them, and uses them only if their bytes are the
approved ones.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from httpx2 import HTTPError
from huggingface_hub import snapshot_download
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

from evaluator.core.errors import EvaluationError, EvaluationStopped
from evaluator.core.files import is_disk_full
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.hub_models.code_settings import code_setting
from submissions.hub_models.repository import (
    CODE_PATTERN,
    FETCHED_PATTERNS,
    LENGTH_BYTES,
    MAX_DOWNLOADED_FILES,
    MAX_SETTINGS_BYTES,
    check_links,
    code_digests,
    content_revision,
    local_model,
    may_hold_settings,
)
from submissions.records.operator import CodeApproval
from submissions.texts.errors import RefusedError
from submissions.texts.failure_codes import FailureCode

MAX_HEADER = 25_000_000  # bytes of the header of a safetensors file, which describes its tensors
MAX_REASON = 300  # last characters of the download process's message that are logged
MAX_REASON_BYTES = 4 * MAX_REASON  # of these characters in UTF-8
# Exit statuses of the download process.
EXIT_CODES = {
    FailureCode.MODEL_NOT_FOUND: 3,
    FailureCode.HUB_UNAVAILABLE: 4,
    FailureCode.DISK_FULL: 5,
}
# Environment variables that the download process inherits from the worker.
INHERITED = (
    "PATH",
    "HF_ENDPOINT",
    "HF_HUB_DISABLE_XET",
    "HF_TOKEN",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
)
WITH_CODE = "--code"  # option of the download process


def fetch_model(
    model_id: str,
    revision: str,
    settings: Settings,
    approval: CodeApproval | None = None,
    *,
    with_code: bool = False,
    stop: threading.Event | None = None,
) -> Path:
    """Return a folder with the model's files at a revision, downloading them first if necessary.

    Args:
        model_id: `OWNER/NAME`, of a folder in HANNUN_MODELS_DIR or else of a repository on the Hub.
        revision: The content hash of the folder (`content_revision`), or the commit on the Hub.
        settings: The settings, with the work folder that keeps downloads.
        approval: The approval of the model's Python files, if it needs them.
        with_code: Whether to include Python files even without an approval, for a check on the operator's own machine.
        stop: Ends the download when it is set.

    Raises EvaluationError if the model is not available or its code differs from the approved code, EvaluationStopped
    if `stop` is set during the download.
    """
    folder = local_model(model_id, settings.models_dir)
    if folder:
        try:
            check_links(folder)
        except RefusedError as refused:
            raise EvaluationError(FailureCode.INVALID_WEIGHTS, str(refused)) from None
        if content_revision(folder) != revision:
            raise EvaluationError(FailureCode.MODEL_NOT_FOUND, f"{model_id} has changed since it was submitted")
        _check_code(folder, approval)
        return folder
    with_code = with_code or approval is not None
    name = f"{revision}-code" if with_code else revision
    folder = settings.work_dir / "models" / model_id.replace("/", "--") / name
    # Lock files are never deleted. Revisions share them, so that there are at most 256.
    lock = settings.work_dir / f"fetch-{revision[:2]}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with _held(FileLock(lock), stop):  # another process may need the same model
        if not folder.exists():
            partial = folder.with_name(f"{name}.partial")
            try:
                _download(model_id, revision, partial, settings, [WITH_CODE] if with_code else [], stop)
                check_fetched(partial)
                partial.rename(folder)
            finally:
                shutil.rmtree(partial, ignore_errors=True)  # remove an incomplete download
        os.utime(folder)  # record the use: the least recently used models are removed first
    _check_code(folder, approval)
    return folder


@contextmanager
def _held(lock: FileLock, stop: threading.Event | None) -> Iterator[None]:
    """Hold a lock, which another worker may have for the whole download. Raises EvaluationStopped if `stop` is set meanwhile."""
    try:
        acquired = lock.acquire(cancel_check=stop.is_set if stop else None)
    except Timeout:  # raised for `cancel_check` too; there is no other limit
        raise EvaluationStopped from None
    with acquired:
        yield


def _check_code(folder: Path, approval: CodeApproval | None) -> None:
    """Raise EvaluationError if there is an approval and the folder's code is not exactly what was approved."""
    if approval is None:
        return
    files = code_digests(folder)
    if files != approval.files:
        changed = sorted({name for name, _ in files.items() ^ approval.files.items()})
        raise EvaluationError(
            FailureCode.CODE_NOT_APPROVED, f"{', '.join(changed)[:200]}: differs from the approved code"
        )


def _download(
    model_id: str, revision: str, folder: Path, settings: Settings, options: list[str], stop: threading.Event | None
) -> None:
    """Download a model as real files, not as links into a cache, because the sandbox mounts only this folder.

    `options` are those of the download process. Raises EvaluationError if the download fails, takes too long or becomes
    too large, EvaluationStopped once `stop` is set.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    environment |= {
        "HF_HOME": str(folder / ".cache"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",  # which would be part of the message of a failure
        "PYTHONUTF8": "1",
    }
    command = [
        sys.executable,
        "-m",
        "evaluator.worker.model_download",
        model_id,
        revision,
        str(folder.resolve()),
        *options,
    ]
    started = time.monotonic()
    with (
        # A file and not a pipe, because nobody would read a pipe during the download: once it was full, the process would wait.
        tempfile.TemporaryFile() as stderr,
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            process_group=0,  # Ctrl-C in a terminal reaches the worker only, which ends the download
        ) as child,
    ):
        try:
            while child.poll() is None:
                _check_size(folder, settings.max_model_bytes)
                if stop and stop.is_set():
                    raise EvaluationStopped
                if time.monotonic() - started > settings.max_fetch.total_seconds():
                    raise EvaluationError(
                        FailureCode.HUB_UNAVAILABLE, f"{model_id} did not arrive within {settings.max_fetch}"
                    )
                try:
                    child.wait(timeout=1)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            child.kill()
        length = stderr.seek(0, os.SEEK_END)
        stderr.seek(max(0, length - MAX_REASON_BYTES))
        message = stderr.read().decode(errors="replace").strip()
    if child.returncode:
        failure = next((failure for failure, status in EXIT_CODES.items() if status == child.returncode), None)
        raise EvaluationError(
            failure or FailureCode.INTERNAL_ERROR,
            message[-MAX_REASON:] or "the download process failed without a message",
        )
    shutil.rmtree(folder / ".cache", ignore_errors=True)
    _check_size(folder, settings.max_model_bytes)


def _check_size(folder: Path, limit: int) -> None:
    """Raise EvaluationError if a folder has more than `limit` bytes, or too many files.

    The download process keeps unfinished files in `.cache`, beside locks and notes about each file. These do not count as
    files of the model.
    """
    total_size = 0
    file_count = 0
    for path in folder.rglob("*"):
        try:
            total_size += path.lstat().st_size
            file_count += not path.is_dir() and ".cache" not in path.relative_to(folder).parts
        except FileNotFoundError:  # a finished file has just been renamed
            continue
    if total_size > limit or file_count > MAX_DOWNLOADED_FILES:
        raise EvaluationError(
            FailureCode.MODEL_TOO_LARGE, f"more than {limit / 1e9:,.0f} GB or {MAX_DOWNLOADED_FILES} files"
        )


def check_fetched(folder: Path) -> None:
    """Raise EvaluationError if a folder has links, a setting that runs code, or weights with an impossible header."""
    for path in folder.rglob("*"):
        if path.is_symlink():
            raise EvaluationError(FailureCode.INVALID_WEIGHTS, f"{path.name} is a link")
        if path.is_dir():  # its name may end like that of a file
            continue
        if may_hold_settings(path.name):
            _check_settings(path)
        if path.suffix == ".safetensors":
            with path.open("rb") as file:
                header_length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            if header_length > min(MAX_HEADER, path.stat().st_size - LENGTH_BYTES):
                message = f"{path.name} declares a header of {header_length:,} bytes"
                raise EvaluationError(FailureCode.INVALID_WEIGHTS, message)


def _check_settings(path: Path) -> None:
    """Raise EvaluationError if a JSON file has a setting that runs code, or is too long to be checked."""
    if path.stat().st_size > MAX_SETTINGS_BYTES:
        raise EvaluationError(FailureCode.MODEL_ERROR, f"{path.name} has more than {MAX_SETTINGS_BYTES:,} bytes")
    try:
        key = code_setting(json.loads(path.read_bytes()))
    except (ValueError, RecursionError):
        return  # not JSON that Python can read, so no library reads settings from it
    if key:
        raise EvaluationError(FailureCode.MODEL_ERROR, f"{path.name} has a setting that runs code: {key[:50]}")


def main(model_id: str, revision: str, folder: str, *options: str) -> int:
    """Download a model and return the exit status of the process. A failure is described on stderr."""
    patterns = [*FETCHED_PATTERNS, CODE_PATTERN] if WITH_CODE in options else list(FETCHED_PATTERNS)
    try:
        snapshot_download(model_id, revision=revision, allow_patterns=patterns, local_dir=folder)
        return 0
    except (RepositoryNotFoundError, RevisionNotFoundError, GatedRepoError) as error:
        failure = FailureCode.MODEL_NOT_FOUND
        reason = str(error)
    except (HTTPError, OSError, RuntimeError) as error:  # RuntimeError: of the client for Xet
        failure = FailureCode.DISK_FULL if is_disk_full(error) else FailureCode.HUB_UNAVAILABLE
        reason = str(error)
    sys.stderr.write(" ".join(reason.split()))
    return EXIT_CODES[failure]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
