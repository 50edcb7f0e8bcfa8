"""A store moves to another place, whole, and what older versions kept in git moves out of it."""

import subprocess
from pathlib import Path

import pytest

from submissions.__main__ import main
from submissions.errors import StoreError
from submissions.queue.pseudonyms import Pseudonyms, _path
from submissions.queue.queue import Queue
from submissions.settings import Settings
from submissions.store.base import Store
from submissions.store.git import GitStore
from submissions.store.migrate import migrate
from submissions.store.open import open_store
from submissions.store.private import PrivateStore
from tests.support.hub.repos import Hub
from tests.support.records import NOW, request_numbered, result_of


@pytest.fixture
def filled(store: Store) -> Store:
    queue = Queue(store)
    for number in range(1, 4):
        queue.submit(request_numbered(number))
    running = queue.claim("w", NOW)
    assert running
    queue.publish(running, result_of(running), NOW)
    return store


def test_records_go_to_the_hub_and_back(
    hub: Hub, filled: Store, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("submissions.store.migrate.FILES_PER_COMMIT", 3)
    own = Settings()
    count = migrate(settings.store, "hf://datasets/org/store", own)
    assert count == len(filled.snapshot().files)
    before = filled.snapshot()
    there = open_store("hf://datasets/org/store")
    assert Queue(there).rows() == Queue(filled).rows()
    head = there.head()
    migrate(settings.store, "hf://datasets/org/store", own)
    assert there.head() == head, "a second time there is nothing to do"
    back = tmp_path / "back.git"
    migrate("hf://datasets/org/store", str(back), own)
    assert GitStore(back).snapshot().files == before.files


def test_a_store_with_other_records_is_not_written_over(filled: Store, settings: Settings, tmp_path: Path) -> None:
    other = GitStore(tmp_path / "other.git")
    Queue(other).submit(request_numbered(9))
    before = other.snapshot()
    with pytest.raises(StoreError, match="records of its own"):
        migrate(settings.store, str(tmp_path / "other.git"), settings)
    assert other.snapshot() == before


def test_the_private_git_repository_of_older_versions_becomes_files(
    tmp_path: Path, settings: Settings, settings_here: None, capsys: pytest.CaptureFixture[str]
) -> None:
    name, person = "kim", '{"name": "kim", "pseudonym": "0123456789abcdef"}'
    older = GitStore(tmp_path / "private.git")
    key = "ab" * 16
    changes: dict[str, bytes | None] = {
        _path(name): person.encode(),
        f"details/{key}.jsonl": b"{}\n",
        "details.key": b"secret",
    }
    older.commit(changes, older.head(), "as it was")
    with pytest.raises(StoreError, match="run python -m submissions migrate"):
        Pseudonyms(settings).find(name)
    assert main(["migrate", str(tmp_path / "private.git"), settings.private_store]) == 0
    assert "3 files" in capsys.readouterr().out
    assert Pseudonyms(settings).find(name) == "0123456789abcdef"
    private = PrivateStore(settings.private_store)
    assert private.read(f"details/ab/{key}.jsonl") == b"{}\n" and private.read("details.key") == b"secret"
    assert main(["migrate", settings.private_store, str(tmp_path / "elsewhere")]) == 0
    assert PrivateStore(str(tmp_path / "elsewhere")).paths("") == private.paths("")


def test_private_files_never_go_into_git(
    tmp_path: Path, private: PrivateStore, settings_here: None, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    private.write("details.key", b"secret")
    assert main(["migrate", private.url, store.url]) == 2
    assert "is a git repository" in capsys.readouterr().err
    assert not store.snapshot().files


def test_a_source_without_files_is_told(
    tmp_path: Path, settings_here: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["migrate", str(tmp_path / "nothing"), str(tmp_path / "there")]) == 2
    assert "is not there" in capsys.readouterr().err and not list(tmp_path.glob("*th*"))
    (tmp_path / "empty").mkdir()
    assert main(["migrate", str(tmp_path / "empty"), str(tmp_path / "there")]) == 2
    assert "has no files" in capsys.readouterr().err


def test_a_clone_of_a_dataset_goes_to_another_dataset(
    hub: Hub, filled: Store, settings: Settings, tmp_path: Path
) -> None:
    migrate(settings.store, "hf://datasets/org/store", Settings())
    clone = tmp_path / "clone.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(hub.root / "git/org/store.git"), str(clone)], check=True)
    migrate(str(clone), "hf://datasets/org/private", Settings())
    assert open_store("hf://datasets/org/private").snapshot().files == filled.snapshot().files


def test_a_copy_keeps_no_name_that_was_erased(tmp_path: Path, settings: Settings, private: PrivateStore) -> None:
    pseudonyms = Pseudonyms(settings)
    for name in ("alice", "bob"):
        pseudonyms.find_or_make(name)
    private.write("leases/x-y.json", b"{}")
    copy = str(tmp_path / "copy")
    assert migrate(private.url, copy, settings) == 2 and PrivateStore(copy).paths("leases") == []
    pseudonyms.erase("alice", NOW)
    with pytest.raises(StoreError, match="files of its own"):
        migrate(private.url, copy, settings)


def test_no_place_lies_in_the_other(private: PrivateStore, settings: Settings) -> None:
    private.write("details.key", b"x")
    for target in (private.url, f"{private.url}/backup", f"file://{private.url}/"):
        with pytest.raises(StoreError, match="lies in"):
            migrate(private.url, target, settings)
    with pytest.raises(StoreError, match="name a store"):
        migrate(private.url, "", settings)
