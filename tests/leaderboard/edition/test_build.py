"""Test the edition of the board that is files: complete links, only changes written again, and a static Space."""

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
from huggingface_hub import HfApi

from app import main
from leaderboard.data.live_board import LiveBoard
from leaderboard.edition.build import MANIFEST, Built, Edition, _rows_version, build, read_manifest
from leaderboard.edition.file_location import FileLocation, page_file
from scripts.support.evaluated import evaluated
from scripts.support.hub.repos import TOKEN, Hub
from scripts.support.records import Make, erratum_of, request_numbered
from submissions.config.paths import PUBLISHED
from submissions.config.settings import Settings
from submissions.store.base import Store
from submissions.store.open import open_store

ADDRESS = "https://board.example/hannun"


def board_on(store: Store, published: Path = PUBLISHED) -> LiveBoard:
    result = evaluated(request_numbered(1, model_id="o/alpha", benchmark="ko-vqa"), 71.0)
    erratum = erratum_of(
        "ko-vqa", moved=[{"key": result.request_key, "model": "o/alpha", "before": 72.0, "after": 71.0}]
    )
    records = {record.path: record.to_bytes() for record in (result, erratum)}
    store.commit(records, store.head(), "a result and an erratum")
    return LiveBoard(store, published=published)


@pytest.fixture
def board(store: Store, tmp_path_factory: pytest.TempPathFactory) -> LiveBoard:
    """Return a board with three published results, because a page for each published model takes long."""
    published = tmp_path_factory.mktemp("published")
    folder = published / "ko-vdc"
    folder.mkdir()
    for path in sorted((PUBLISHED / "ko-vdc").iterdir())[:3]:
        shutil.copy(path, folder)
    return board_on(store, published)


@pytest.fixture(scope="module")
def edition(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Built]:
    """Return the folder of an edition with an address and a live board, and what was built."""
    folder = tmp_path_factory.mktemp("edition")
    board = board_on(open_store(str(folder / "store.git")))
    return folder / "out", build(board, folder / "out", Edition(ADDRESS, "https://live.example"))


def links(page: Path) -> Iterator[tuple[str, Path]]:
    """Yield the relative links of a page, and the files that they lead to."""
    html = page.read_text(encoding="utf-8")
    for link in re.findall(r'(?:href|src|action|data-chart|data-all|data-plotly)="([^"]*)"', html):
        parts = urlsplit(unescape(link))
        if not parts.scheme and parts.path:
            folder = page.parent
            if folder.name == "rows":  # part of a page
                folder = folder.parent / "en" if ".en." in page.name else folder.parent
            yield link, folder / unquote(parts.path)


def test_every_link_of_every_page_leads_to_a_file(edition: tuple[Path, Built]) -> None:
    folder, built = edition
    pages = list(folder.rglob("*.html"))
    assert len(pages) > 150 and built.total == len(built.written)
    for page in pages:
        assert page.read_bytes().isascii(), page
        for link, file in links(page):
            assert file.is_file(), (page, link)


def test_pages_name_their_address_and_both_languages(edition: tuple[Path, Built]) -> None:
    folder, _ = edition
    html = (folder / "en/ko-vqa.html").read_text(encoding="utf-8")
    assert f'<link rel="canonical" href="{ADDRESS}/en/ko-vqa.html">' in html
    assert f'hreflang="ko" href="{ADDRESS}/ko-vqa.html"' in html and '"@type": "Dataset"' in html
    assert f"{ADDRESS}/boards/ko-vqa.parquet" in html
    addresses = [str(e.text) for e in ElementTree.fromstring((folder / "sitemap.xml").read_bytes()).iter() if e.text]
    assert f"{ADDRESS}/en/models/o/alpha.html" in addresses
    for address in addresses:
        if address.strip():
            assert (folder / unquote(address.removeprefix(f"{ADDRESS}/"))).is_file(), address


@pytest.mark.slow
def test_only_what_changed_is_written_again(board: LiveBoard, store: Store, make_request: Make, tmp_path: Path) -> None:
    first = build(board, tmp_path, Edition())
    assert build(board, tmp_path, Edition()).written == []
    result = evaluated(make_request(model_id="o/beta", benchmark="ko-vdc"), 70.0)
    store.commit({result.path: result.to_bytes()}, store.head(), "one more")
    board.refresh()
    again = build(board, tmp_path, Edition())
    assert {"models/o/beta.html", "en/ko-vdc.html", "index.html", f"results/{result.request_key}.json"} <= {
        *again.written
    }
    assert "ko-vqa.html" not in again.written and len(again.written) < len(first.written) / 3
    build(board, tmp_path / "fresh", Edition())
    for file in (tmp_path / "fresh").rglob("*.*"):
        if file.name != MANIFEST:
            assert file.read_bytes() == (tmp_path / file.relative_to(tmp_path / "fresh")).read_bytes(), file
    (tmp_path / MANIFEST).write_text("")
    assert len(build(board, tmp_path, Edition()).written) == again.total
    assert "o/beta" in (tmp_path / "index.html").read_text()
    (tmp_path / "ko-vqa.html").unlink()
    assert build(board, tmp_path, Edition()).written == ["ko-vqa.html"], "a lost file is written again"


@pytest.mark.parametrize("damaged", [b"", b'{"index.html"', b"[]", b"\xff", b"null"])
def test_damaged_manifest_says_nothing(damaged: bytes, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_bytes(damaged)
    assert read_manifest(tmp_path / MANIFEST) == {}


@pytest.mark.slow
def test_interrupted_build_is_finished_by_the_next(
    board: LiveBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(done: int, total: int) -> None:
        if done >= 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(board, tmp_path, Edition(), stop)
    built = build(board, tmp_path, Edition())
    assert built.written and all((tmp_path / name).is_file() for name in built.written)
    assert not list(tmp_path.rglob("*.new")) and build(board, tmp_path, Edition()).written == []


@pytest.mark.slow
def test_files_that_only_an_interrupted_build_has_are_removed(board: LiveBoard, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(board, tmp_path, Edition(ADDRESS), stop)
    assert (tmp_path / "sitemap.xml").exists()
    assert "sitemap.xml" in build(board, tmp_path, Edition()).removed and not (tmp_path / "sitemap.xml").exists()


def test_table_is_written_again_if_a_reason_or_a_family_changes(board: LiveBoard) -> None:
    view = board.view()
    rows = view.boards["ko-vqa"]
    before = _rows_version(view, "ko-vqa", rows)
    retired = [replace(rows[0], row=replace(rows[0].row, retired="wrong items")), *rows[1:]]
    assert _rows_version(view, "ko-vqa", retired) != before
    view.families[rows[0].row.model] = "x/base"
    assert _rows_version(view, "ko-vqa", rows) != before


@pytest.mark.slow
def test_edition_without_address_has_no_file_that_names_it(board: LiveBoard, tmp_path: Path) -> None:
    build(board, tmp_path, Edition(ADDRESS))
    built = build(board, tmp_path, Edition())
    assert set(built.removed) == {"robots.txt", "sitemap.xml", "feed.ko.xml", "feed.en.xml"}
    assert not (tmp_path / "sitemap.xml").exists()
    for page in tmp_path.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        assert "canonical" not in html and "compare?" not in html
        assert all(file.is_file() for _, file in links(page))


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "a b", "a_b", "..", ".", ".git/config", "가/나", "x/" * 40, "<b>?#%"]
)
def test_file_names_stay_in_the_folder_and_distinct(name: str) -> None:
    file = page_file(f"models/{name}", "en")
    assert file.startswith("en/models/") and ".." not in Path(file).parts and not re.search(r'[<>?#%:"]', file)
    others = {page_file(f"models/{other}", "en") for other in ("a b", "a_b", "a-b")}
    assert len(others) == 3
    here = FileLocation("en", f"models/{name}")
    assert here.link("ko-vqa") == "../" * file.count("/") + "en/ko-vqa.html"


@pytest.mark.slow
def test_static_space_gets_one_commit_with_changes(
    hub: Hub, store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = hub.create("spaces/org/board")
    for name, value in {
        "HANNUN_STORE": settings.store,
        "HANNUN_PRIVATE_STORE": settings.private_store,
        "HANNUN_HUB_TOKEN": TOKEN,
        "HANNUN_WORK_DIR": str(settings.work_dir),
    }.items():
        monkeypatch.setenv(name, value)
    assert main(["build", "hf://spaces/org/board"]) == 0
    api = HfApi(os.environ["HF_ENDPOINT"], TOKEN)
    files = set(api.list_repo_files("org/board", repo_type="space"))
    assert {"index.html", "en/ko-vqa.html", "README.md", "assets/board.js"} <= files and MANIFEST not in files
    head = repo.head()
    assert "https://org-board.static.hf.space/ko-vqa.html" in repo.read("ko-vqa.html", head).decode()
    capsys.readouterr()
    assert main(["build", "hf://spaces/org/board"]) == 0
    assert "0 files uploaded, 0 deleted" in capsys.readouterr().out and repo.head() == head
    assert main(["build", "hf://spaces/org/none"]) == 2
    assert "was not updated" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["build"], ["build", "out", "--live", "javascript:alert(1)"], ["deploy"]])
def test_command_refuses_bad_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2 and "usage:" in capsys.readouterr().err


def test_command_reports_a_folder_that_cannot_be_written(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("HANNUN_STORE", settings.store)
    (tmp_path / "file").touch()
    assert main(["build", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.startswith("hannun: ")
