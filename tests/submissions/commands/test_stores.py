"""Test the operator's commands for whole stores: status, verify, backup and restore."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app import main
from scripts.support.evaluated import submit_in_every_status
from scripts.support.records import Make, claimed, request_numbered
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.open import open_queue
from submissions.queue.pseudonyms import Pseudonyms
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest, Progress, Stage
from submissions.records.worker import Pause, Presence
from submissions.store.base import Store
from submissions.store.folders import in_key_folder
from submissions.store.open import open_store
from submissions.store.private import PrivateStore
from submissions.texts.failure_codes import FailureCode

pytestmark = pytest.mark.usefixtures("settings_here")


@pytest.fixture
def queue(store: Store, heartbeats: Heartbeats) -> Queue:
    return Queue(store, heartbeats=heartbeats)


@pytest.fixture
def filled(queue: Queue, private: PrivateStore, make_request: Make) -> dict[str, EvalRequest]:
    requests = submit_in_every_status(queue, make_request)
    private.write(in_key_folder(f"details/{requests['done'].key}.jsonl"), b"{}\n")
    return requests


def test_status_fits_on_one_screen(
    filled: dict[str, EvalRequest], heartbeats: Heartbeats, capsys: pytest.CaptureFixture[str]
) -> None:
    now = datetime.now(UTC)
    before = now - timedelta(hours=3)
    until = now + timedelta(hours=1)
    heartbeats.report_presence(Presence(worker="gpu-1", seen_at=before))
    heartbeats.pause(Pause(worker="gpu-1", code=FailureCode.DISK_FULL, since=before, until=until))
    assert main(["status"]) == 0
    output = capsys.readouterr().out
    assert "1 pending, 1 running, 1 finished, 1 failed, 1 quarantined" in output
    assert f"running   {filled['busy'].key} by w" in output and "infer 30/45" in output
    assert "paused    gpu-1 after disk_full, for 3h" in output and "worker    gpu-1, seen 3h ago" in output
    assert len(output.splitlines()) <= 24


def test_verify_accepts_intact_store(filled: dict[str, EvalRequest], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify-stores"]) == 0
    assert capsys.readouterr().out == "no problems\n"


def test_verify_names_problems(
    store: Store, filled: dict[str, EvalRequest], private: PrivateStore, capsys: pytest.CaptureFixture[str]
) -> None:
    files = store.snapshot().files
    done = filled["done"]
    wrong = filled["wrong"]
    result = next(path for path in files if path.startswith("results/"))
    failed = next(path for path in files if path.startswith("requests/failed/"))
    twice = {failed.replace("failed", "quarantined"): store.read(failed, store.head())}
    bad = {"results/o/bad/" + "e" * 32 + ".json": b"{}", f"index/queue/{wrong.key[0]}/{wrong.key[1]}.jsonl": b"x"}
    store.commit({result: None, **twice, **bad}, store.head(), "break")
    private.delete(in_key_folder(f"details/{done.key}.jsonl"))
    assert main(["verify-stores"]) == 1
    output = capsys.readouterr().out
    assert f"request {done.key} is finished and has no result" in output
    assert "results/o/bad/" in output and "unreadable" in output
    assert "run python -m submissions reindex" in output and "problems" in output
    assert main(["reindex"]) == 0


def test_verify_names_damaged_object_and_other_problems(
    settings: Settings,
    store: Store,
    filled: dict[str, EvalRequest],
    private: PrivateStore,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, blob = next((p, b) for p, b in store.snapshot().files.items() if p.startswith("results/"))
    loose = Path(settings.store) / "objects" / blob[:2] / blob[2:]
    loose.chmod(0o644)
    loose.write_bytes(b"garbage")
    private.delete(in_key_folder(f"details/{filled['done'].key}.jsonl"))
    assert main(["verify-stores"]) == 1
    output = capsys.readouterr().out
    assert f"{path} is damaged" in output and "in the private store" in output


def test_backup_names_damaged_pack(
    settings: Settings, store: Store, filled: dict[str, EvalRequest], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tidy"]) == 0
    for pack in (Path(settings.store) / "objects/pack").glob("*.pack"):
        content = bytearray(pack.read_bytes())
        for place in range(40, len(content) - 40, 97):
            content[place] ^= 0x55
        pack.chmod(0o644)
        pack.write_bytes(content)
    capsys.readouterr()
    assert main(["backup", str(tmp_path / "backup")]) == 2
    error = capsys.readouterr().err
    assert "damaged" in error and len(error.splitlines()) == 1


def test_refused_backup_writes_nothing(
    settings: Settings, filled: dict[str, EvalRequest], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", f"{settings.private_store}/backup"]) == 2
    assert "is inside the other" in capsys.readouterr().err
    assert not Path(f"{settings.private_store}/backup").exists()


@pytest.mark.parametrize("command", [["backup"], ["restore"], ["build"], ["private", "--out"]])
def test_empty_folder_is_refused(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([*command, ""])
    assert end.value.code == 2 and "must not be empty" in capsys.readouterr().err


def lose_stores(settings: Settings) -> None:
    for path in (settings.store, settings.private_store):
        shutil.rmtree(path)
    shutil.rmtree(f"{settings.private_store}-evaluations.git", ignore_errors=True)


def test_restore_recovers_backup(
    settings: Settings, queue: Queue, filled: dict[str, EvalRequest], tmp_path: Path
) -> None:
    """Follow docs/operate.md only."""
    pseudonym = Pseudonyms(settings).find_or_make("kim")
    before = queue.store.snapshot().files
    private_queue = open_queue(settings, is_private=True)
    private_queue.submit(request_numbered(800))
    assert main(["backup", str(tmp_path / "backup")]) == 0
    queue.submit(request_numbered(900))  # after the backup
    assert main(["restore", str(tmp_path / "backup")]) == 2, "an existing store is not overwritten"
    lose_stores(settings)
    assert main(["restore", str(tmp_path / "backup")]) == 0
    assert main(["verify-stores"]) == 0
    restored = open_store(settings.store)
    assert restored.snapshot().files == before and Pseudonyms(settings).find("kim") == pseudonym
    Queue(restored).submit(request_numbered(901))
    assert [row.key for row in open_queue(settings, is_private=True).rows()] == [request_numbered(800).key]
    subprocess.run(["git", "-C", settings.store, "fsck", "--strict"], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda backup: shutil.rmtree(backup), "store.git does not exist: name a folder with a complete backup"),
        (lambda backup: shutil.rmtree(backup / "private"), "private does not exist"),
        (lambda backup: (backup / "private.sha256").unlink(), "private.sha256 does not exist"),
        (lambda backup: (backup / "private/x.json").symlink_to("/etc/passwd"), "x.json is a link or a pipe, which a"),
        (lambda backup: os.mkfifo(backup / "private/pipe"), "pipe is a link or a pipe, which a backup never contains"),
        (
            lambda backup: (backup / "store.git/objects/info/alternates").write_text("/elsewhere"),
            "takes objects from another repository",
        ),
        (lambda backup: _people(backup).unlink(), "people/.* is missing"),
        (lambda backup: os.truncate(_people(backup), 3), "people/.* was changed after the backup"),
        (lambda backup: _people(backup).with_name("more.json").write_text("{}"), "more.json was changed after"),
    ],
)
def test_restore_rejects_incomplete_backup(
    settings: Settings,
    queue: Queue,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    harm: Callable[[Path], Any],
    message: str,
) -> None:
    submit_as_kim(queue, settings)
    assert main(["backup", str(tmp_path / "backup")]) == 0
    harm(tmp_path / "backup")
    assert re.search(message, refusal_to_restore(tmp_path / "backup", settings, capsys))


def test_complete_backup_is_not_changed(
    settings: Settings, queue: Queue, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its checksums would be lost, and the backup with them."""
    submit_as_kim(queue, settings)
    assert main(["backup", str(tmp_path / "backup")]) == 0
    Pseudonyms(settings).find_or_make("lee")
    assert main(["backup", str(tmp_path / "backup")]) == 2
    assert "has a complete backup" in capsys.readouterr().err
    lose_stores(settings)
    assert main(["restore", str(tmp_path / "backup")]) == 0


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda evaluations: shutil.rmtree(evaluations), "HEAD is missing"),
        (lambda evaluations: next((evaluations / "objects").rglob("*.pack")).unlink(), "damaged|missing"),
    ],
)
def test_restore_writes_nothing_if_private_evaluations_are_damaged(
    settings: Settings,
    queue: Queue,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    harm: Callable[[Path], Any],
    message: str,
) -> None:
    submit_as_kim(queue, settings)
    open_queue(settings, is_private=True).submit(request_numbered(901))
    assert main(["backup", str(tmp_path / "backup")]) == 0
    evaluations = tmp_path / "backup/evaluations.git"
    assert main(["verify-stores"]) == 0 and evaluations.is_dir()
    open_store(str(evaluations)).tidy(0.0)
    harm(evaluations)
    capsys.readouterr()
    assert re.search(message, refusal_to_restore(tmp_path / "backup", settings, capsys))


def submit_as_kim(queue: Queue, settings: Settings) -> None:
    """Put a file into the public store and one into the private store."""
    queue.submit(request_numbered(900))
    Pseudonyms(settings).find_or_make("kim")


def refusal_to_restore(backup: Path, settings: Settings, capsys: pytest.CaptureFixture[str]) -> str:
    """Lose all stores, and return the line with which `restore` refuses a backup without writing anything."""
    lose_stores(settings)
    assert main(["restore", str(backup)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert not Path(settings.store).exists()
    return line


def _people(backup: Path) -> Path:
    return next(path for path in (backup / "private/people").rglob("*") if path.is_file())


def test_status_shows_running_request_without_progress(
    queue: Queue, make_request: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    queue.submit(make_request())
    running = claimed(queue, queue.store.now())
    queue.heartbeat(running, queue.store.now())
    assert main(["status"]) == 0
    assert "by w, heartbeat" in capsys.readouterr().out
    queue.heartbeat(running, queue.store.now(), Progress(stage=Stage.LOAD))
    assert main(["status"]) == 0
    assert "load 0/0" in capsys.readouterr().out
