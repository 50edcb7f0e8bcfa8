"""A submitter's name stands in the private store only, and can be erased there."""

import re
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dulwich.repo import Repo

from evaluator.engines.registry import REGISTRY
from submissions.__main__ import main
from submissions.checks.submit import Submission, SubmissionService
from submissions.config.settings import Settings
from submissions.queue.pseudonyms import Pseudonyms, forget_erased
from submissions.queue.queue import Queue
from submissions.queue.quota import Submitter
from submissions.store.base import Store
from submissions.store.private import PrivateStore

NAME = "kim-who-submits"
KIM = Submitter(NAME, frozenset({"tiny"}))


def contents(store: Path) -> Iterator[bytes]:
    """The bytes of every file, and of every object where it is a git repository, reachable or not."""
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


def test_the_name_is_in_no_public_object(service: SubmissionService, settings: Settings) -> None:
    outcomes, _ = service.submit(Submission("tiny/image-text", ("ko-vqa", "ko-vdc"), share=True), KIM)
    assert [one.code for one in outcomes] == ["accepted", "accepted"]
    assert not has_name(Path(settings.store))
    assert has_name(Path(settings.private_store)), "the search finds it where it is"


def test_a_person_and_an_organisation_keep_their_pseudonyms(
    service: SubmissionService, settings: Settings, store: Store
) -> None:
    service.submit(Submission("tiny/image-text", ("ko-vqa", "ko-vdc"), share=True), KIM)
    first, second = (Queue(store).get(row.key) for row in Queue(store).rows())
    assert first.submitted_by == second.submitted_by
    assert first.share
    assert Pseudonyms(settings).name_of(first.submitted_by) == NAME
    assert all(Pseudonyms(settings).belongs(request) for request in (first, second))
    assert first.organisation != second.organisation, "only the operator sees that both are of one owner"
    outcomes, _ = service.submit(Submission("tiny/image-text", ("ko-vqa",), precision="bfloat16"), KIM)
    assert [one.code for one in outcomes] == ["refused"], "the quota is this person's"


@pytest.mark.parametrize("name", ["tiny", NAME])
def test_record_does_not_show_whether_the_submitter_owns_the_model(
    service: SubmissionService, settings: Settings, store: Store, name: str
) -> None:
    """Of `tiny`, a person who submits a model of their own, and of a stranger: the same fields of the same form."""
    service.submit(Submission("tiny/image-text", ("ko-vqa", "ko-vdc"), share=True), Submitter(name))
    for row in Queue(store).rows():
        request = Queue(store).get(row.key)
        assert re.fullmatch("[0-9a-f]{16}", request.organisation or "") and request.organisation != request.submitted_by
        assert request.share, "as it was asked for"
        assert Pseudonyms(settings).belongs(request) == (name == "tiny")
    assert len({Queue(store).get(row.key).organisation for row in Queue(store).rows()}) == 2


def test_many_at_once_get_one_pseudonym(settings: Settings) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: Pseudonyms(settings).find_or_make(NAME), range(8)))
    assert len(set(found)) == 1


def test_an_erased_name_is_in_no_file_of_the_private_store(
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
    assert pseudonyms.find("another"), "who did not ask is still known"
    assert pseudonyms.find_or_make(NAME) != Queue(store).get(key).submitted_by


def test_erased_person_gets_no_fresh_quota(
    service: SubmissionService, settings: Settings, private: PrivateStore
) -> None:
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
    assert Pseudonyms(settings).former(NAME, now), "within the window it counts"
    later = now + settings.quota_window
    assert not Pseudonyms(settings).former(NAME, later)
    forget_erased(private, later)
    assert not private.paths("erased")


def test_one_broken_record_hides_no_other_name(settings: Settings, private: PrivateStore) -> None:
    pseudonyms = Pseudonyms(settings)
    own, other = pseudonyms.find_or_make(NAME), pseudonyms.find_or_make("another")
    private.write(next(path for path in private.paths("people") if NAME.encode() in private.read(path)), b"{")
    assert pseudonyms.name_of(other) == "another" and pseudonyms.name_of(own) is None
    assert pseudonyms.find_or_make(NAME) != own


@pytest.mark.parametrize("name", ["\udcff\udcfe", "two\nlines", "x" * 201])
def test_a_name_that_is_no_text_is_refused_in_one_line(
    name: str, settings_here: None, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["submit", "tiny/image-text", "--benchmark", "ko-vqa", "--as", name], ["erase", name]):
        assert main(command) == 2
        assert "can be printed" in capsys.readouterr().err


def test_the_private_store_cannot_be_named_as_the_public_one(
    environment: dict[str, str], settings_here: None, capsys: pytest.CaptureFixture[str]
) -> None:
    private = environment["HANNUN_PRIVATE_STORE"]
    for written in (private, f"file://{private}", f"{private}/"):
        assert main(["--store", written, "list"]) == 2
        assert "is the private store" in capsys.readouterr().err
