"""Test that the doctor finds each of many planted faults, names it in one line, and finds none on a good machine."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse
from huggingface_hub import HfApi
from starlette.middleware.base import RequestResponseEndpoint

from app import main
from evaluator.core.errors import SandboxError
from leaderboard.data.live_board import LiveBoard
from leaderboard.web.late_app import LateApp
from leaderboard.web.operations import operations
from scripts.support.hub.repos import TOKEN, Hub
from scripts.support.hub.server import serve
from submissions.config.paths import SAMPLES
from submissions.config.settings import load_settings
from submissions.queue.heartbeats import Heartbeats
from submissions.store.open import open_store
from tests.support.cli import Done, in_process
from tests.support.slow import every_nth

pytestmark = pytest.mark.integration

Doctor = Callable[..., Done]


@pytest.fixture
def doctor(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Doctor:
    for name in [name for name in os.environ if name.startswith(("HANNUN_", "OAUTH_")) or name == "SPACE_ID"]:
        monkeypatch.delenv(name)

    def run(*arguments: str, **settings: str) -> Done:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        return in_process(environment | settings, monkeypatch, capsys, main)("doctor", *arguments)

    return run


def faults_of(done: Done) -> list[str]:
    return [line for line in done.stdout.splitlines() if line.startswith("FAULT")]


@pytest.mark.slow
def test_doctor_finds_no_fault_on_good_machine(doctor: Doctor) -> None:
    done = doctor()
    assert (done.returncode, faults_of(done)) == (0, []), done.stdout
    assert "a tiny model was evaluated" in done.stdout and done.stdout.endswith("no faults\n")


class Planted:
    """The place in which a fault is planted: settings, files and servers of one test."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.settings: dict[str, str] = {}
        self.arguments: list[str] = []
        self.servers: list[FastAPI] = []


def _setting(**settings: str) -> Callable[[Planted], None]:
    return lambda planted: planted.settings.update(settings)


def _read_only(name: str) -> Callable[[Planted], None]:
    def plant(planted: Planted) -> None:
        (planted.folder / "file").touch()
        planted.settings[name] = str(planted.folder / "file/store")

    return plant


def _data(change: Callable[[Path], object], name: str = "ko-vdc", split: str = "") -> Callable[[Planted], None]:
    def plant(planted: Planted) -> None:
        folder = shutil.copytree(SAMPLES / name, planted.folder / "data")
        (folder / "canary.txt").write_text("HANNUN CANARY 1\n")
        change(folder)
        planted.settings["HANNUN_DATA"] = json.dumps({name: f"{folder}{split}"})

    return plant


def _api(answer: Callable[[], Response], **options: Any) -> Callable[[Planted], None]:
    def plant(planted: Planted) -> None:
        app = FastAPI()

        @app.get("/v1/models")
        def models() -> Response:
            return answer()

        planted.servers.append(app)
        api = {"model_id": "google/gemini", "base_url": "ADDRESS/v1", "model": "gemini", **options}
        planted.settings["HANNUN_APIS"] = json.dumps({"gemini": api})

    return plant


def _together(*plants: Callable[[Planted], None]) -> Callable[[Planted], None]:
    def plant(planted: Planted) -> None:
        for one in plants:
            one(planted)

    return plant


def _proxy(
    *, health: int = 200, healthy: bool = True, shows_metrics: bool = False, sign_in: str | None = None
) -> Callable[[Planted], None]:
    """Serve what the proxy of a board answers, with the place that `sign_in` sends visitors to."""

    def plant(planted: Planted) -> None:
        app = FastAPI()

        @app.get("/{path:path}")
        def page(path: str, request: Request) -> Response:
            if path == "healthz" and healthy:
                return PlainTextResponse("ok\n", health)
            if path == "login/huggingface" and sign_in == "unreachable":
                return PlainTextResponse("the provider does not answer", 503)
            if path == "login/huggingface" and sign_in:
                return RedirectResponse(sign_in)
            return PlainTextResponse("hannun_requests 1\n", 200 if shows_metrics else 403)

        planted.servers.append(app)
        planted.arguments += ["--address", "ADDRESS"]
        planted.settings |= {"FORWARDED_ALLOW_IPS": "127.0.0.1"}

    return plant


def _patched(name: str, value: Any) -> Callable[[Planted], None]:
    return lambda planted: planted.monkeypatch.setattr(name, value)


def _no_sandbox() -> str:
    raise SandboxError("the sandbox cannot be built in this docker container (bwrap: x); --security-opt seccomp=FILE")


def _without_address(planted: Planted) -> None:
    _proxy()(planted)
    del planted.settings["FORWARDED_ALLOW_IPS"]


FAULTS: dict[str, tuple[Callable[[Planted], None], str]] = {
    "invalid setting": (_setting(HANNUN_PORT="x"), "settings: setting HANNUN_PORT"),
    "misspelt setting": (_setting(HANNUN_STROE="x"), "HANNUN_STROE is not a setting"),
    "malformed server command": (_setting(HANNUN_SERVER="A=b vllm"), "setting HANNUN_SERVER"),
    "store cannot be created": (_read_only("HANNUN_STORE"), "store: "),
    "store of another kind": (_setting(HANNUN_STORE="s3://bucket/x"), "s3://bucket/x is not a store"),
    "private store cannot be created": (_read_only("HANNUN_PRIVATE_STORE"), "private store: "),
    "work folder is a file": (_read_only("HANNUN_WORK_DIR"), "work folder: "),
    "a space before an address": (_setting(HANNUN_STORE=" hf://datasets/org/store"), "begins or ends with a space"),
    "one place for both stores": (_setting(HANNUN_STORE="/tmp/x", HANNUN_PRIVATE_STORE="/tmp/x/"), "two stores"),
    "stores of a Space that do not last": (_setting(SPACE_ID="org/board", HANNUN_AUTH="off"), "ephemeral: "),
    "sign-in without variables": (_setting(HANNUN_AUTH="oauth"), "sign-in: HANNUN_AUTH=oauth needs OAUTH_CLIENT_ID"),
    "data folder is missing": (_setting(HANNUN_DATA='{"ko-vdc": "/no/such"}'), "data: ko-vdc"),
    "data is not JSON": (_data(lambda folder: (folder / "items.jsonl").write_text("{")), "data: ko-vdc"),
    "data is not whole": (_data(lambda folder: None), "instead of 200"),
    "data without canary": (_data(lambda folder: (folder / "canary.txt").unlink(), split="#part"), "no canary.txt"),
    "data abroad": (_setting(HANNUN_DATA='{"ko-vqa": "hf://datasets/org/set"}'), "the Hub is abroad"),
    "disk is full": (_patched("evaluator.doctor.machine.MIN_DISK_BYTES", 10**18), "disk: "),
    "little memory": (_patched("evaluator.doctor.machine.memory_bytes", lambda: 512_000_000), "memory: 0.5 GB"),
    "no sandbox": (_patched("evaluator.doctor.machine.try_sandbox", _no_sandbox), "in this docker container"),
    "other versions": (_patched("evaluator.doctor.machine.version", lambda name: "0.0.1"), "packages differ"),
    "API key is missing": (_api(lambda: JSONResponse({}), key="GEMINI_KEY"), "GEMINI_KEY is not set"),
    "API key is not ASCII": (
        _together(_setting(GEMINI_KEY="sk-키"), _api(lambda: JSONResponse({}), key="GEMINI_KEY")),
        "api gemini: the variable GEMINI_KEY has characters",
    ),
    "API rejects the key": (_api(lambda: JSONResponse({}, 401)), "answers 401"),
    "API has no such model": (_api(lambda: JSONResponse({"data": [{"id": "other"}]})), "no model gemini"),
    "API is a web page": (_api(lambda: PlainTextResponse("<html>")), "without a list of models"),
    "private store in the public one": (
        _setting(HANNUN_STORE="/tmp/hannun-x", HANNUN_PRIVATE_STORE="/tmp/hannun-x/private"),
        "lie one inside the other",
    ),
    "API is down": (
        _setting(HANNUN_APIS='{"a": {"model_id": "o/a", "base_url": "http://127.0.0.1:9/v1", "model": "a"}}'),
        "does not answer",
    ),
    "proxy leads elsewhere": (_proxy(healthy=False), "not the board's ok"),
    "the proxy reaches no board": (_proxy(health=502), "does not reach the board (502)"),
    "no certificate that counts": (
        lambda planted: planted.arguments.extend(["--address", "https://127.0.0.1:9"]),
        "does not answer: ",
    ),
    "models folder is not mounted": (_setting(HANNUN_MODELS_DIR="/no/such"), "HANNUN_MODELS_DIR=/no/such is no folder"),
    "metrics are public": (_proxy(shows_metrics=True), "/metrics can be read by everybody"),
    "visitors have one address": (_without_address, "share its rate limits"),
    "nobody answers": (
        lambda planted: planted.arguments.extend(["--address", "http://127.0.0.1:9"]),
        "does not answer",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_doctor_finds_fault(name: str, doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, message = FAULTS[name]
    planted = Planted(tmp_path, monkeypatch)
    plant(planted)
    with _served(planted):
        done = doctor("--quick", *planted.arguments, **planted.settings)
    assert done.returncode == 1 and any(message in line for line in faults_of(done)), done.stdout + done.stderr
    lines = done.stdout.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("FAULT"):
            assert lines[number + 1].startswith("       → "), "each fault has its remedy"
    assert "Traceback" not in done.stdout + done.stderr and "report this as an issue" not in done.stdout


def test_doctor_does_not_call_settings_valid_beside_their_fault(doctor: Doctor) -> None:
    valid = "all HANNUN_* variables are known and valid"
    assert valid in doctor("--quick").stdout
    assert valid not in doctor("--quick", HANNUN_MODELS_DIR="/no/such").stdout


@contextmanager
def _served(planted: Planted) -> Iterator[None]:
    """Serve the planted servers, and put their address where it is wanted."""
    if not planted.servers:
        yield
        return
    with serve(planted.servers[0]) as address:
        planted.settings = {name: value.replace("ADDRESS", address) for name, value in planted.settings.items()}
        planted.arguments = [argument.replace("ADDRESS", address) for argument in planted.arguments]
        yield


def _sign_in_line(planted: Planted, doctor: Doctor) -> str:
    """Return what the doctor says of the sign-in of a planted proxy."""
    with _served(planted):
        done = doctor("--quick", *planted.arguments, **planted.settings)
    (line,) = (line for line in done.stdout.splitlines() if "sign-in: " in line)
    return line


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("https://huggingface.co/oauth/authorize", "asks visitors to sign in"),
        ("/login/huggingface/again", "HANNUN_AUTH=off on a board that others can reach"),
        (None, "HANNUN_AUTH=off on a board that others can reach"),
        ("unreachable", "answers 503"),
    ],
)
def test_worker_asks_board_whether_visitors_sign_in(
    place: str | None, said: str, doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker's container does not have the settings of the board."""
    monkeypatch.setattr("evaluator.doctor.board.is_this_machine", lambda address: False)
    planted = Planted(tmp_path, monkeypatch)
    _proxy(sign_in=place)(planted)
    line = _sign_in_line(planted, doctor)
    assert said in line and line.startswith("FAULT") == ("HANNUN_AUTH" in said)


@pytest.mark.parametrize(("sign_in", "is_fault"), [("https://huggingface.co/oauth/authorize", False), (None, True)])
def test_worker_asks_board_behind_redirect(
    sign_in: str | None, is_fault: bool, doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The redirect from one name of the board to another is not taken for one to the provider."""
    monkeypatch.setattr("evaluator.doctor.board.is_this_machine", lambda address: False)
    planted = Planted(tmp_path, monkeypatch)
    _proxy(sign_in=sign_in)(planted)

    @planted.servers[0].middleware("http")
    async def to_localhost(request: Request, call_next: RequestResponseEndpoint) -> Response:
        if request.url.hostname == "127.0.0.1":
            return RedirectResponse(str(request.url.replace(hostname="localhost")), 301)
        return await call_next(request)

    assert _sign_in_line(planted, doctor).startswith("FAULT") == is_fault


@pytest.mark.parametrize(("path", "status", "said"), [("/board", 200, "asks visitors"), ("", 401, "answers 401")])
def test_worker_asks_board_below_a_path_or_a_password(
    path: str, status: int, said: str, doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluator.doctor.board.is_this_machine", lambda address: False)
    planted = Planted(tmp_path, monkeypatch)
    _proxy(sign_in="https://huggingface.co/oauth/authorize")(planted)
    planted.arguments = [argument.replace("ADDRESS", f"ADDRESS{path}") for argument in planted.arguments]

    @planted.servers[0].middleware("http")
    async def below_path(request: Request, call_next: RequestResponseEndpoint) -> Response:
        if status != 200 or not request.url.path.startswith(path):
            return Response(status_code=status if status != 200 else 404)
        request.scope["path"] = request.url.path.removeprefix(path)
        return await call_next(request)

    line = _sign_in_line(planted, doctor)
    assert said in line and not line.startswith("FAULT")


@pytest.mark.slow
@pytest.mark.parametrize("server", ["no-such-program {model} {port}", "false {model} {port}"])
def test_doctor_starts_server(server: str, doctor: Doctor) -> None:
    done = doctor(HANNUN_SERVER=server)
    assert done.returncode == 1 and any("server: a tiny model cannot be evaluated" in line for line in faults_of(done))
    assert "evaluation: a tiny model was evaluated" in done.stdout, "the built-in engine works"


def test_doctor_reports_check_that_never_ends(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.doctor.machine.version", lambda name: Event().wait())
    monkeypatch.setattr("evaluator.doctor.examine.CHECK_SECONDS", 2.0)
    done = doctor("--quick")
    assert done.returncode == 1 and "FAULT  versions: no answer within 2 s" in done.stdout
    assert "sign-in: " in done.stdout, "the other checks go on"


def test_doctor_finds_failing_evaluation(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.doctor.models.TINY_MODELS", "scripts.no_such_program")
    assert any("evaluation: no tiny model" in line for line in faults_of(doctor()))


ON_HUB = {"HANNUN_STORE": "hf://datasets/org/store", "HANNUN_PRIVATE_STORE": "hf://buckets/org/private"}
HUB_FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "no token": ({"token": ""}, "HANNUN_HUB_TOKEN is not set"),
    "wrong token": ({"token": "hf_wrong"}, "HANNUN_HUB_TOKEN: the Hub answers 401"),
    "token may only read": ({"dataset": "read"}, "writing dataset org/store: the Hub answers 403"),
    "token may not see the bucket": ({"bucket": "none"}, "bucket org/private: the Hub answers 404"),
    "dataset is private": ({"private": "org/store"}, "org/store is private"),
    "wrong token for models": ({"download_token": "hf_wrong"}, "HF_TOKEN: the Hub answers 401"),
    "bucket is public": ({"public": "buckets/org/private"}, "is public"),
    "clock is wrong": ({"clock": 1_000_000_000}, "clock differs"),
    "static Space with a secret": ({"static": True}, "the static Space org/files has HANNUN_HUB_TOKEN"),
}


@pytest.fixture
def on_hub(hub: Hub, bucket: str) -> Hub:
    hub.public.add("org/store")
    return hub


@pytest.mark.parametrize("name", every_nth(HUB_FAULTS, 3))
def test_doctor_finds_fault_on_hub(
    name: str, on_hub: Hub, doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes, message = HUB_FAULTS[name]
    settings = ON_HUB | {"HANNUN_HUB_TOKEN": changes.get("token", TOKEN)}
    if "dataset" in changes:
        on_hub.grants[TOKEN, "org/store"] = changes["dataset"]
    if "bucket" in changes:
        on_hub.grants[TOKEN, "buckets/org/private"] = changes["bucket"]
    if "public" in changes:
        on_hub.public.add(changes["public"])
    if "private" in changes:
        on_hub.public.discard(changes["private"])
    if "download_token" in changes:
        settings["HF_TOKEN"] = changes["download_token"]
    if "clock" in changes:

        class Early(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
                return datetime.fromtimestamp(changes["clock"], UTC)

        monkeypatch.setattr("evaluator.doctor.stores.datetime", Early)
    if "static" in changes:
        api = HfApi(os.environ["HF_ENDPOINT"], TOKEN)
        api.create_repo("org/files", repo_type="space", space_sdk="static")
        api.add_space_secret("org/files", "HANNUN_HUB_TOKEN", TOKEN)
        settings["HANNUN_STATIC"] = "hf://spaces/org/files"
    done = doctor("--quick", **settings)
    assert done.returncode == 1 and any(message in line for line in faults_of(done)), done.stdout + done.stderr
    assert TOKEN not in done.stdout + done.stderr


def test_doctor_finds_nothing_on_good_hub(on_hub: Hub, doctor: Doctor) -> None:
    head = on_hub.store("org/store").head()
    done = doctor("--quick", **ON_HUB, HANNUN_HUB_TOKEN=TOKEN)
    assert done.returncode == 0, done.stdout
    for line in ("may write dataset org/store", "may read bucket org/private", "can be read and written"):
        assert line in done.stdout
    store = on_hub.store("org/store")
    assert store.head() != head and not [e for e in store.entries(store.head(), recursive=True) if "doctor" in e.path]


def test_doctor_prints_json(doctor: Doctor) -> None:
    findings = json.loads(doctor("--json", "--quick").stdout)
    assert {"check", "state", "said", "remedy"} == {*findings[0]} and all(f["state"] != "fault" for f in findings)


def test_board_knows_last_diagnosis(doctor: Doctor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    doctor("--quick", HANNUN_STROE="x")
    settings = load_settings()
    heartbeats = Heartbeats(settings)
    diagnosis = heartbeats.diagnosis()
    assert diagnosis and diagnosis.faults == ["settings: HANNUN_STROE is not a setting"]
    board = LiveBoard(open_store(settings.store, settings), heartbeats)
    board.workers.try_begin([])
    board.workers.refresh()
    app = FastAPI()
    app.include_router(operations(board, LateApp(FastAPI), tmp_path))
    from starlette.testclient import TestClient

    assert 'hannun_doctor_faults{host="' in TestClient(app).get("/metrics").text


SECRET_PLACES: dict[str, dict[str, str]] = {
    "line break after the token": {"HANNUN_HUB_TOKEN": f"{TOKEN}\n", **ON_HUB},
    "line break inside": {"HANNUN_HUB_TOKEN": f"{TOKEN}\nsecret-rest", **ON_HUB},
    "letters of no token": {"HANNUN_HUB_TOKEN": "secret-토큰", **ON_HUB},
    "password in the store's address": {"HANNUN_STORE": "https://user:secret-word@127.0.0.1:9/store"},
    "password in the address of the private store": {"HANNUN_PRIVATE_STORE": "ftp://user:secret-word@127.0.0.1:9/x"},
    "password in an API's address": {
        "HANNUN_APIS": '{"a": {"model_id": "o/a", "base_url": "http://user:secret-word@127.0.0.1:9/v1", "model": "a"}}'
    },
    "data token": {"HANNUN_DATA_TOKEN": "secret\nword", "HANNUN_DATA": '{"korquad-2": "hf://datasets/org/store"}'},
}


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize("place", every_nth(SECRET_PLACES, 2))
def test_doctor_prints_no_secret(place: str, form: tuple[str, ...], on_hub: Hub, doctor: Doctor) -> None:
    done = doctor("--quick", *form, **SECRET_PLACES[place])
    said = done.stdout + done.stderr
    assert TOKEN not in said and "secret-" not in said and "secret\n" not in said, said
    assert "Traceback" not in said
