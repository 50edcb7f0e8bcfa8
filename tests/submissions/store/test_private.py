"""Test that the private store keeps files whole or not at all, even after a killed writer or on a full disk."""

import errno
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from huggingface_hub import HfApi
from pydantic import SecretStr

from scripts.support.hub.repos import TOKEN, Fault, Hub
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.store.deadline import MAX_ABANDONED
from submissions.store.open import open_private_store
from submissions.store.private import PrivateStore
from submissions.texts.errors import StoreError, StoreUnavailableError
from tests.support.slow import only_first


@pytest.fixture(params=["folder", "bucket"])
def files(request: pytest.FixtureRequest, settings: Settings) -> PrivateStore:
    if request.param == "folder":
        return open_private_store(settings)
    return open_private_store(Settings(private_store=request.getfixturevalue("bucket")))


def test_write_read_and_delete(files: PrivateStore) -> None:
    private = files
    private.write("details/ab/x.jsonl", b"one")
    private.write("details/ab/x.jsonl", b"two")
    private.write("people/y.json", b"{}")
    assert private.read("details/ab/x.jsonl") == b"two"
    assert private.paths("details") == ["details/ab/x.jsonl"]
    assert private.paths("") == ["details/ab/x.jsonl", "people/y.json"]
    private.delete("details/ab/x.jsonl")
    private.delete("details/ab/x.jsonl")
    with pytest.raises(KeyError):
        private.read("details/ab/x.jsonl")
    assert private.paths("details") == private.paths("nothing") == []


@pytest.mark.parametrize("files", only_first(["folder", "bucket"]), indirect=True)
def test_threads_read_and_write_one_store_at_once(files: PrivateStore) -> None:
    def use(number: int) -> bytes:
        path = f"people/{number % 4}/{number}.json"
        assert files.create(path, b"%d" % number)
        assert path in files.paths("people")
        content = files.read(path)
        files.delete(path)
        return content

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(use, range(64))) == [b"%d" % number for number in range(64)]
    assert files.paths("people") == []


def test_read_sees_writes_of_other_hosts(bucket: str) -> None:
    here, there = (open_private_store(Settings(private_store=bucket)) for _ in range(2))
    assert here.paths("leases") == []
    for content in (b"1", b"2"):
        there.write("leases/x.json", content)
        assert here.read("leases/x.json") == content and here.paths("leases") == ["leases/x.json"]
    assert not here.create("leases/x.json", b"3") and here.create("leases/y.json", b"3")
    there.delete("leases/x.json")
    assert here.paths("leases") == ["leases/y.json"]
    with pytest.raises(KeyError):
        here.read("leases/x.json")


def test_open_private_store_rejects_unsuitable_bucket(hub: Hub, bucket: str) -> None:
    HfApi(os.environ["HF_ENDPOINT"], TOKEN).create_bucket("org/open", private=False)
    hub.tokens["hf_stranger"] = "none"
    for settings, message in (
        (Settings(private_store="hf://buckets/org/open"), "is public"),
        (Settings(private_store="hf://buckets/org/nothing"), "name a bucket that exists"),
        (Settings(private_store=bucket, hub_token=SecretStr("hf_stranger")), "name a bucket that exists"),
    ):
        with pytest.raises(StoreError, match=message):
            open_private_store(settings)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_read_retries_after_server_error(hub: Hub, bucket: str, status: int) -> None:
    private = open_private_store(Settings(private_store=bucket))
    private.write("x", b"1")
    hub.faults = [Fault("resolve", status=status)]
    assert private.read("x") == b"1" and hub.faults[0].times == 0


def test_read_raises_if_bucket_stays_down(hub: Hub, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    private = open_private_store(Settings(private_store=bucket))
    private.write("x", b"1")
    monkeypatch.setattr("submissions.store.private.TRIES", 1)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
    for match, use in (("resolve", lambda: private.read("x")), ("tree", lambda: private.paths("leases"))):
        hub.faults = [Fault(match, status=503, times=100)]
        with pytest.raises(StoreUnavailableError, match="try again later"):
            use()


@pytest.mark.parametrize("operation", ["write", "create"])
def test_write_gives_up_if_storage_host_hangs(
    hub: Hub, bucket: str, operation: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    private = open_private_store(Settings(private_store=bucket))
    monkeypatch.setattr("submissions.store.private.SMALL_FILE_S", 1.0)
    hub.faults = [Fault("/cas/", hang=True, times=100)]
    write = getattr(private, operation)
    for number in range(MAX_ABANDONED + 1):
        with pytest.raises(StoreUnavailableError, match="try again later"):
            write(f"x{number}", b"1")
        monkeypatch.setattr("submissions.store.private.SMALL_FILE_S", 0.05)
    assert private.health.failing_since and "read" not in private.health.since
    assert caplog.text.count("cannot be written: hf://buckets/org/private: no answer within 1 s") == 1


def test_health_recovers_with_next_write(hub: Hub, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    private = open_private_store(Settings(private_store=bucket))
    monkeypatch.setattr("submissions.store.private.TRIES", 1)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
    hub.faults = [Fault("POST /api/buckets/org/private/batch", status=503, times=100)]
    with pytest.raises(StoreUnavailableError):
        private.write("x", b"1")
    assert open_private_store(Settings(private_store=bucket)).health.failing_since
    hub.faults = []
    assert private.paths("") == [] and private.health.failing_since, "reading says nothing about writing"
    private.write("x", b"1")
    assert private.health.failing_since is None


def test_create_succeeds_once_concurrently(private: PrivateStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: private.create("details.key", b"%d" % n), range(8)))
    assert made.count(True) == 1
    assert private.read("details.key") == b"%d" % made.index(True)


@pytest.mark.slow
@pytest.mark.integration
def test_write_killed_writer_leaves_old_or_new_content(settings: Settings, private: PrivateStore) -> None:
    write = (
        "import sys; from submissions.store.private import PrivateStore; store = PrivateStore(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "while True:\n    for letter in b'ab': store.write('x', bytes([letter]) * 300_000)\n"
    )
    for _ in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", write, settings.private_store], cwd=ROOT, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout and process.stdout.readline() == b"ready\n"
            seen = {private.read("x")[:1] for _ in range(50) if "x" in private.paths("")}
            process.send_signal(signal.SIGKILL)
        assert seen <= {b"a", b"b"}
        if private.paths(""):
            assert private.paths("") == ["x"], "an unfinished file is not listed"
            assert private.read("x") in (b"a" * 300_000, b"b" * 300_000)


@pytest.mark.parametrize(
    ("fault", "kind"), [(errno.ENOSPC, StoreUnavailableError), (errno.EACCES, StoreError), (errno.EROFS, StoreError)]
)
def test_write_reports_disk_error_in_one_line(
    private: PrivateStore, monkeypatch: pytest.MonkeyPatch, fault: int, kind: type[StoreError]
) -> None:
    private.write("x", b"before")

    def full(_: int) -> None:
        raise OSError(fault, os.strerror(fault))

    monkeypatch.setattr("submissions.store.private.os.fsync", full)
    with pytest.raises(kind) as raised:
        private.write("x", b"after")
    assert type(raised.value) is kind and os.strerror(fault) in str(raised.value) and "\n" not in str(raised.value)
    assert private.read("x") == b"before" and private.paths("") == ["x"]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        *((address, address) for address in ("nonsense://x", "s3://bucket/folder", "hf://models/o/n", "hf://buckets/")),
        ("private.git", "is a git repository"),
    ],
)
def test_open_private_store_rejects_unusable_address(
    address: str, message: str, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "--quiet", "--bare", "private.git"], check=True)
    with pytest.raises(StoreError, match=message):
        open_private_store(settings.model_copy(update={"private_store": address}))


def test_remove_leftovers_deletes_day_old_files(settings: Settings, private: PrivateStore) -> None:
    folder = Path(settings.private_store) / "people"
    private.write("people/x.json", b"{}")
    for name, age in (("old", 100_000), ("new", 10)):
        (folder / f"{name}.partial").write_text("alice")
        os.utime(folder / f"{name}.partial", (time.time() - age,) * 2)
    private.remove_leftovers()
    assert sorted(path.name for path in folder.iterdir()) == ["new.partial", "x.json"]


def test_create_rejects_file_in_place_of_folder(private: PrivateStore) -> None:
    private.write("a", b"1")
    with pytest.raises(StoreError, match="a/b cannot be written"):
        private.create("a/b", b"2")


def test_write_rejects_file_in_place_of_folder(settings: Settings, private: PrivateStore) -> None:
    (Path(settings.private_store) / "workers").write_text("no folder")
    with pytest.raises(StoreError, match=r"workers/x\.json cannot be written"):
        private.write("workers/x.json", b"{}")
