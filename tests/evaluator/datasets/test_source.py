"""Test reading items from a private Hub dataset in both of its forms, with the real client."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.datasets.source import open_source
from scripts.support.hub.server import build, commit_of, serve
from scripts.support.serving import python
from submissions.config.paths import ROOT, SAMPLES
from submissions.config.settings import Settings
from submissions.texts.errors import SettingsError
from tests.support.slow import only_first

pytestmark = pytest.mark.integration

TOKEN = "hf_reads_the_test_sets"


def _rows() -> list[dict[str, object]]:
    lines = (SAMPLES / "ko-vqa/items.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines][:6]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("hub")
    folder = root / "datasets/org/folder"
    shutil.copytree(SAMPLES / "ko-vqa/images", folder / "images")
    pq.write_table(pa.Table.from_pylist(_rows()), folder / "items.parquet")
    card = "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: test\n    path: items.parquet\n---\n"
    (folder / "README.md").write_text(card)
    _write_shards(root / "datasets/org/shards/data")
    _write_shards(root / "datasets/org/plain/data", described=False)
    _write_viscuit(root / "datasets/org/viscuit/data", "Food.1.0")
    _write_viscuit(root / "datasets/org/unknown/data", "Cars.1.0")
    with serve(build(root, private={"datasets/org/folder": TOKEN, "datasets/org/shards": TOKEN})) as address:
        yield address


def _write_shards(folder: Path, *, described: bool = True) -> None:
    """Write shards as `Dataset.push_to_hub` does, with the images in the Parquet files."""
    images = pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
    folder.mkdir(parents=True)
    features = {name: {"dtype": "string", "_type": "Value"} for name in ("id", "question", "answer", "domain")}
    features |= {"images": {"feature": {"_type": "Image"}, "_type": "List"}}  # type: ignore[dict-item]
    meta = {"huggingface": json.dumps({"info": {"features": features}})}
    for shard in range(2):
        rows = _rows()[3 * shard : 3 * shard + 3]
        for row in rows:
            names = row["images"]
            assert isinstance(names, list)
            row["images"] = [{"bytes": (SAMPLES / "ko-vqa" / n).read_bytes(), "path": Path(n).name} for n in names]
        fields = [(name, pa.string()) for name in features if name != "images"]
        table = pa.Table.from_pylist(rows, schema=pa.schema([*fields, ("images", images)]))
        pq.write_table(
            table.replace_schema_metadata(meta if described else None), folder / f"test-0000{shard}-of-00002.parquet"
        )


def _write_viscuit(folder: Path, item_id: str) -> None:
    """Write a set in the columns of its makers, with one embedded image a row."""
    image = {"bytes": (SAMPLES / "k-viscuit/images/001.png").read_bytes(), "path": "1.png"}
    row = {"question": "Which?", "options": ["a", "b", "c", "d"], "answer": 2, "image": image, "id_": item_id}
    folder.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist([row, {**row, "question": "What?", "answer": 0}]), folder / "test-0.parquet")


def _fetched(
    name: str, hub: str, tmp_path: Path, token: str = TOKEN, benchmark: str = "ko-vqa"
) -> subprocess.CompletedProcess[str]:
    code = (
        "import sys; from app import main; from evaluator.datasets.source import open_source;"
        "from submissions.config.settings import load_settings;"
        f"s = open_source('{benchmark}', '{name}', load_settings()); print(s.path, s.split, s.revision)"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
    environment |= {"HF_ENDPOINT": hub, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
    environment |= {"HANNUN_WORK_DIR": str(tmp_path / "work"), "HANNUN_DATA_TOKEN": token}
    environment |= {"HANNUN_DATA_ABROAD": '["ko-vqa"]'}
    return python("-c", code, environment=environment)


@pytest.mark.parametrize("name", only_first(["org/shards", "org/folder"]))
def test_open_source_reads_private_dataset(hub: str, tmp_path: Path, name: str) -> None:
    done = _fetched(f"hf://datasets/{name}", hub, tmp_path)
    assert done.returncode == 0, done.stderr
    path, split, revision = done.stdout.split()
    assert (split, revision) == ("test", commit_of(f"datasets/{name}"))
    items = BENCHMARKS["ko-vqa"].load(Path(path))
    expected = BENCHMARKS["ko-vqa"].load(SAMPLES / "ko-vqa")[:6]
    assert [(i.id, i.question, i.answer, i.buckets) for i in items] == [
        (i.id, i.question, i.answer, i.buckets) for i in expected
    ]
    assert [i.images[0].read_bytes() for i in items] == [i.images[0].read_bytes() for i in expected]


@pytest.mark.slow
def test_open_source_converts_set_as_its_makers_publish_it(hub: str, tmp_path: Path) -> None:
    done = _fetched("hf://datasets/org/viscuit", hub, tmp_path, benchmark="k-viscuit")
    assert done.returncode == 0, done.stderr
    path, split, revision = done.stdout.split()
    assert (split, revision) == ("test", commit_of("datasets/org/viscuit"))
    items = BENCHMARKS["k-viscuit"].load(Path(path))
    assert [(item.id, item.question, item.answer) for item in items] == [("1", "Which?", "c"), ("2", "What?", "a")]
    refused = _fetched("hf://datasets/org/unknown", hub, tmp_path, benchmark="k-viscuit")
    error = "hf://datasets/org/unknown: none of 2 rows can be used; rows.parquet, row 1: unknown category 'Cars'"
    assert refused.stderr.splitlines()[-1].endswith(error)


@pytest.mark.slow
def test_open_source_fetches_once_per_commit(hub: str, tmp_path: Path) -> None:
    first = _fetched("hf://datasets/org/folder", hub, tmp_path).stdout.split()[0]
    (Path(first) / "mark").touch()
    assert _fetched("hf://datasets/org/folder@main", hub, tmp_path).stdout.split()[0] == first
    assert (Path(first) / "mark").exists()


@pytest.mark.parametrize(
    ("data", "token", "address", "code", "message"),
    [
        ("hf://datasets/org/folder", "hf_wrong", None, 2, "no such dataset, or HANNUN_DATA_TOKEN may not read it"),
        pytest.param("hf://datasets/org/none", TOKEN, None, 2, "no such dataset", marks=pytest.mark.slow),
        pytest.param("hf://datasets/org/folder@nowhere", TOKEN, None, 2, "no such dataset", marks=pytest.mark.slow),
        pytest.param("hf://datasets/org/folder#dev", TOKEN, None, 2, "dev", marks=pytest.mark.slow),
        ("hf://datasets/org/folder", TOKEN, "http://127.0.0.1:9", 1, "hub_unavailable"),
    ],
)
def test_run_reports_unreadable_dataset_in_one_line(
    environment: dict[str, str],
    hub: str,
    tmp_path: Path,
    data: str,
    token: str,
    address: str | None,
    code: int,
    message: str,
) -> None:
    environment |= {"HF_ENDPOINT": address or hub, "HF_HOME": str(tmp_path / "home"), "HANNUN_DATA_TOKEN": token}
    environment |= {"HANNUN_DATA_ABROAD": '["ko-vqa"]'}
    command = ["-m", "evaluator", "run", "--model", "tiny/image-text", "--benchmark", "ko-vqa", "--data", data]
    done = python(*command, "--out", str(tmp_path / "out"), environment=environment)
    line = done.stderr.strip().splitlines()[-1]
    assert done.returncode == code and message in line and token not in line and "Traceback" not in done.stderr


def test_open_source_accepts_path_or_none(settings: Settings, tmp_path: Path) -> None:
    assert open_source("ko-vqa", None, settings).split == "sample"
    with pytest.raises(SettingsError, match="ko-vqa has no set that is drawn"):
        open_source("ko-vqa", "drawn", settings)
    source = open_source("ko-vqa", f"{tmp_path}#dev", settings)
    assert (source.path, source.split, source.id) == (tmp_path, "dev", "ko-vqa")


CASES: list[dict[str, Any]] = json.loads((ROOT / "tests/cases/hub/rows.json").read_text(encoding="utf-8"))
REMEDIES = {
    "paths": "embed_external_files=True",
    "mixed": "embed_external_files=True",
    "null-image": "no image",
    "null-list": "is empty",
    "one-image": "List(Image())",
}


@pytest.fixture(scope="module")
def hub_of_cases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("hub")
    for case in CASES:
        _write_case(root / f"datasets/org/{case['name']}/data", case)
    with serve(build(root)) as address:
        yield address


def _write_case(folder: Path, case: dict[str, Any]) -> None:
    from datasets import Dataset, Features, Image, List, Value

    picture = (SAMPLES / "ko-vqa" / _rows()[0]["images"][0]).read_bytes()  # type: ignore[index]
    rows = json.loads(json.dumps(case["rows"]))
    for row in rows:
        images = row["images"] if isinstance(row["images"], list) else [row["images"]]
        for image in filter(None, images):
            image["bytes"] = image["bytes"] and picture
    image_feature = Image(decode=False)
    feature = List(image_feature) if case["feature"] == "List(Image)" else image_feature
    texts = {name: Value("string") for name in ("id", "question", "answer", "domain")}
    folder.mkdir(parents=True)
    table = Dataset.from_list(rows, features=Features({**texts, "images": feature}))
    table.to_parquet(folder / "test-00000-of-00001.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_run_refuses_rows_without_embedded_images(
    environment: dict[str, str], hub_of_cases: str, tmp_path: Path, case: dict[str, Any]
) -> None:
    environment |= {"HF_ENDPOINT": hub_of_cases, "HF_HOME": str(tmp_path / "home")}
    environment |= {"HANNUN_DATA_ABROAD": '["ko-vqa"]', "HANNUN_WORK_DIR": str(tmp_path / "work")}
    data = f"hf://datasets/org/{case['name']}"
    command = ["-m", "evaluator", "run", "--model", "tiny/image-text", "--benchmark", "ko-vqa", "--data", data]
    tries = 2 if case is CASES[0] else 1  # nothing of the first try is taken for complete by the second
    for _ in range(tries):
        done = python(*command, "--out", str(tmp_path / "out"), environment=environment)
        line = done.stderr.strip().splitlines()[-1]
        assert done.returncode == 2 and "Traceback" not in done.stderr
        assert f"{data}, row 1: column 'images'" in line and REMEDIES[case["name"]] in line
    assert not list((tmp_path / "work/datasets").rglob("items.parquet"))


@pytest.mark.slow
def test_open_source_reads_images_without_description(tmp_path: Path, hub: str) -> None:
    """Parquet files written by other libraries do not say that a struct is an image."""
    done = _fetched("hf://datasets/org/plain", hub, tmp_path)
    assert done.returncode == 0, done.stderr
    items = BENCHMARKS["ko-vqa"].load(Path(done.stdout.split()[0]))
    assert [item.images[0].read_bytes() for item in items] == [
        (SAMPLES / "ko-vqa" / row["images"][0]).read_bytes()  # type: ignore[index]
        for row in _rows()
    ]
