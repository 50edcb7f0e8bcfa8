"""Write the reading board to files, for a static Space or any file host. Only what changed is written again."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import get_args

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.files import replace_file
from leaderboard.data.chart_data import COLUMNS, OVERVIEW, Kind, chart_data, charts_of, overview_data
from leaderboard.data.explorer import public_file, public_items
from leaderboard.data.export import FORMATS, REGISTER_FORMATS, rows_to_csv
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import ROWS_PER_PAGE
from leaderboard.data.ranking import RankedRow
from leaderboard.data.record import errata_json, record_json
from leaderboard.data.unseen import UNSEEN_COLUMNS, unseen_rows
from leaderboard.data.view import View
from leaderboard.edition.file_location import FileLocation, data_file, page_file
from leaderboard.facts.lineage import LINEAGE
from leaderboard.facts.register import numbers, numbers_of_set
from leaderboard.facts.register_sets import BY_SLUG
from leaderboard.pages import explorer, lineage, model, queue, register
from leaderboard.pages.benchmark import table_rows
from leaderboard.pages.feed import feed
from leaderboard.pages.missing import missing
from leaderboard.pages.overview import FIRST_ROWS, overview_rows
from leaderboard.pages.page import Page
from leaderboard.pages.share import benchmark_card, overview_card
from leaderboard.pages.site_files import site_map
from leaderboard.pages.site_map import pages
from leaderboard.pages.submit import how_to_submit
from leaderboard.views.figures import figure_json
from leaderboard.views.location import asset_path
from leaderboard.views.texts import Language
from submissions.config.machine import core_count
from submissions.config.paths import ASSETS as ASSETS_FOLDER
from submissions.config.paths import ROOT

MANIFEST = ".manifest.json"  # what each file was written from
ASSETS = ("style.css", "board.js", "plotly.js", "icon.svg")
MIN_SHARE = 100  # files that are worth another process
Write = Callable[[], bytes | None]  # the content of a file, or None if there is nothing to write


@dataclass(frozen=True)
class Edition:
    """Where the files will be served."""

    address: str = ""  # public address, for canonical links, the feed and the site map
    live: str = ""  # address of the live board, for submitting and comparing

    def at(self, path: str, language: Language) -> FileLocation:
        return FileLocation(language, path, origin=self.address, live=self.live)


@dataclass(frozen=True)
class File:
    """A file of the edition: its name, a text that changes with its content, and how to write it."""

    name: str
    depends_on: str
    write: Write


@dataclass(frozen=True)
class Built:
    written: list[str]
    removed: list[str]
    total: int


def build(board: LiveBoard, out: Path, edition: Edition, progress: Callable[[int, int], None] | None = None) -> Built:
    """Write what changed since the last build into a folder, and remove files of pages that no longer exist.

    `progress` is called with the numbers of files written so far and of all that have to be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    manifest = out / MANIFEST
    before = read_manifest(manifest)
    code = _code_version() + repr((edition, board.links))
    files = {file.name: file for file in _files(board, edition)}
    digests = {name: sha256((code + file.depends_on).encode()).hexdigest()[:16] for name, file in files.items()}
    changed = [file for name, file in files.items() if before.get(name) != digests[name] or not (out / name).exists()]
    # A build that is interrupted repeats what it has not finished.
    kept = {name: digest if digests.get(name) == digest else "" for name, digest in before.items()}
    replace_file(manifest, json.dumps(kept).encode())
    for done in _write_all(board, changed, out):
        if progress:
            progress(done, len(changed))
    removed = [name for name in before if name not in files]
    for name in removed:
        (out / name).unlink(missing_ok=True)
        with suppress(OSError):  # the folder has other files
            (out / name).parent.rmdir()
    replace_file(manifest, json.dumps(digests, sort_keys=True).encode())
    return Built([file.name for file in changed], removed, len(files))


def read_manifest(path: Path) -> dict[str, str]:
    """Return what each file was written from at the last build. If that is not known, everything is written again."""
    try:
        return {str(name): str(digest) for name, digest in json.loads(path.read_bytes()).items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _write_all(board: LiveBoard, files: list[File], out: Path) -> Iterator[int]:
    """Write the files, in several processes if there are many. Yield how many are written, now and then.

    Each process writes its share and ends, so that none is left waiting if this one is killed.
    """
    shares = max(1, min(core_count(), len(files) // MIN_SHARE))
    if shares == 1:
        with board.reading():
            for number, file in enumerate(files, 1):
                _write(file, out)
                yield number
        return
    context = get_context("fork")  # what renders a page cannot be sent to another process, but is inherited
    done = context.Value("i", 0)
    processes = [context.Process(target=_write_share, args=(board, files[n::shares], out, done)) for n in range(shares)]
    for process in processes:
        process.start()
    for process in processes:
        while process.exitcode is None:
            process.join(0.2)
            yield done.value
    if any(process.exitcode for process in processes):
        raise OSError(f"not all files could be written to {out}")


def _write_share(board: LiveBoard, files: list[File], out: Path, done: "Synchronized[int]") -> None:
    with board.reading():
        for file in files:
            _write(file, out)
            with done.get_lock():
                done.value += 1


def _write(file: File, out: Path) -> None:
    content = file.write()
    if content is not None:
        path = out / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content)


def _files(board: LiveBoard, edition: Edition) -> Iterator[File]:
    """Yield all files of the edition."""
    view = board.view()
    versions = {name: _rows_version(view, name, rows) for name, rows in view.boards.items()}
    version = _digest([view.version, *versions.values()])
    queue_version = _digest([view.queue[: queue.MAX_ROWS], board.workers.version])
    model_versions = {name: _model_version(view, name, rows) for name, rows in view.rows_by_model.items()}
    # Its pages link to those of models.
    paths_of_facts = (lineage.PATH, register.PATH, *register.slug_pages())
    facts_versions = dict.fromkeys(paths_of_facts, _digest(sorted(view.models_by_name)))
    overview_chart = overview_data(view.models)
    today = datetime.now(UTC).date().isoformat()  # of the changes of the last seven days
    for language in get_args(Language):
        at = partial(edition.at, language=language)
        for path, page in pages().items():
            if path != "compare":
                others = {"": version + today, "queue": queue_version, **facts_versions}
                depends_on = versions.get(path.removeprefix(explorer.FOLDER)) or others.get(path, version)
                yield _page(board, page, at(path), depends_on)
        yield File(page_file("submit", language), "", partial(_ascii, how_to_submit, board, at("submit")))
        for row in view.queue[: queue.MAX_ROWS]:
            yield _page(board, queue.REQUEST, at(queue.FOLDER + row.key), queue_version)
        for name in view.rows_by_model:
            yield _page(board, model.MODEL, at(model.FOLDER + name), model_versions[name])
        if edition.address:
            yield File(data_file("feed.xml", language), version, partial(feed, view, at("")))
        for name, rows in view.boards.items():
            if len(rows) > ROWS_PER_PAGE:
                yield File(f"rows/{name}.{language}.html", versions[name], partial(_ascii, table_rows, board, at(name)))
            for kind in charts_of(name):
                axes = view.tables[name].axes if kind == "parts" else []
                for axis in axes or [""]:
                    file = data_file(f"charts/{name}/{kind}.json", language, axis)
                    yield File(file, versions[name], partial(_figure, board, kind, name, language, axis))
        if len(view.models) > FIRST_ROWS:
            yield File(f"rows/overview.{language}.html", version, partial(_ascii, overview_rows, board, at("")))
        overview = partial(figure_json, OVERVIEW, overview_chart, None, language)
        yield File(data_file(f"charts/overview/{OVERVIEW}.json", language), version, overview)
    yield File(f"charts/overview/{OVERVIEW}.csv", version, partial(rows_to_csv, overview_chart, COLUMNS[OVERVIEW]))
    for name, rows in view.boards.items():
        for suffix, (_, convert) in FORMATS.items():
            yield File(f"boards/{name}.{suffix}", versions[name], partial(convert, rows, name))
        for chart in charts_of(name):
            yield File(f"charts/{name}/{chart}.csv", versions[name], partial(_chart_csv, board, chart, name))
        for one in public_items(name):
            for picture in one.pictures:
                yield File(f"samples/{name}/{picture}", "", partial(public_file, name, picture))
        for ranked in rows:
            yield File(f"results/{ranked.row.key}.json", ranked.row.blob, partial(board.result_json, ranked.row.key))
    yield File("unseen.csv", version, lambda: rows_to_csv(unseen_rows(view.unseen), UNSEEN_COLUMNS))
    yield File("unseen.json", version, lambda: json.dumps(unseen_rows(view.unseen)).encode())
    yield File("errata.json", version, lambda: json.dumps(errata_json(view.errata), ensure_ascii=False).encode())
    yield File("lineage.json", "", LINEAGE.read_bytes)
    for suffix, (_, write_numbers) in REGISTER_FORMATS.items():
        yield File(f"register.{suffix}", "", partial(write_numbers, numbers()))
        for slug, one_set in BY_SLUG.items():
            rows_of_set = numbers_of_set(one_set.title)
            yield File(f"register/{slug}.{suffix}", "", partial(write_numbers, rows_of_set))
    record = partial(record_json, view.boards, view.retired, view.commitments, view.private_attempts)
    yield File("record.json", version, lambda: json.dumps(record(), ensure_ascii=False).encode())
    for language in get_args(Language):
        yield File(data_file("cards/overview.png", language), version, partial(overview_card, view, language))
        for name in view.boards:
            write = partial(benchmark_card, view, name, language)
            yield File(data_file(f"cards/{name}.png", language), versions[name], write)
    for language in get_args(Language):
        yield File(page_file("404", language), "", partial(_ascii, missing, board, edition.at("404", language)))
    for name in ASSETS:
        yield File(f"assets/{name}", "", asset_path(name).read_bytes)
    if edition.address:
        yield File("sitemap.xml", version, partial(site_map, view, edition.at("", "ko")))
        robots = f"User-agent: *\nAllow: /\nSitemap: {edition.address}/sitemap.xml\n"
        yield File("robots.txt", "", robots.encode)


def _rows_version(view: View, name: str, rows: Sequence[RankedRow]) -> str:
    """Return a text that changes with what the table of a benchmark shows."""
    shown = [(r.row.blob, r.row.attempt, r.row.asked_before, r.rank, r.best, r.worst) for r in rows]
    return _digest([shown, view.errata_of(name)])


def _model_version(view: View, name: str, rows: Sequence[RankedRow]) -> str:
    """Return a text that changes with what the page of a model shows.

    Pages that are files leave out how many models there are and what the median is: these change with every result.
    """
    own: list[object] = []
    for r in rows:
        row = r.row
        same_size = view.standings.of(r).same_size if r.rank else None
        rival = (same_size.row.model, same_size.row.score) if same_size else None
        best = view.tables[row.benchmark].best_of_parts(row.split, row.headline)
        own.append(
            (
                row.blob,
                row.attempt,
                row.asked_before,
                row.errata,
                row.retired,
                row.reproduction,
                r.rank,
                r.best,
                r.worst,
                r.tie,
                rival,
                best,
            )
        )
        own += [base.row.blob for base in view.rows_by_model.get(row.base_model or "", ())]
    places = view.overall_places.get(name, {}).values()
    overall = [(place.rank, place.best, place.worst, place.benchmarks) for place in places]
    relatives = view.standings.relatives(name)
    listed = [name for name in relatives.ancestors if name in view.models_by_name]
    return _digest([own, overall, relatives, listed, view.unseen_by_model.get(name)])


def _page(board: LiveBoard, page: Page, here: FileLocation, depends_on: str) -> File:
    return File(page_file(here.path, here.language), depends_on, partial(_ascii, page.write, board, here, depends_on))


def _ascii(write: Callable[..., str | None], *args: object) -> bytes | None:
    """Return a page with all other characters as references.

    A static Space inserts a script into pages, and was seen to break characters of several bytes.
    """
    html = write(*args)
    return None if html is None else html.encode("ascii", "xmlcharrefreplace")


def _figure(board: LiveBoard, kind: Kind, name: str, language: Language, axis: str) -> bytes:
    data = chart_data(kind, board.view().boards[name], axis)
    return figure_json(kind, data, BENCHMARKS[name], language)


def _chart_csv(board: LiveBoard, kind: Kind, name: str) -> bytes:
    return rows_to_csv(chart_data(kind, board.view().boards[name]), COLUMNS[kind])


def _digest(values: object) -> str:
    return sha256(repr(values).encode()).hexdigest()


def _code_version() -> str:
    """Return a text that changes with the code, templates and tables of names that pages are written with."""
    folders = ("leaderboard", "submissions/texts", "evaluator/benchmarks")
    files = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    paths = [path for path in files if path.suffix in (".py", ".html", ".xml")]
    paths += [*ASSETS_FOLDER.glob("*.json"), *ASSETS_FOLDER.glob("*.csv")]
    return _digest([path.read_bytes() for path in sorted(paths)] + [asset_path(name).read_bytes() for name in ASSETS])
