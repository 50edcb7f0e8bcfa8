"""Test the Hub store under every kind of Hub failure, with the real client over HTTP."""

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.responses import Response, StreamingResponse
from huggingface_hub import set_client_factory

from scripts.support.hub.repos import TOKEN, Fault, Hub
from scripts.support.hub.server import serve
from scripts.support.records import NOW, Make, published, result_of
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.store import retry_after as backoff
from submissions.store import time_limits
from submissions.store.hub import HubStore
from submissions.store.index import board_reader, queue_reader
from submissions.store.open import open_private_store, open_store
from submissions.texts.errors import ConflictError, StoreError, StoreUnavailableError

URL = "hf://datasets/org/store"


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Retry without waiting, and give up early on a server that hangs."""
    monkeypatch.setattr(backoff, "LONGEST_WAIT", 0.01)
    monkeypatch.setattr(time_limits, "TIMEOUT", 1.0)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
    set_client_factory(time_limits.client)
    yield
    monkeypatch.undo()
    set_client_factory(time_limits.client)


CALLS = {
    "refs": r"GET /api/datasets/org/store/refs",
    "git refs": r"GET /datasets/org/store.*/info/refs",
    "git pack": r"POST /datasets/org/store.*/git-upload-pack",
    "preupload": r"POST /api/datasets/org/store/preupload",
    "file": r"GET /datasets/org/store/resolve/",
    "commit": r"POST /api/datasets/org/store/commit",
}
FAULTS: dict[str, dict[str, Any]] = {
    "409": {"status": 409},
    "412": {"status": 412},
    "429": {"status": 429},
    "429 with Retry-After": {"status": 429, "headers": {"Retry-After": "0"}},
    "429 with RateLimit": {"status": 429, "headers": {"RateLimit": '"api";r=0;t=0'}},
    "500": {"status": 500},
    "500 after commit landed": {"status": 500, "landed": True},
    "503 twice": {"status": 503, "times": 2},
    "truncated body": {"cut": True},
    "hangs": {"hang": True},
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", CALLS)
def test_queue_survives_fault_at_every_call(
    hub: Hub, heartbeats: Heartbeats, make_request: Make, call: str, fault: str
) -> None:
    """Submit, claim, keep alive and publish exactly once; a step that fails clearly succeeds when repeated."""
    hub.faults = [Fault(CALLS[call], **FAULTS[fault])]
    request = make_request()
    steps: list[Callable[[], object]] = [
        lambda: Queue(open_store(URL)).submit(request),
        lambda: Queue(open_store(URL)).claim("w", NOW),
        lambda: Queue(open_store(URL), heartbeats=heartbeats).heartbeat(Queue(open_store(URL)).get(request.key), NOW),
        lambda: Queue(open_store(URL)).publish(
            running := Queue(open_store(URL)).get(request.key), result_of(running), NOW
        ),
    ]
    for step in steps:
        try:
            step()
        except StoreError as error:  # the error is one line, and a second attempt succeeds
            assert "\n" not in str(error) and URL in str(error)
            step()
    assert not hub.faults[0].times, "the fault occurred"
    store = open_store(URL)
    snapshot = store.snapshot()
    assert [row.status for row in queue_reader(store).read(snapshot)[0]] == ["finished"]
    assert len(board_reader(store).read(snapshot)[0]) == 1
    messages = [c.message.splitlines()[0] for c in store.history(snapshot.head)]
    assert messages[:3] == [f"Publish {request.key}", f"Claim {request.key}", f"Submit {request.key}"]
    assert len(messages) == 4, "the Hub made the first commit, and no step was done twice"


def test_revoked_token_raises_without_retry(hub: Hub) -> None:
    store = open_store(URL)
    head = store.head()
    hub.tokens.clear()
    before = len(hub.seen)
    for work in (store.head, lambda: store.commit({"a": b"1"}, head, "x"), open_store(URL).snapshot):
        with pytest.raises(StoreError, match="HANNUN_HUB_TOKEN"):
            work()
    assert len(hub.seen) - before <= 4, "there is no retry"


def test_commit_deletes_files_of_a_parent_that_is_not_in_the_mirror(hub: Hub, tmp_path: Path) -> None:
    """Another process may have cleared the mirror since the caller took its snapshot."""
    store = open_store(URL)
    parent = store.commit({"a": b"1", "b": b"2"}, store.head(), "two files")
    stores = [HubStore(URL, tmp_path / name, lambda: TOKEN) for name in ("first", "late")]
    head = stores[0].commit({"a": None, "gone": None, "c": b"3"}, parent, "another mirror")
    assert {"b", "c"} <= store.snapshot(head).files.keys() and "a" not in store.snapshot(head).files
    with pytest.raises(ConflictError):
        stores[1].commit({"b": None}, parent, "on a parent that is not the newest commit")
    assert store.head() == head


def test_file_outside_git_is_read_after_many_were_fetched(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git sends a pointer in the place of a large file."""
    large = random.Random(0).randbytes(11 * 2**20)
    head = open_store(URL).commit({"large": large, "small": b"1"}, open_store(URL).head(), "two files")
    monkeypatch.setattr("submissions.store.hub.MAX_SINGLE_FILES", 1)
    store = HubStore(URL, tmp_path / "mirror", lambda: TOKEN)
    store.prefetch(["large", "small"], store.snapshot(head))
    assert store.read("large", head) == large and store.read("small", head) == b"1"


def test_commit_gives_up_if_hub_stays_down(hub: Hub) -> None:
    store = open_store(URL)
    head = store.head()
    hub.faults = [Fault(".", status=503, times=10_000)]
    with pytest.raises(StoreUnavailableError, match="try again later"):
        store.commit({"a": b"1"}, head, "x")
    hub.faults = []
    assert store.head() == head


def test_commit_recognises_its_late_commit(hub: Hub) -> None:
    """Lose the response, hide the commit from the next look and refuse the retry: the commit still counts."""
    store = open_store(URL)
    start = store.head()

    class Lagging(type(store)):  # type: ignore[misc]
        looks = 0

        def head(self) -> str:
            self.looks += 1
            return start if self.looks == 1 else super().head()

    lagging = open_store(URL)
    lagging.__class__ = Lagging
    hub.faults = [Fault(CALLS["commit"], status=500, landed=True)]
    head = lagging.commit({"a": b"1"}, start, "x")
    assert hub.commits == 1 and store.head() == head


@pytest.mark.parametrize("status", [409, 412])
def test_permanent_refusal_names_rights(hub: Hub, make_request: Make, status: int) -> None:
    """No race is lost for ever while nobody else commits."""
    hub.faults = [Fault(CALLS["commit"], status=status, times=10_000)]
    with pytest.raises(StoreError, match="nobody else commits; give the token in HANNUN_HUB_TOKEN the right") as caught:
        Queue(open_store(URL)).submit(make_request())
    assert "\n" not in str(caught.value)
    assert 10_000 - hub.faults[0].times <= 10, "it gives up after a few tries"


def test_few_refusals_are_races(hub: Hub, make_request: Make) -> None:
    hub.faults = [Fault(CALLS["commit"], status=412, times=3)]
    Queue(open_store(URL)).submit(make_request())
    assert len(queue_reader(store := open_store(URL)).read(store.snapshot())[0]) == 1


@pytest.mark.parametrize("answer", [200, 500])
def test_commit_on_newer_parent_is_decided_again(hub: Hub, make_request: Make, answer: int) -> None:
    """The Hub stores the claim of a second worker on the claim of the first: only the first has the request."""
    request = make_request()
    Queue(open_store(URL)).submit(request)
    first = Queue(open_store(URL))
    second = Queue(open_store(URL))

    def claim_first() -> None:
        assert first.claim("first", NOW)

    hub.meanwhile, hub.stale_commits = claim_first, 1
    if answer != 200:
        hub.faults = [Fault(CALLS["commit"], status=answer, landed=True)]
    assert second.claim("second", NOW) is None
    held = Queue(open_store(URL)).get(request.key)
    assert held.lease is not None and held.lease.worker == "first"


@pytest.mark.slow
def test_board_reader_refresh_makes_few_requests(hub: Hub, make_request: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limits, "TIMEOUT", 60.0)
    request = make_request()
    record = json.loads(result_of(request).to_bytes())
    files: dict[str, bytes | None] = {}
    for number in range(10_000):
        key = f"{number:032x}"
        name = f"owner-{number % 50}/model-{number // 50 % 20}"
        row = record | {"request_key": key, "config": record["config"] | {"model_name": name}}
        files[f"results/{name}/{key}.json"] = json.dumps(row).encode()
    git = hub.store("org/store")
    git.commit(files, git.head(), "many")
    store = open_store(URL)
    reader = board_reader(store)
    assert len(reader.read(store.snapshot())[0]) == 10_000

    published(open_store(URL), request)
    before = len(hub.seen)
    assert len(reader.read(store.snapshot())[0]) == 10_001
    assert len(hub.seen) - before <= 4, hub.seen[before:]
    before = len(hub.seen)
    reader.read(store.snapshot())
    assert len(hub.seen) - before == 1, "one request if nothing has changed"


LOAD = """
import datasets
rows = datasets.load_dataset("org/store", data_files="index/board/korquad-2/**/*.jsonl", split="train")
print(sorted(metrics["em"] for metrics in rows["metrics"]))
"""


@pytest.mark.slow
def test_datasets_library_loads_results(hub: Hub, make_request: Make, tmp_path: Path) -> None:
    for em in (10.0, 20.0):
        published(open_store(URL), make_request(), em)
    variables = {"HF_HOME": str(tmp_path / "home"), "HF_TOKEN": TOKEN}  # both are read at import, so use a new process
    loaded = subprocess.run([sys.executable, "-c", LOAD], env=os.environ | variables, capture_output=True, text=True)
    assert loaded.stdout.strip() == "[10.0, 20.0]", loaded.stderr


@pytest.mark.parametrize("times", [1, 3, 100])
def test_commit_waits_for_lagging_git(hub: Hub, times: int) -> None:
    store = open_store(URL)
    head = store.head()
    store.snapshot()
    hub.lag = times
    if times < 10:
        landed = store.commit({"a": b"1"}, head, "x")
        assert store.read("a", landed) == b"1"
    else:
        with pytest.raises(StoreUnavailableError, match="out of reach"):
            store.commit({"a": b"1"}, head, "x")
    hub.lag = 0
    assert hub.commits == 1 and store.read("a", store.head()) == b"1"


@pytest.mark.parametrize("headers", [{"Retry-After": "3600"}, {"RateLimit": '"api";r=0;t=3600'}])
def test_commit_gives_up_on_long_retry_after(hub: Hub, headers: dict[str, str]) -> None:
    store = open_store(URL)
    head = store.head()
    hub.faults = [Fault(CALLS["commit"], status=429, headers=headers, times=10)]
    with pytest.raises(StoreUnavailableError, match="try again later"):
        store.commit({"a": b"1"}, head, "x")
    assert hub.faults[0].times == 9, "only one request was made"


def test_commit_error_quotes_hub_message(hub: Hub) -> None:
    store = open_store(URL)
    head = store.head()
    hub.faults = [Fault(CALLS["commit"], status=403)]
    with pytest.raises(StoreError, match="a fault on demand"):
        store.commit({"a": b"1"}, head, "x")


@pytest.mark.parametrize(
    "url", ["hf:/datasets/org/store", "hf:org/store", "HF:/x", "file:/x", "s3://bucket/x", "https://example.org/x"]
)
def test_open_store_rejects_unsupported_address(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match="is not a store"):
        open_store(url)
    assert not list(tmp_path.iterdir())


def test_token_file_is_read_again_by_open_stores(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HANNUN_HUB_TOKEN")
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    settings = Settings(store=URL, private_store=bucket, work_dir=tmp_path, hub_token_file=file)
    store = open_store(settings.store, settings)
    private = open_private_store(settings)
    store.commit({"requests/a.json": b"1"}, store.head(), "first")
    file.write_text("hf_revoked")
    with pytest.raises(StoreError, match="401"):
        store.commit({"requests/a.json": b"2"}, store.head(), "second")
    with pytest.raises(StoreError, match=r"40[134]"):
        private.write("leases/a.json", b"2")
    file.write_text(TOKEN)
    store.commit({"requests/a.json": b"3"}, store.head(), "third")
    assert store.read("requests/a.json", store.snapshot().head) == b"3"
    private.write("leases/a.json", b"3")
    assert private.read("leases/a.json") == b"3"


def test_head_gives_up_on_slow_response(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send single bytes, each well within the time-out of one read."""
    monkeypatch.setattr(time_limits, "RESPONSE_SECONDS", 0.3)
    ended = threading.Event()
    app = FastAPI()

    @app.get("/api/datasets/org/store/refs")
    def drip() -> Response:
        def body() -> Iterator[bytes]:
            while not ended.wait(0.05):
                yield b" "

        return StreamingResponse(body(), media_type="application/json")

    with serve(app) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        monkeypatch.setattr("submissions.store.hub.TRIES", 2)
        try:
            with pytest.raises(StoreUnavailableError, match="took more than"):
                open_store(URL).head()
        finally:
            ended.set()
