"""Test copying of public and private stores."""

import subprocess
from pathlib import Path

import pytest

from app import main
from scripts.support.hub.repos import Hub
from scripts.support.records import NOW, published, request_numbered
from submissions.config.settings import Settings
from submissions.queue.pseudonyms import Pseudonyms
from submissions.queue.queue import Queue
from submissions.store.base import Store
from submissions.store.copy import copy_store
from submissions.store.git import GitStore
from submissions.store.open import open_store
from submissions.store.private import PrivateStore
from submissions.texts.errors import StoreError


@pytest.fixture
def filled(store: Store) -> Store:
    published(store, request_numbered(1))
    for number in (2, 3):
        Queue(store).submit(request_numbered(number))
    return store


def test_copy_store_to_hub_and_back(
    hub: Hub, filled: Store, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("submissions.store.copy.FILES_PER_COMMIT", 3)
    hub_settings = Settings()
    count = copy_store(settings.store, "hf://datasets/org/store", hub_settings)
    assert count == len(filled.snapshot().files)
    before = filled.snapshot()
    there = open_store("hf://datasets/org/store")
    assert Queue(there).rows() == Queue(filled).rows()
    head = there.head()
    copy_store(settings.store, "hf://datasets/org/store", hub_settings)
    assert there.head() == head, "a second copy changes nothing"
    back = tmp_path / "back.git"
    copy_store("hf://datasets/org/store", str(back), hub_settings)
    assert GitStore(back).snapshot().files == before.files


def test_copy_store_rejects_target_with_other_records(filled: Store, settings: Settings, tmp_path: Path) -> None:
    other = GitStore(tmp_path / "other.git")
    Queue(other).submit(request_numbered(9))
    before = other.snapshot()
    with pytest.raises(StoreError, match="already has other records"):
        copy_store(settings.store, str(tmp_path / "other.git"), settings)
    assert other.snapshot() == before


def test_migrate_rejects_unsuitable_stores(
    tmp_path: Path, private: PrivateStore, settings_here: None, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    private.write("details.key", b"secret")
    (tmp_path / "empty").mkdir()
    for source, target, message in (
        (private.url, store.url, "is a git repository"),
        (str(tmp_path / "nothing"), str(tmp_path / "there"), "does not exist"),
        (str(tmp_path / "empty"), str(tmp_path / "there"), "has no files"),
    ):
        assert main(["migrate", source, target]) == 2
        assert message in capsys.readouterr().err
        assert not store.snapshot().files and not list(tmp_path.glob("*th*"))


def test_copy_store_from_clone_to_dataset(hub: Hub, filled: Store, settings: Settings, tmp_path: Path) -> None:
    copy_store(settings.store, "hf://datasets/org/store", Settings())
    clone = tmp_path / "clone.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(hub.root / "git/org/store.git"), str(clone)], check=True)
    copy_store(str(clone), "hf://datasets/org/private", Settings())
    assert open_store("hf://datasets/org/private").snapshot().files == filled.snapshot().files


def test_copy_store_rejects_target_with_erased_name(tmp_path: Path, settings: Settings, private: PrivateStore) -> None:
    pseudonyms = Pseudonyms(settings)
    for name in ("alice", "bob"):
        pseudonyms.find_or_make(name)
    private.write("leases/x-y.json", b"{}")
    copy = str(tmp_path / "copy")
    assert copy_store(private.url, copy, settings) == 2 and PrivateStore(copy).paths("leases") == []
    pseudonyms.erase("alice", NOW)
    with pytest.raises(StoreError, match="already has other files"):
        copy_store(private.url, copy, settings)


def test_copy_store_never_replaces_newer_files(
    store: Store, private: PrivateStore, settings: Settings, tmp_path: Path
) -> None:
    """Somebody repeats the command after the copy has been in use for a while."""
    store.commit({"queue/one.json": b"old", "queue/two.json": b"2"}, store.head(), "Write")
    private.write("details.key", b"old")
    target = str(tmp_path / "copy.git")
    copy_store(store.url, target, settings)
    copy = open_store(target)
    copy.commit({"queue/one.json": b"newer", "queue/two.json": None}, copy.head(), "Use")
    head = copy.head()
    with pytest.raises(StoreError, match=r"queue/one\.json is not what the source has"):
        copy_store(store.url, target, settings)
    assert copy.head() == head
    private_copy = PrivateStore(str(tmp_path / "copy"))
    copy_store(private.url, private_copy.url, settings)
    private_copy.write("details.key", b"newer")
    private.write("another", b"1")
    with pytest.raises(StoreError, match=r"details\.key is not what the source has"):
        copy_store(private.url, private_copy.url, settings)
    assert private_copy.read("details.key") == b"newer" and private_copy.paths("") == ["details.key"]


def test_copy_store_rejects_nested_target(private: PrivateStore, settings: Settings) -> None:
    private.write("details.key", b"x")
    for target in (private.url, f"{private.url}/backup", f"file://{private.url}/"):
        with pytest.raises(StoreError, match="inside the other"):
            copy_store(private.url, target, settings)
    with pytest.raises(StoreError, match="name a store"):
        copy_store(private.url, "", settings)
