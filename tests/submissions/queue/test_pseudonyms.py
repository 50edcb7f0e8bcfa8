"""Test that a submitter's name is stored only in the private store and can be erased there."""

import re
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dulwich.repo import Repo

from app import main
from evaluator.engines.registry import REGISTRY
from submissions.checks.submission import Submission
from submissions.checks.submit import SubmissionService
from submissions.config.settings import Settings
from submissions.queue.pseudonyms import Pseudonyms, forget_erased
from submissions.queue.queue import Queue
from submissions.queue.quota import Submitter
from submissions.store.base import Store
from submissions.store.private import PrivateStore

NAME = "kim-who-submits"
KIM = Submitter(NAME, frozenset({"tiny"}))


def contents(store: Path) -> Iterator[bytes]:
    """Yield the bytes of every file and, in a git repository, of every object, reachable or not."""
    if (store / "HEAD").exists():
        with Repo(str(store)) as repo:
            for sha in repo.object_store:
                yield repo[sha].as_raw_string()
    for path in store.rglob("*"):
        if path.is_file():
            yield path.read_bytes()
    for loose in store.glob("objects/??/*"):
        yield zlib.decompress(loose.read_bytes())


def has_name(store: Path) -> bool:
    return any(NAME.encode() in content for content in contents(store))


@pytest.fixture
def service(store: Store, settings: Settings) -> SubmissionService:
    return SubmissionService(Queue(store), settings, REGISTRY)


def test_submit_stores_name_only_privately(service: SubmissionService, settings: Settings, store: Store) -> None:
    outcomes, _ = service.submit(Submission("tiny/image-text", ("ko-vqa", "ko-vdc"), share=True), KIM)
    assert [one.code for one in outcomes] == ["accepted", "accepted"]
    assert not has_name(Path(settings.store))
    assert has_name(Path(settings.private_store)), "the search finds the name in the private store"
    first, second = (Queue(store).get(row.key) for row in Queue(store).rows())
    assert first.submitted_by == second.submitted_by
    assert first.share
    assert Pseudonyms(settings).name_of(first.submitted_by) == NAME
    assert all(Pseudonyms(settings).belongs(request) for request in (first, second))
    assert first.owner_mark != second.owner_mark, "only the operator can see that both have the same owner"
    outcomes, _ = service.submit(Submission("tiny/image-text", ("ko-vqa",), precision="bfloat16"), KIM)
    assert [one.code for one in outcomes] == ["refused"], "the quota belongs to the person"


@pytest.mark.parametrize("name", ["tiny", NAME])
def test_request_hides_whether_submitter_owns_model(
    service: SubmissionService, settings: Settings, store: Store, name: str
) -> None:
    """Submit as the owner `tiny` and as a stranger: both records have the same fields in the same form."""
    service.submit(Submission("tiny/image-text", ("ko-vqa", "ko-vdc"), share=True), Submitter(name))
    for row in Queue(store).rows():
        request = Queue(store).get(row.key)
        assert re.fullmatch("[0-9a-f]{16}", request.owner_mark or "") and request.owner_mark != request.submitted_by
        assert request.share, "share is kept as submitted"
        assert Pseudonyms(settings).belongs(request) == (name == "tiny")
    assert len({Queue(store).get(row.key).owner_mark for row in Queue(store).rows()}) == 2


def test_find_or_make_returns_one_pseudonym_concurrently(settings: Settings) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: Pseudonyms(settings).find_or_make(NAME), range(8)))
    assert len(set(found)) == 1


def test_erase_removes_name_from_private_store(
    settings: Settings,
    store: Store,
    service: SubmissionService,
    settings_here: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    service.submit(Submission("tiny/image-text", ("ko-vqa",)), KIM)
    Pseudonyms(settings).find_or_make("another")
    key = Queue(store).rows()[0].key
    assert main(["submitter", key]) == 0 and NAME in capsys.readouterr().out
    assert main(["erase", NAME]) == 0 and "erased" in capsys.readouterr().out
    assert not has_name(Path(settings.private_store))
    assert main(["submitter", key]) == 0 and "unknown" in capsys.readouterr().out
    assert main(["erase", NAME]) == 2 and "nothing under that name" in capsys.readouterr().err
    pseudonyms = Pseudonyms(settings)
    assert pseudonyms.find("another"), "other names are kept"
    assert pseudonyms.find_or_make(NAME) != Queue(store).get(key).submitted_by


def test_erase_keeps_used_quota(service: SubmissionService, settings: Settings, private: PrivateStore) -> None:
    now = datetime.now(UTC)
    kim = Submitter(NAME)
    service.submit(Submission("tiny/image-text", ("ko-vqa",)), kim)
    assert Pseudonyms(settings).erase(NAME, now)
    assert not has_name(Path(settings.private_store))
    (outcome,), _ = service.submit(Submission("tiny/image-text", ("ko-vqa",), precision="bfloat16"), kim)
    assert outcome.code == "refused" and outcome.refusals[0].name == "quota"
    (other,), _ = service.submit(Submission("tiny/image-text", ("ko-vqa",), precision="bfloat16"), Submitter("lee"))
    assert other.code == "accepted"
    forget_erased(private, now)
    assert Pseudonyms(settings).erased_pseudonyms(NAME, now), "the erased name still counts within the window"
    later = now + settings.quota_window
    assert not Pseudonyms(settings).erased_pseudonyms(NAME, later)
    forget_erased(private, later)
    assert not private.paths("erased")


def test_name_of_ignores_broken_record(settings: Settings, private: PrivateStore) -> None:
    pseudonyms = Pseudonyms(settings)
    broken = pseudonyms.find_or_make(NAME)
    other = pseudonyms.find_or_make("another")
    private.write(next(path for path in private.paths("people") if NAME.encode() in private.read(path)), b"{")
    assert pseudonyms.name_of(other) == "another" and pseudonyms.name_of(broken) is None
    assert pseudonyms.find_or_make(NAME) != broken


@pytest.mark.parametrize("name", ["\udcff\udcfe", "two\nlines", "x" * 201])
def test_commands_reject_unprintable_name(name: str, settings_here: None, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["submit", "tiny/image-text", "--benchmark", "ko-vqa", "--as", name], ["erase", name]):
        assert main(command) == 2
        assert "all printable" in capsys.readouterr().err


def test_commands_reject_private_store_as_public_store(
    environment: dict[str, str],
    settings_here: None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    private = environment["HANNUN_PRIVATE_STORE"]
    usual_queue = f"{private}-evaluations.git"
    for written in (private, f"file://{private}", f"{private}/", usual_queue):
        assert main(["--store", written, "list"]) == 2
        assert "is private" in capsys.readouterr().err
    named_queue = f"{private}-queue"
    monkeypatch.setenv("HANNUN_PRIVATE_QUEUE", named_queue)
    assert main(["--store", named_queue, "list"]) == 2
    assert "is private" in capsys.readouterr().err
