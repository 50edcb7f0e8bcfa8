"""Get a model's files: from HANNUN_MODELS_DIR, a folder named outright, or the Hub at its exact commit.

The Hub's are fetched by a process of its own, `python -m evaluator.hub.model_download MODEL REVISION FOLDER`, that holds no token
but the read-only one and is ended where it takes too much. Python files come only where the operator has approved
them, with `--code`, and only if their bytes are those that were approved.
"""

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from filelock import FileLock
from httpx2 import HTTPError
from huggingface_hub import snapshot_download
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

from evaluator.core.errors import EvaluationError, EvaluationStopped
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.hub_models.code_settings import code_setting
from submissions.hub_models.repository import (
    CODE,
    FETCHED,
    MAX_FILES,
    MAX_TEXT,
    check_links,
    code_digests,
    content_revision,
    is_settings,
    local_model,
)
from submissions.records.operator import CodeApproval
from submissions.texts.errors import RefusedError
from submissions.texts.failure_codes import FailureCode

MAX_HEADER = 25_000_000  # bytes of a safetensors file that describe its tensors
EXIT_CODES = {
    FailureCode.MODEL_NOT_FOUND: 3,
    FailureCode.HUB_UNAVAILABLE: 4,
    FailureCode.DISK_FULL: 5,
}  # of the process that fetches


def fetch_model(
    model_id: str,
    revision: str,
    settings: Settings,
    code: CodeApproval | None = None,
    *,
    with_code: bool = False,
    stop: threading.Event | None = None,
) -> Path:
    """Return the folder with the model's files at this revision, its Python files too if they are approved or wanted.

    Raises EvaluationError if the model is not available or its code differs from what was approved; EvaluationStopped once
    `stop` is set.
    """
    folder = local_model(model_id, settings.models_dir)
    if folder:
        try:
            check_links(folder)
        except RefusedError as refused:
            raise EvaluationError(FailureCode.INVALID_WEIGHTS, str(refused)) from None
        if content_revision(folder) != revision:
            raise EvaluationError(FailureCode.MODEL_NOT_FOUND, f"{model_id} has changed since it was submitted")
        _check_code(folder, code)
        return folder
    with_code = with_code or code is not None
    name = f"{revision}-code" if with_code else revision
    folder = settings.work_dir / "models" / model_id.replace("/", "--") / name
    lock = settings.work_dir / f"fetch-{revision[:2]}.lock"  # not one for each: a lock's file stays
    lock.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):  # others may want it too
        if not folder.exists():
            partial = folder.with_name(f"{name}.partial")
            try:
                _download(model_id, revision, partial, settings, ["--code"] if with_code else [], stop)
                check_fetched(partial)
                partial.rename(folder)
            finally:
                shutil.rmtree(partial, ignore_errors=True)  # half a model is none
    os.utime(folder)  # used now: what was used longest ago is removed first
    _check_code(folder, code)
    return folder


def _check_code(folder: Path, code: CodeApproval | None) -> None:
    """Where code may run, it is what was approved, all of it and nothing else. Raises EvaluationError."""
    if code is None:
        return
    files = code_digests(folder)
    if files != code.files:
        changed = sorted({name for name, _ in files.items() ^ code.files.items()})
        raise EvaluationError(FailureCode.CODE_NOT_APPROVED, f"{', '.join(changed)[:200]}: not as approved")


def _download(
    model_id: str, revision: str, folder: Path, settings: Settings, options: list[str], stop: threading.Event | None
) -> None:
    """Real files, no links into a cache: the sandbox shows this folder and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    kept = ("PATH", "HF_ENDPOINT", "HF_HUB_DISABLE_XET", "HF_TOKEN", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
    environment = {name: os.environ[name] for name in (*kept, "SSL_CERT_FILE") if name in os.environ}
    environment |= {"HF_HOME": str(folder / ".cache"), "HF_HUB_DISABLE_TELEMETRY": "1", "PYTHONUTF8": "1"}
    command = [
        sys.executable,
        "-m",
        "evaluator.hub.model_download",
        model_id,
        revision,
        str(folder.resolve()),
        *options,
    ]
    begun = time.monotonic()
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, process_group=0
    ) as child:
        try:
            while child.poll() is None:
                _check_size(folder, settings.max_model_bytes)
                if stop and stop.is_set():
                    raise EvaluationStopped
                if time.monotonic() - begun > settings.max_fetch.total_seconds():
                    raise EvaluationError(
                        FailureCode.HUB_UNAVAILABLE, f"{model_id} did not arrive within {settings.max_fetch}"
                    )
                try:
                    child.wait(timeout=1)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            child.kill()
        assert child.stderr is not None
        said = child.stderr.read().decode(errors="replace").strip()
    if child.returncode:
        code = next((code for code, number in EXIT_CODES.items() if number == child.returncode), None)
        raise EvaluationError(code or FailureCode.INTERNAL_ERROR, said[-300:] or "the fetching process ended")
    shutil.rmtree(folder / ".cache", ignore_errors=True)
    _check_size(folder, settings.max_model_bytes)


def _check_size(folder: Path, limit: int) -> None:
    sizes = []
    for path in folder.rglob("*"):
        try:
            sizes.append(path.lstat().st_size)
        except FileNotFoundError:  # renamed as it was finished
            continue
    if sum(sizes) > limit or len(sizes) > MAX_FILES:
        raise EvaluationError(FailureCode.MODEL_TOO_LARGE, f"more than {limit / 1e9:,.0f} GB or {MAX_FILES} files")


def check_fetched(folder: Path) -> None:
    """No links, no setting that runs code, and weights whose description has an end. Raises EvaluationError."""
    for path in folder.rglob("*"):
        if path.is_symlink():
            raise EvaluationError(FailureCode.INVALID_WEIGHTS, f"{path.name} is a link")
        if is_settings(path.name):
            _check_settings(path)
        if path.suffix == ".safetensors":
            with path.open("rb") as file:
                header = int.from_bytes(file.read(8), "little")
            if header > min(MAX_HEADER, path.stat().st_size - 8):
                raise EvaluationError(FailureCode.INVALID_WEIGHTS, f"{path.name} names {header:,} bytes of description")


def _check_settings(path: Path) -> None:
    """None of what is fetched has code run, in whatever folder it lies. Raises EvaluationError."""
    if path.stat().st_size > MAX_TEXT:
        raise EvaluationError(FailureCode.MODEL_ERROR, f"{path.name} has more than {MAX_TEXT:,} bytes")
    try:
        key = code_setting(json.loads(path.read_bytes()))
    except (ValueError, RecursionError):
        return  # no JSON that anything reads
    if key:
        raise EvaluationError(FailureCode.MODEL_ERROR, f"{path.name} has a setting that runs code: {key[:50]}")


def main(model_id: str, revision: str, folder: str, *options: str) -> int:
    wanted = [*FETCHED, CODE] if "--code" in options else list(FETCHED)
    try:
        snapshot_download(model_id, revision=revision, allow_patterns=wanted, local_dir=folder)
        return 0
    except (RepositoryNotFoundError, RevisionNotFoundError, GatedRepoError) as error:
        code, reason = FailureCode.MODEL_NOT_FOUND, str(error)
    except (HTTPError, OSError) as error:
        full = getattr(error, "errno", None) == errno.ENOSPC
        code, reason = FailureCode.DISK_FULL if full else FailureCode.HUB_UNAVAILABLE, str(error)
    sys.stderr.write(" ".join(reason.split()))
    return EXIT_CODES[code]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
