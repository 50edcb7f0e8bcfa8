"""Test the commands of `python -m submissions`."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app import main
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.records.operator import OptOut
from submissions.store.base import Changes, Snapshot, Store, transact

pytestmark = pytest.mark.usefixtures("settings_here")


def test_commands_submit_list_show_requeue_reindex(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["submit", "tiny/image-text", "--benchmark", "ko-vqa", "--benchmark", "ko-vdc"]) == 0
    keys = [line.split()[1] for line in capsys.readouterr().out.splitlines()]
    assert len(keys) == 2
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    assert all(key in listed for key in keys) and listed.count("pending") == 2
    assert main(["show", keys[0]]) == 0
    assert json.loads(capsys.readouterr().out)["benchmark"] == "ko-vqa"
    for wrong, message in (
        (["requeue", keys[0]], "is pending"),
        (["show", "0" * 32], "no request"),
        (["submit", "tiny/image-text", "--benchmark", "ko-vqa"], "already been submitted"),
    ):
        assert main(wrong) == 2
        assert message in capsys.readouterr().err
    assert main(["reindex"]) == 0
    assert json.loads(capsys.readouterr().out) == {"segments_changed": 0, "unreadable": {}}


@pytest.mark.parametrize(
    ("args", "lease", "message"),
    [
        (["submit", "tiny/extractive", "--benchmark", "ko-vqa"], "1h", "(korquad-2)"),
        (["--store", "hf://models/a/b", "list"], "1h", "is not a dataset"),
        (["--store", "/nowhere/store.git", "list"], "1h", "there is no store here"),
        (["--store", "/nowhere/store.git", "verify-stores"], "1h", "there is no store here"),
        (["list"], "soon", "HANNUN_LEASE"),
        (["submit", "tiny/extractive", "--api", "x", "--benchmark", "ko-vqa"], "1h", "leave out MODEL"),
        (["submit", "a--b/c", "--benchmark", "ko-vqa"], "1h", "not a valid model ID"),
        (["--store", "hf://datasets/a--b/c", "list"], "1h", "is not a dataset"),
        (["migrate", "hf://datasets/a/b.git", "copy.git"], "1h", "is not a dataset"),
        (["migrate", "hf://buckets/a/b..c", "copy"], "1h", "is not a private store"),
        (["approve-code", f"a/b--c@{'0' * 40}"], "1h", "is not OWNER/NAME@COMMIT"),
        (["opt-out", "a--b"], "1h", "neither an owner nor OWNER/NAME"),
        (["opt-out", "a/b."], "1h", "neither an owner nor OWNER/NAME"),
        (["build", "hf://spaces/a--b/c"], "1h", "is neither a folder nor hf://spaces/ORG/NAME"),
        (["build", "hf://datasets/a/b"], "1h", "is neither a folder nor hf://spaces/ORG/NAME"),
        (["run", "--model", "a--b/c", "--benchmark", "ko-vqa", "--out", "o"], "1h", "not a valid model ID"),
        (["estimate", "a/b.git"], "1h", "not a valid model ID"),
    ],
)
def test_commands_report_bad_input_in_one_line(
    args: list[str], lease: str, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANNUN_LEASE", lease)
    assert main(args) == 2
    error = capsys.readouterr().err
    assert message in error and len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["ko-fresh", "reveal", "2026Q1", "--dataset", "a--b/c", "--out", "o"], "'a--b/c' is not OWNER/NAME"),
        (["run", "--model", "a/b", "--benchmark", "ko-vqa", "--out", "hf://datasets/a/b"], "must be on this machine"),
    ],
)
def test_option_with_a_wrong_name_is_refused(args: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(args)
    assert message in capsys.readouterr().err


def test_opt_out_of_before_can_be_undone(store: Store) -> None:
    def opted_out(_: Snapshot) -> tuple[Changes, str, None]:
        record = OptOut(name="a--b", since=datetime.now(UTC))
        return {record.path: record.to_bytes()}, "Opt out", None

    transact(store, opted_out)
    assert main(["opt-out", "a--b", "--undo"]) == 0


def test_submit_requires_name_if_user_is_unknown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_name() -> str:
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr("getpass.getuser", no_name)
    assert main(["submit", "tiny/image-text", "--benchmark", "ko-vqa"]) == 2
    assert "--as NAME" in capsys.readouterr().err
    assert main(["submit", "tiny/image-text", "--benchmark", "ko-vqa", "--as", "kim"]) == 0
    assert main(["list"]) == 0


def test_list_does_not_create_store(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 2 and not Path(settings.store).exists(), "a command that only reads creates no store"
    assert "there is no store here" in capsys.readouterr().err
    assert main(["submit", "tiny/image-text", "--benchmark", "ko-vqa"]) == 0
    assert main(["list"]) == 0 and Path(settings.store).is_dir()


@pytest.mark.integration
def test_list_stops_quietly_if_its_reader_does(environment: dict[str, str]) -> None:
    assert main(["submit", "tiny/image-text", "--benchmark", "ko-vqa"]) == 0
    listing = subprocess.Popen(
        [sys.executable, "-u", "-m", "submissions", "list"],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert listing.stdout and listing.stderr
    listing.stdout.close()
    assert "Traceback" not in listing.stderr.read() and listing.wait() == 1
    listing.stderr.close()


@pytest.mark.slow
@pytest.mark.integration
def test_list_exits_cleanly_every_time(environment: dict[str, str]) -> None:
    """Check a past failure: reading Parquet with threads aborted every other process at exit."""
    assert main(["submit", "tiny/image-text", "--benchmark", "ko-vqa"]) == 0
    command = [sys.executable, "-m", "submissions", "list"]
    codes = [subprocess.run(command, cwd=ROOT, env=environment, capture_output=True).returncode for _ in range(6)]
    assert codes == [0] * 6
