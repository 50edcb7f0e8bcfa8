"""Test that a private evaluation shows nowhere until its maker agrees, and leaves nothing behind after a withdrawal."""

import io
import json
import logging
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from fastapi.testclient import TestClient

from app import main
from evaluator.worker.loop import Worker
from leaderboard.data.live_board import LiveBoard
from leaderboard.edition.build import Edition, build
from leaderboard.pages.site_map import pages
from leaderboard.web.application import build_app
from scripts.support.engines import LetterEngine, use_engine
from scripts.support.records import unreachable
from submissions.config import logs
from submissions.config.setting_values import LaunchCommands
from submissions.config.settings import Settings, load_settings
from submissions.queue.open import open_queue
from submissions.records.request import Failure, Stage
from submissions.store.index import board_reader
from submissions.store.open import open_private_store, open_store
from submissions.texts.errors import RefusedError
from submissions.texts.failure_codes import FailureCode
from tests.evaluator.worker.test_loop import submit

pytestmark = pytest.mark.integration

MODEL = "tiny/secret-model"
NAME = "ko-vdc"
Run = Callable[..., int]


@pytest.fixture
def installation(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return the settings of an installation with the model MODEL and others, which this process uses too."""
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda command, policy: command)
    monkeypatch.setattr(logs, "_hidden_texts", set())
    use_engine(monkeypatch, LetterEngine)
    for name in ("secret-model", "public-model"):
        folder = shutil.copytree((settings.models_dir or Path()) / "tiny/image-text", tmp_path / "models/tiny" / name)
        with (folder / "README.md").open("a") as card:
            card.write(f"\nmodel {name}\n")
    variables = {
        "STORE": settings.store,
        "PRIVATE_STORE": settings.private_store,
        "WORK_DIR": str(settings.work_dir),
        "MODELS_DIR": str(tmp_path / "models"),
        "WORKER": "off",
    }
    for name, value in variables.items():
        monkeypatch.setenv(f"HANNUN_{name}", value)
    open_store(settings.store)  # creates it
    return load_settings()


@pytest.fixture
def run(installation: Settings) -> Run:
    """Return a function that runs a command of `python -m submissions` and returns its exit code."""

    def run(*arguments: str) -> int:
        return main(arguments)

    return run


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Return what programs log, formatted as they do."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.Redacting("%(name)s %(message)s", Settings()))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


def key_of(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the key that `submit` printed."""
    return next(line.split()[1] for line in capsys.readouterr().out.splitlines() if line.startswith("accepted"))


def submit_private(run: Run, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """Submit MODEL for a private evaluation and return the key."""
    assert run("submit", "--private", MODEL, "--benchmark", NAME, *options) == 0
    return key_of(capsys)


def git_contents(repository: str) -> bytes:
    """Return everything in a git repository: all objects, whether reachable or not."""
    command = ["git", "-C", repository, "cat-file", "--batch-all-objects", "--batch"]
    return subprocess.run(command, capture_output=True, check=True).stdout


def file_contents(folder: Path) -> Iterator[bytes]:
    """Yield the names and contents of all files below a folder."""
    for path in folder.rglob("*"):
        yield str(path.relative_to(folder)).encode()
        if path.is_file():
            yield path.read_bytes()


def counted(settings: Settings) -> dict[str, int]:
    """Return the sizes of the files that list everything the board has counted."""
    sizes = {}
    with TestClient(build_app(settings)) as client:
        for path in ("queue.json", "record.json"):
            sizes[path] = len(client.get(f"/{path}").content)
    return sizes


def board_contents(settings: Settings) -> Iterator[tuple[str, bytes]]:
    """Yield everything public by its address: the store, and all pages and files of the board."""
    yield "store", git_contents(settings.store)
    files = ["queue.json", "record.json", "errata.json", "unseen.csv", "feed.xml", "sitemap.xml", "metrics", "readyz"]
    files += [f"boards/{NAME}.{kind}" for kind in ("csv", "json", "parquet")]
    paths = [f"{prefix}{path}" for prefix in ("", "en/") for path in pages()]
    with TestClient(build_app(settings)) as client:
        for path in (*files, *paths):
            answer = client.get(f"/{path}")
            yield path, answer.content


def edition_contents(settings: Settings, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the static edition of the board."""
    # Without the results that others published, which take most of the time of an edition and hold nothing of the store.
    board = LiveBoard(open_store(settings.store), published=folder / "none")
    build(board, folder, Edition("https://board.example"))
    for content in file_contents(folder):
        yield "edition", content


def places_with(words: list[str], contents: Iterator[tuple[str, bytes]]) -> list[str]:
    return [place for place, content in contents if any(word.encode() in content for word in words)]


def test_private_evaluation_shows_nowhere_until_it_is_published(
    installation: Settings, run: Run, log: io.StringIO, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before = counted(installation)
    key = submit_private(run, capsys)
    words = [MODEL, "secret-model", key]
    assert places_with(words, board_contents(installation)) == []
    assert places_with(words, edition_contents(installation, tmp_path / "pending")) == []
    Worker(installation).run_pending()
    assert run("private") == 0 and f"{key}  finished" in capsys.readouterr().out
    assert places_with(words, board_contents(installation)) == []
    assert places_with(words, edition_contents(installation, tmp_path / "finished")) == []
    assert not any(word in log.getvalue() for word in words) and "[private]" in log.getvalue()
    assert counted(installation) == before, "nothing public has grown"
    assert not open_store(installation.store).snapshot().files

    assert run("publish", key) == 0
    rows = board_reader(open_store(installation.store)).read(open_store(installation.store).snapshot())[0]
    assert [(row.model, row.key) for row in rows] == [(MODEL, key)]
    found = places_with([MODEL], board_contents(installation))
    assert {NAME, f"en/{NAME}", "store", "feed.xml"} <= {*found}
    assert run("private") == 0 and key not in capsys.readouterr().out
    assert run("publish", key) == 2, "it is not private any more"


def test_failed_launch_does_not_name_a_private_evaluation(
    installation: Settings, run: Run, log: io.StringIO, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    key = submit_private(run, capsys)
    names = tmp_path / "names"
    start = f"echo {{name}} >> {names}; : {{command}}; false"
    commands = LaunchCommands(start=start, state="echo {job}", cancel="echo {job}")
    settings = installation.model_copy(update={"launcher": "command", "commands": commands})
    Worker(settings).run_pending()
    assert key[:12] not in names.read_text() and "hannun-private-" in names.read_text()
    assert key not in log.getvalue() and "[private]" in log.getvalue()


@pytest.mark.slow
def test_jobs_and_logs_of_a_launcher_do_not_name_a_private_evaluation(
    installation: Settings, run: Run, log: io.StringIO, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The job's command needs the key, which only the operator's scheduler sees."""
    key = submit_private(run, capsys)
    names = tmp_path / "names"
    commands = LaunchCommands(
        start=f"echo {{name}} >> {names}; sh -c {{command}} >&2; echo done",
        state="echo {job} >/dev/null",
        cancel="echo {job}",
    )
    soon = timedelta(milliseconds=100)
    settings = installation.model_copy(update={"launcher": "command", "commands": commands, "worker_every": soon})
    assert Worker(settings).run_pending() == 1
    assert key[:12] not in names.read_text() and "hannun-private-" in names.read_text()
    assert key not in log.getvalue() and "launched [private]" in log.getvalue()
    assert open_queue(installation, is_private=True).get(key).status == "finished"


def test_withdrawn_evaluation_leaves_nothing_behind(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    key = submit_private(run, capsys)
    Worker(installation).run_pending()
    assert run("withdraw", key) == 0
    queue = open_queue(installation, is_private=True)
    assert not queue.rows() and not board_reader(queue.store).read(queue.store.snapshot())[0]
    words = [MODEL.encode(), b"secret-model", key.encode()]
    contents = [
        git_contents(installation.store),
        git_contents(queue.store.url),
        *file_contents(Path(installation.private_store)),
        *file_contents(installation.work_dir),
    ]
    assert not [content[:200] for content in contents if any(word in content for word in words)]
    assert run("withdraw", key) == 2


@pytest.mark.slow
def test_withdrawal_leaves_nothing_of_a_record_in_an_older_pack(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = []
    for precision in ("float32", "bfloat16"):
        keys.append(submit_private(run, capsys, "--precision", precision))
    Worker(installation).run_pending()
    for key in keys:
        assert run("withdraw", key) == 0
    queue = open_queue(installation, is_private=True)
    content = git_contents(queue.store.url)
    assert not [word for word in (MODEL, *keys) if word.encode() in content]


def test_withdrawal_deletes_answers_while_the_model_waits_in_the_public_queue(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    key = submit_private(run, capsys)
    Worker(installation).run_pending()
    submit(installation, MODEL, NAME)
    assert run("withdraw", key) == 0
    assert not list(Path(installation.private_store).rglob(f"{key}.jsonl"))


def test_withdrawal_waits_while_the_model_is_evaluated_for_the_public(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    key = submit_private(run, capsys)
    Worker(installation).run_pending()
    submit(installation, MODEL, NAME)
    public = open_queue(installation)
    assert public.claim("a worker", public.store.now())
    assert run("withdraw", key) == 2 and "is running" in capsys.readouterr().err
    assert list(Path(installation.private_store).rglob(f"{key}.jsonl"))


def test_failed_private_evaluation_is_requeued(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    key = submit_private(run, capsys)
    queue = open_queue(installation, is_private=True)
    request = queue.claim("a worker", queue.store.now())
    assert request
    queue.fail(request, Failure(stage=Stage.LOAD, code=FailureCode.INVALID_WEIGHTS), queue.store.now())
    assert run("requeue", key) == 2, "it is not in the public queue"
    assert run("requeue", "--private", key) == 0
    assert queue.get(key).status == "pending"


def test_opt_out_deletes_pending_private_evaluations(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("submit", "--private", MODEL, "--benchmark", NAME) == 0
    assert run("opt-out", "tiny") == 0
    assert "1 pending requests" in capsys.readouterr().out
    assert not open_queue(installation, is_private=True).rows()


def test_private_evaluation_of_opted_out_model_is_not_run_again(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """The opt-out is in the public store, and came while the evaluation was running."""
    key = submit_private(run, capsys)
    queue = open_queue(installation, is_private=True)
    request = queue.claim("a worker", queue.store.now())
    assert request and run("opt-out", "tiny") == 0
    assert run("requeue", "--private", key) == 2 and "has opted out" in capsys.readouterr().err
    queue.release(request)
    assert queue.get(key).status == "pending"
    assert queue.claim("a worker", queue.store.now()) is None and not queue.rows()
    with pytest.raises(RefusedError, match="opted out"):
        queue.submit(request)


def test_opt_out_leaves_files_of_public_evaluation_that_is_running(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    key = submit_private(run, capsys)
    private = open_private_store(installation)
    private.write(f"answers/{key}.jsonl", b"{}")
    submit(installation, MODEL, NAME)
    public = open_queue(installation)
    assert public.claim("a worker", public.store.now())
    assert run("opt-out", "tiny") == 0, "the running evaluation does not stop it"
    assert not open_queue(installation, is_private=True).rows()
    assert private.paths("answers") == [f"answers/{key}.jsonl"]


@pytest.mark.parametrize("place", ["store.git/inside", "private/inside", "..", "/proc/store"])
def test_private_queue_in_another_store_is_refused(
    installation: Settings, run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    monkeypatch.setenv("HANNUN_PRIVATE_QUEUE", str(Path(installation.store).parent / place))
    assert main(["submit", "--private", MODEL, "--benchmark", NAME]) == 2
    error = capsys.readouterr().err
    assert "HANNUN_PRIVATE_QUEUE" in error or "is not a usable store" in error


def test_maker_gets_a_signed_result_that_stays_the_same_once_it_is_public(
    installation: Settings,
    run: Run,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signer = Ed25519PrivateKey.generate()
    pem = signer.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    monkeypatch.setenv("HANNUN_SIGNING_KEY", pem)
    public_key = tmp_path / "key.pem"
    public_key.write_bytes(signer.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    key = submit_private(run, capsys)
    assert run("private", key, "--out", str(tmp_path / "maker")) == 2, "there is no result yet"
    Worker(load_settings()).run_pending()
    assert run("private", key, "--out", str(tmp_path / "maker")) == 0
    record = tmp_path / "maker" / f"{key}.json"
    assert main(["verify", str(record), "--key", str(public_key)]) == 0
    assert run("publish", key) == 0
    with TestClient(build_app(installation)) as client:
        assert client.get(f"/results/{key}.json").content == record.read_bytes()
        assert (
            client.get(f"/results/{key}.intoto.json").content
            == (tmp_path / "maker" / f"{key}.intoto.json").read_bytes()
        )


def test_private_attempts_count_once_the_model_has_a_public_row(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Neither withdrawal nor another precision nor repetition hides an attempt."""
    for precision in ("float32", "bfloat16", "bfloat16"):
        key = submit_private(run, capsys, "--precision", precision)
        Worker(installation).run_pending()
        assert run("withdraw", key) == 0
    store = open_store(installation.store)
    submit(installation, "tiny/public-model", NAME)
    Worker(installation).run_pending()
    assert not [path for path in store.snapshot().files if path.startswith("attempts/")], "of another model"

    key = submit_private(run, capsys, "--precision", "float16")
    Worker(installation).run_pending()
    assert not [path for path in store.snapshot().files if path.startswith("attempts/")]
    assert run("publish", key) == 0
    board = LiveBoard(open_store(installation.store))
    attempts = {r.row.model: r.row.attempt for r in board.view().boards[NAME] if r.row.kind == "verified"}
    assert attempts == {MODEL: (4, 4), "tiny/public-model": None}
    with TestClient(build_app(installation)) as client:
        record = json.loads(client.get("/record.json").content)
    (tiny,) = (one for one in record["attempts"] if one["kind"] == "organisation")
    assert (tiny["results"], tiny["benchmarks"][NAME], tiny["models"]) == (5, 5, 2)


def test_private_evaluation_of_a_public_model_is_counted_with_its_next_public_row(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else the count would tell of an evaluation that its maker has not agreed to show."""
    submit(installation, MODEL, NAME)
    Worker(installation).run_pending()
    first = submit_private(run, capsys, "--precision", "float16")
    Worker(installation).run_pending()
    store = open_store(installation.store)
    assert not [path for path in store.snapshot().files if path.startswith("attempts/")]
    second = submit_private(run, capsys, "--precision", "bfloat16")
    Worker(installation).run_pending()
    assert run("publish", second) == 0 and run("withdraw", first) == 0
    board = LiveBoard(store)
    attempts = {r.row.attempt for r in board.view().boards[NAME] if r.row.kind == "verified"}
    assert attempts == {(2, 3), (3, 3)}


def test_publishing_that_was_interrupted_can_be_repeated(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = submit_private(run, capsys)
    Worker(installation).run_pending()
    with monkeypatch.context() as patch:
        patch.setattr("submissions.operator.private_evaluations.publish_attempts", unreachable)
        assert run("publish", key) != 0
    assert run("private") == 0 and key in capsys.readouterr().out
    assert run("publish", key) == 0
    assert run("private") == 0 and key not in capsys.readouterr().out


def test_public_submission_does_not_reveal_a_private_one(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    key = submit_private(run, capsys)
    Worker(installation).run_pending()
    assert run("submit", MODEL, "--benchmark", NAME) == 0, "as if nobody had submitted it"
    assert key_of(capsys) == key
    Worker(installation).run_pending()
    assert run("publish", key) == 2 and "is public already" in capsys.readouterr().err
    assert run("withdraw", key) == 0
    with TestClient(build_app(installation)) as client:
        assert client.get(f"/results/{key}.json").status_code == 200
    assert list(Path(installation.private_store).rglob(f"{key}.jsonl")), "the answers of the public result stay"


def test_private_submission_of_a_public_model_is_refused(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(installation, MODEL, NAME)
    assert run("submit", "--private", MODEL, "--benchmark", NAME) == 2
    assert "submitted" in capsys.readouterr().err


def test_private_submission_names_each_reason_once(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("submit", "--private", "tiny/no-such-model", "--benchmark", NAME) == 2
    reasons = capsys.readouterr().err.split(": ", 1)[1]
    sentences = [sentence for sentence in reasons.split(". ") if sentence]
    assert len(sentences) == len(set(sentences))


def test_failing_private_queue_does_not_keep_public_requests_waiting(
    installation: Settings, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("submit", "--private", MODEL, "--benchmark", NAME) == 0
    submit(installation, "tiny/public-model", NAME)
    queue = Path(f"{installation.private_store}-evaluations.git")
    shutil.rmtree(queue / "objects")
    (queue / "objects").write_text("not a folder")
    assert Worker(installation).run_pending() == 1


@pytest.mark.parametrize("command", ["private", "publish", "withdraw"])
def test_commands_without_private_evaluations_say_so(
    installation: Settings, run: Run, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    arguments = [] if command == "private" else ["0" * 32]
    assert run(command, *arguments) == 2
    assert "there are no private evaluations" in capsys.readouterr().err
