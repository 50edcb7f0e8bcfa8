"""Test that a revealed quarter can be checked from the published files alone, and that changes to them are found."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from app import main as evaluator
from evaluator.benchmarks import BENCHMARKS
from evaluator.commands.verify import read_place
from evaluator.core.data_types import Item
from evaluator.core.errors import DataError
from evaluator.fresh.seed import commitment, drawn_set
from evaluator.quarters.books import open_books
from evaluator.quarters.dataset import FINAL_LINE, create_dataset, upload
from evaluator.quarters.item_statistics import item_statistics
from evaluator.quarters.on_board import board_differences
from evaluator.quarters.recompute import book_differences, file_differences
from evaluator.worker.loop import Worker
from scripts.support.engines import LetterEngine, use_engine
from scripts.support.hub.repos import TOKEN, Fault, Hub
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.records.result import EvalResult
from submissions.store.open import open_store
from submissions.texts.errors import StoreError
from tests.conftest import environment_of, set_here, settings_in
from tests.evaluator.worker.test_loop import submit
from tests.support.board import served_board
from tests.support.slow import every_nth

QUARTER, DATASET = "2026Q4", "hannun/ko-fresh-2026Q4"
N = 16  # questions of the set


@pytest.fixture(scope="module")
def installation(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an installation with one result on a set of N questions, whose quarter is not revealed.

    Its tests use copies of it.
    """
    folder = tmp_path_factory.mktemp("installation")
    settings = settings_in(folder, models_dir).model_copy(update={"fresh_n": N})
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda command, policy: command)
        use_engine(monkeypatch, LetterEngine)
        set_in_environment(monkeypatch, settings)
        submit(settings, "tiny/image-text", "ko-fresh")
        assert Worker(settings).run_pending() == 1
    return folder


@pytest.fixture(scope="module")
def books(installation: Path, models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an installation whose quarter is revealed, with what is published of it in `books`."""
    folder = tmp_path_factory.mktemp("revealed") / "installation"
    shutil.copytree(installation, folder)
    with pytest.MonkeyPatch.context() as monkeypatch:
        set_in_environment(monkeypatch, settings_in(folder, models_dir))
        command = ["ko-fresh", "reveal", QUARTER, "--yes", "--dataset", DATASET, "--out", str(folder / "books")]
        assert evaluator(command) == 0
    return folder


def set_in_environment(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    set_here(monkeypatch, environment_of(settings) | {"HANNUN_FRESH_N": str(N)})


@pytest.fixture
def fresh_settings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings of an installation that evaluates on a set of N questions."""
    set_in_environment(monkeypatch, settings)
    return settings.model_copy(update={"fresh_n": N})


@pytest.fixture
def evaluated(installation: Path, fresh_settings: Settings, tmp_path: Path) -> Settings:
    """Return settings of an installation with one result of a quarter that is not revealed."""
    shutil.copytree(installation, tmp_path, dirs_exist_ok=True)
    return fresh_settings


@pytest.fixture
def revealed(books: Path, fresh_settings: Settings, tmp_path: Path) -> Path:
    """Return the folder of a revealed quarter with one result, beside its installation."""
    shutil.copytree(books, tmp_path, dirs_exist_ok=True)
    return tmp_path / "books"


@pytest.mark.slow
@pytest.mark.integration
def test_revealed_quarter_is_verified_on_another_checkout(revealed: Path, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for part in ("evaluator", "leaderboard", "submissions", "assets/samples"):
        shutil.copytree(ROOT / part, checkout / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "app.py", checkout)
    published = tmp_path / "elsewhere/books"
    shutil.copytree(revealed, published)
    shutil.rmtree(revealed)
    command = [
        sys.executable,
        "-m",
        "evaluator",
        "ko-fresh",
        "verify",
        str(published),
        "--out",
        str(tmp_path / "again"),
    ]
    done = subprocess.run(command, cwd=checkout, env={"HOME": str(tmp_path)}, capture_output=True, text=True)
    assert (done.returncode, "1 results, whose scores" in done.stdout) == (0, True), done.stdout + done.stderr
    assert "the operator chose it" in done.stdout and not list(checkout.glob(".*"))


def _questions(settings: Settings) -> list[Item]:
    items = BENCHMARKS["ko-fresh"].load(drawn_set(QUARTER, settings)[0])
    return [item for item in items if not item.choices]


@pytest.mark.slow
@pytest.mark.integration
def test_revealed_quarter_with_errata_is_verified(evaluated: Settings, tmp_path: Path) -> None:
    first, second = (item.id for item in _questions(evaluated)[:2])
    for change in ([first, "--withdraw"], [second, "--answer", "12"], [second, "--withdraw"]):
        assert evaluator(["errata", "add", "ko-fresh", *change, "--reason", "not readable"]) == 0
    folder = tmp_path / "books"
    assert evaluator(["ko-fresh", "reveal", QUARTER, "--yes", "--dataset", DATASET, "--out", str(folder)]) == 0
    books = open_books(folder)
    assert (books.version.partition("+")[2], len(books.items)) == ("3", N - 2)
    assert book_differences(books) == [] and file_differences(books, folder) == []
    (folder / "errata.json").unlink()
    assert "its scoring rule is" in "\n".join(book_differences(open_books(folder)))


@pytest.mark.integration
def test_verify_finds_changed_files(revealed: Path) -> None:
    assert evaluator(["ko-fresh", "verify", str(revealed), "--out", str(revealed.parent / "again")]) == 0
    books = open_books(revealed)
    assert book_differences(books) == []
    key = books.results[0].request_key

    def found() -> str:
        return "\n".join(book_differences(open_books(revealed)))

    def changed(path: str, change: Callable[[bytes], bytes]) -> str:
        file = revealed / path
        before = file.read_bytes()
        file.write_bytes(change(before))
        try:
            return found()
        finally:
            file.write_bytes(before)

    assert "set/ has another hash" in changed("set/items.jsonl", lambda b: b.replace(b"original", b"twin", 1))
    record = f"results/{key}.json"
    em = json.loads((revealed / record).read_bytes())["results"]["ko-fresh"]["em"]
    assert "results differ" in changed(record, lambda b: b.replace(f'"em": {em}'.encode(), b'"em": 99.0', 1))
    assert "no hash" in changed(record, lambda b: re.sub(rb'"answers_sha256": "\w+"', b'"answers_sha256": null', b))
    assert "n_samples differ" in changed(record, lambda b: b.replace(b'"effective": %d' % N, b'"effective": 1'))
    assert "headline differ" in changed(record, lambda b: b.replace(b'"headline": "em"', b'"headline": "f1"'))
    assert "older than the commitment" in changed(record, lambda b: re.sub(rb'"date": [\d.]+', b'"date": 1.0', b))
    assert "newer than the reveal" in changed(record, lambda b: re.sub(rb'"date": [\d.]+', b'"date": 9e9', b))
    assert "scoring rule is None" in changed(record, lambda b: re.sub(rb'"versions": \{[^}]*\}', b'"versions": {}', b))
    assert "another set" in changed(record, lambda b: b.replace(b'"revision": "', b'"revision": "0'))
    assert "scoring rule" in changed(record, lambda b: b.replace(b"2026Q4.", b"2026Q4.9"))

    def one_more_right(content: bytes) -> bytes:
        rows = pq.read_table(pa.BufferReader(content)).to_pylist()
        rows[0]["answer"] = "정답: 42"
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(rows), sink)
        return bytes(sink.getvalue())

    assert "its answers have another hash" in changed("answers.parquet", one_more_right)
    assert found() == ""


@pytest.mark.integration
def test_text_stored_once_counts_for_each_row(revealed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dictionary of one page makes a small file of texts that would fill the memory."""
    monkeypatch.setattr("evaluator.quarters.books.MAX_ANSWER_BYTES", 2**20)
    file = revealed / "answers.parquet"
    rows = pq.read_table(file).slice(0, 1)
    rows = pa.concat_tables([rows] * 64).set_column(3, "answer", pa.array(["답" * 20_000] * 64))
    pq.write_table(rows, file, dictionary_pagesize_limit=10**9)
    assert file.stat().st_size < 100_000
    with pytest.raises(DataError, match="unpacks to 3,8"):
        open_books(revealed)


@pytest.mark.slow
@pytest.mark.integration
def test_broken_books_are_one_line(revealed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = pq.read_table(revealed / "answers.parquet")
    no_status = pa.BufferOutputStream()
    pq.write_table(answers.drop_columns(["status"]), no_status)
    twice = pa.BufferOutputStream()
    pq.write_table(answers.append_column("id", answers["id"]), twice)
    for path, content, message in (
        ("answers.parquet", b"not parquet", "answers.parquet"),
        ("answers.parquet", no_status.getvalue().to_pybytes(), "answers.parquet"),
        ("answers.parquet", twice.getvalue().to_pybytes(), "answers.parquet: must have the columns"),
        ("answers.parquet", None, "answers.parquet"),
        ("commitment.json", b"{}", "commitment.json: quarter: Field required"),
        ("commitment.json", None, "commitment.json"),
        ("set/items.jsonl", None, "contains neither"),
    ):
        broken = tmp_path / "broken"
        shutil.copytree(revealed, broken)
        (broken / path).unlink()
        if content is not None:
            (broken / path).write_bytes(content)
        assert evaluator(["ko-fresh", "statistics", str(broken)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert message in line
        shutil.rmtree(broken)
    pq.write_table(answers.slice(1), revealed / "answers.parquet")
    assert any(
        f"{N - 1} answers, which are not exactly one for each" in one for one in book_differences(open_books(revealed))
    )
    renamed = answers.set_column(1, "model", pa.array(["another/name"] * N))
    pq.write_table(renamed, revealed / "answers.parquet")
    with pytest.raises(DataError, match="not of another/name"):
        open_books(revealed)


@pytest.mark.slow
@pytest.mark.integration
def test_verify_writes_all_other_files_again(
    revealed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def found() -> str:
        shutil.rmtree(tmp_path / "v", ignore_errors=True)
        assert evaluator(["ko-fresh", "verify", str(revealed), "--out", str(tmp_path / "v")]) == 1
        return capsys.readouterr().out

    card = revealed / "README.md"
    card.write_text(
        card.read_text(encoding="utf-8").replace("| tiny/image-text | ", "| tiny/image-text | 9"), encoding="utf-8"
    )
    assert "README.md: differs" in found()
    items = pq.read_table(revealed / "data/items.parquet")
    place = items.schema.get_field_index("target")
    pq.write_table(items.set_column(place, "target", pa.array(["0"] * N)), revealed / "data/items.parquet")
    assert "data/items.parquet: differs" in found()
    shutil.rmtree(revealed / "inspect")
    (revealed / "more.txt").write_text("?")
    (revealed / ".gitattributes").write_text("added by a download")
    lines = found()
    assert ".json: is missing" in lines and "more.txt: does not belong" in lines and "gitattributes" not in lines


@pytest.mark.slow
@pytest.mark.integration
def test_verify_compares_with_board(
    revealed: Path, fresh_settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(fresh_settings.store)
    with served_board(fresh_settings) as address:
        board = ["ko-fresh", "verify", str(revealed), "--board", address, "--out"]
        assert evaluator([*board, str(tmp_path / "a")]) == 0, capsys.readouterr().out
        (path,) = (path for path in store.snapshot().files if path.startswith("results/"))
        result = EvalResult.model_validate_json(store.read(path, store.head()))
        other = result.evolve(request_key="0" * 32)
        public = commitment(store, QUARTER).evolve(n=N - 2)
        changed = result.evolve(answers_sha256="0" * 64)
        records = {path: changed.to_bytes(), other.path: other.to_bytes(), public.path: public.to_bytes()}
        store.commit(records, store.head(), "change what is published")
    with served_board(fresh_settings) as address:
        assert evaluator([*board[:-2], address, "--out", str(tmp_path / "b")]) == 1
    lines = capsys.readouterr().out
    assert "the board has another commitment" in lines and "the board has another record" in lines
    assert f"{other.request_key} (tiny/image-text): is on the board, but not in the dataset" in lines


@pytest.mark.integration
def test_reveal_refuses_changed_or_lost_answers(
    revealed: Path, fresh_settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (details,) = (Path(fresh_settings.private_store) / "details").rglob("*.jsonl")
    again = ["ko-fresh", "reveal", QUARTER, "--yes", "--dataset", DATASET, "--out", str(tmp_path / "c")]
    lines = details.read_text(encoding="utf-8").splitlines()
    details.write_text("\n".join([lines[0].replace('"answers": ["', '"answers": ["x'), *lines[1:]]), encoding="utf-8")
    assert evaluator(again) == 2
    assert "nothing revealed, because the results do not follow from their answers" in capsys.readouterr().err
    details.unlink()
    assert evaluator(again) == 2
    assert "are not in the private store" in capsys.readouterr().err and not (tmp_path / "c").exists()


@pytest.mark.integration
def test_dataset_has_files_of_other_programs(revealed: Path) -> None:
    spec = yaml.safe_load((revealed / "eval.yaml").read_text(encoding="utf-8"))
    items = pq.read_table(revealed / "data/items.parquet").to_pylist()
    (task,) = spec["tasks"]
    assert spec["evaluation_framework"] == "inspect-ai" and len(items) == N
    assert {task["field_spec"]["input"], task["field_spec"]["target"]} <= items[0].keys()
    parts = items[0]["messages"][0]["content"]
    assert parts[0]["image"].startswith(f"https://huggingface.co/datasets/{DATASET}/resolve/main/set/images/")
    assert parts[-1]["text"].endswith(items[0]["question"] or parts[-1]["text"][-3:])
    (aggregate,) = (revealed / "every_eval_ever").rglob("*[0-9a-f].json")
    made = json.loads(aggregate.read_bytes())
    rows = [
        json.loads(line)
        for line in (revealed / "every_eval_ever" / made["detailed_evaluation_results"]["file_path"]).open()
    ]
    for schema, one in (("every_eval_ever", [made]), ("every_eval_ever_instance", rows)):
        file = ROOT / f"tests/support/schemas/{schema}-0.3.0.json"
        validator = jsonschema.Draft7Validator(json.loads(file.read_bytes()))
        assert [error.message for row in one for error in validator.iter_errors(row)] == []
    assert {row["evaluation_id"] for row in rows} == {made["evaluation_id"]} and len(rows) == N
    croissant = json.loads((revealed / "croissant.json").read_bytes())
    named = [one["contentUrl"] for one in croissant["distribution"] if "contentUrl" in one]
    assert named == ["set/items.jsonl", "answers.parquet"] and all((revealed / path).is_file() for path in named)
    assert [len(one["field"]) for one in croissant["recordSet"]] == [
        len(json.loads(next((revealed / "set/items.jsonl").open()))),
        6,
    ]
    (log,) = (json.loads(path.read_bytes()) for path in (revealed / "inspect").glob("*.json"))
    assert list(log)[-1] == "samples" and len(log["samples"]) == N
    shown = (revealed / "README.md").read_text(encoding="utf-8")
    assert f"inspect eval hf/{DATASET}" in shown and "| tiny/image-text |" in shown


@pytest.mark.integration
def test_second_reveal_changes_nothing(
    revealed: Path, fresh_settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = item_statistics(open_books(revealed))[0]
    assert (whole.n, whole.discrimination) == (N, None) and whole.solved_by_all + whole.solved_by_none == N
    assert evaluator(["ko-fresh", "statistics", str(revealed)]) == 0
    assert "description" in capsys.readouterr().out
    public = commitment(open_store(fresh_settings.store), QUARTER)
    again = ["ko-fresh", "reveal", QUARTER, "--yes", "--dataset", DATASET, "--out"]
    assert evaluator([*again, str(revealed)]) == 2
    assert "already exists" in capsys.readouterr().err
    assert evaluator([*again[:-2], "another/name", "--out", str(tmp_path / "b")]) == 2
    assert f"was revealed with the dataset {DATASET}" in capsys.readouterr().err
    assert evaluator([*again, str(tmp_path / "b")]) == 0
    assert "was revealed before" in capsys.readouterr().out
    assert commitment(open_store(fresh_settings.store), QUARTER) == public and public.dataset == DATASET


@pytest.mark.integration
def test_create_dataset_leaves_existing_files_alone(hub: Hub) -> None:
    store = open_store("hf://datasets/org/store")
    store.commit({"table.csv": b"1"}, store.head(), "somebody's")
    with pytest.raises(DataError, match="the dataset org/store exists already"):
        create_dataset("org/store", TOKEN)
    create_dataset("org/free", TOKEN)
    create_dataset("org/free", TOKEN)  # as a second try does, after the first failed behind this step


@pytest.mark.integration
def test_upload_says_how_to_repeat_it(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("a card")
    create_dataset("org/free", TOKEN)
    assert upload(tmp_path, "org/free", TOKEN).endswith("/datasets/org/free")
    hub.faults = [Fault("POST .*/commit/", status=403, times=9)]
    with pytest.raises(StoreError, match=r"The seed is public and .* is complete; upload it: hf upload org/free"):
        upload(tmp_path, "org/free", TOKEN)


@pytest.mark.integration
def test_reveal_tries_to_create_dataset_before_seed_is_public(
    evaluated: Settings,
    hub: Hub,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HANNUN_HUB_TOKEN", TOKEN)
    hub.foreign = {"org"}
    command = [
        "ko-fresh",
        "reveal",
        QUARTER,
        "--yes",
        "--push",
        "--dataset",
        "org/free",
        "--out",
        str(tmp_path / "out"),
    ]
    assert evaluator(command) != 0
    assert "nothing was revealed. Name a token in HANNUN_HUB_TOKEN" in capsys.readouterr().err
    assert commitment(open_store(evaluated.store), QUARTER).seed is None
    assert not (tmp_path / "out").exists()
    hub.foreign = set()
    assert evaluator(command) == 0
    assert "/datasets/org/free" in capsys.readouterr().out


def _renamed(folder: Path, name: str) -> None:
    """Give the only result, and its answers, another model name."""
    (file,) = (folder / "results").glob("*.json")
    record = json.loads(file.read_text(encoding="utf-8"))
    record["config"]["model_name"] = name
    file.write_text(json.dumps(record), encoding="utf-8")
    answers = pq.read_table(folder / "answers.parquet")
    pq.write_table(answers.set_column(1, "model", pa.array([name] * answers.num_rows)), folder / "answers.parquet")


def _linked(folder: Path) -> None:
    picture = next((folder / "set/images").iterdir())
    picture.unlink()
    picture.symlink_to("/etc/passwd")


def _packed(folder: Path) -> None:
    """Write 4 GB of answers in a file of some kilobytes."""
    answers = pq.read_table(folder / "answers.parquet")
    rows = 2000
    text = pa.DictionaryArray.from_arrays(pa.array([0] * rows), pa.array(["a" * 2**21]))
    columns = [pa.array([answers.column(name)[0].as_py()] * rows) for name in ("key", "model", "id")]
    columns += [text, pa.array(["ok"] * rows), pa.array([False] * rows)]
    pq.write_table(pa.table(columns, names=answers.schema.names), folder / "answers.parquet", compression="zstd")


HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "name of another folder": (lambda folder: _renamed(folder, "../../../../outside/x"), "is no model's name"),
    "name with two slashes": (lambda folder: _renamed(folder, "a/../../b"), "is no model's name"),
    "name with an escape sequence": (lambda folder: _renamed(folder, "a/b\x1b]0;owned\x07"), "is no model's name"),
    "link": (_linked, "is a link or special file"),
    "pipe": (lambda folder: os.mkfifo(folder / "data/pipe"), "is a link or special file"),
    "packed answers": (_packed, "answers.parquet"),
}


@pytest.mark.integration
@pytest.mark.parametrize("name", every_nth(HOSTILE, 3))
def test_hostile_folder_is_one_line(
    name: str, revealed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, message = HOSTILE[name]
    make(revealed)
    before = {path for path in tmp_path.rglob("*") if not path.is_relative_to(revealed)}
    for step in (["verify", str(revealed), "--out", str(tmp_path / "v")], ["statistics", str(revealed)]):
        if name == "pipe" and step[0] == "statistics":
            continue
        assert evaluator(["ko-fresh", *step]) == 2
        told = capsys.readouterr()
        (line,) = told.err.splitlines()
        assert message in line and "Traceback" not in line
        assert "\x1b" not in told.out + told.err
    assert {path for path in tmp_path.rglob("*") if not path.is_relative_to(revealed)} == before


@pytest.mark.slow
@pytest.mark.integration
def test_answers_cannot_change_the_terminal(revealed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = pq.read_table(revealed / "answers.parquet")
    pq.write_table(answers.set_column(0, "key", pa.array(["\x1b[2J" + "0" * 32] * N)), revealed / "answers.parquet")
    assert evaluator(["ko-fresh", "verify", str(revealed), "--out", str(tmp_path / "v")]) == 1
    told = capsys.readouterr()
    assert "\\x1b[2J" in told.out and "\x1b" not in told.out + told.err


class Dripping(BaseHTTPRequestHandler):
    """Sends a byte now and then, for ever."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):
            while not self.server.stopping.wait(0.05):  # type: ignore[attr-defined]
                self.wfile.write(b" ")

    def log_message(self, *_: object) -> None:
        pass


def test_board_that_drips_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.commands.verify.READ_SECONDS", 0.5)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Dripping)
    server.stopping = threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with pytest.raises(DataError, match="not read within"):
            read_place(f"http://127.0.0.1:{server.server_port}/record.json")
    finally:
        server.stopping.set()  # type: ignore[attr-defined]
        server.shutdown()
        server.server_close()


@pytest.mark.integration
@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"commitments": 7}', b'{"commitments": [{}]}', b"[" * 100_000]
)
def test_board_that_is_none_is_one_line(content: bytes, revealed: Path) -> None:
    with pytest.raises(DataError, match="in a form that boards do not have"):
        board_differences(open_books(revealed), lambda _: content)


@pytest.mark.integration
def test_key_of_board_that_is_no_text_is_one_line(revealed: Path) -> None:
    books = open_books(revealed)
    row = {"key": ["x"], "model": "m", "split": "s", "benchmark_version": "1", "kind": "verified", "retired": False}
    board = {"record.json": {"commitments": []}, f"boards/{books.benchmark.name}.json": [row]}
    with pytest.raises(DataError, match="in a form that boards do not have"):
        board_differences(books, lambda path: json.dumps(board[path]).encode())


@pytest.mark.integration
def test_items_that_unpack_to_many_gigabytes_are_not_unpacked(revealed: Path) -> None:
    """A text that all rows have is stored once, and would take its bytes once for each row."""
    file = revealed / "data/items.parquet"
    items = pq.read_table(file)
    place = items.schema.get_field_index("target")
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * len(items)), pa.array(["0" * 2**25]))
    pq.write_table(items.set_column(place, "target", texts), file, compression="gzip", store_schema=False)
    assert file.stat().st_size < 2**20
    unpacked = 2**25 * len(items)
    before = pa.default_memory_pool().max_memory()
    assert "data/items.parquet: differs" in str(file_differences(open_books(revealed), revealed))
    assert pa.default_memory_pool().max_memory() - before < unpacked / 2


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ("풀이\n정답: 5건", "5건"),
        ("정답: 5건\n참고로 이 표에서 정답: 이외의 값은 제외", "5건"),
        ("**정답**: 5건", "5건"),
        ("정답: **5건**", "5건"),
        ("정답: 4건\n정답: 5건\n", "5건"),
    ],
)
def test_pattern_for_inspect_finds_final_line(output: str, answer: str) -> None:
    found = re.search(FINAL_LINE, output)
    assert found and found[1] == answer
