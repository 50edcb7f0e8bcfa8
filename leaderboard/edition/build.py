"""Write the pages, tables, charts and pictures of the board to files, for a static Space or any file host.

`build` is called by the command `build` (`command.py`). It lists the files of the edition with a text that each depends on
(`File.depends_on`), compares the digests of these texts with those of the last build (MANIFEST), and writes only files that
have changed. Most of these texts are versions (`_Versions`): hashes of what several files show.

Pages that need a server, such as the submission form, link to the live board if there is one (`Edition.live`).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import NamedTuple, get_args

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.files import replace_file
from leaderboard.data.chart_data import COLUMNS, OVERVIEW, Data, Kind, chart_data, charts_of, overview_data
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
from submissions.config.paths import ASSETS, ROOT

MANIFEST = ".manifest.json"  # maps the name of each file to the digest of what it was written from
LOADED_BY_PAGES = ("style.css", "board.js", "plotly.js", "icon.svg")  # files, see `asset_path`
MIN_FILES_PER_PROCESS = 100  # with fewer, starting another process takes longer than it saves
Write = Callable[[], bytes | None]  # the content of a file, or None if there is nothing to write


@dataclass(frozen=True)
class Edition:
    """Where the files will be served."""

    # The public address, for canonical links, the feed and the site map. These are left out if it is unknown.
    address: str = ""
    live: str = ""  # address of the live board, for submitting and comparing

    def at(self, path: str, language: Language) -> FileLocation:
        """Return the location of a page of the edition."""
        return FileLocation(language, path, origin=self.address, live=self.live)


@dataclass(frozen=True)
class File:
    """A file of the edition."""

    name: str  # path relative to the folder of the edition
    depends_on: str  # a text that changes whenever the content may change; empty if it changes only with the code
    write: Write


@dataclass(frozen=True)
class Built:
    """What a build has done. Files are given by name."""

    written: list[str]
    removed: list[str]
    total: int  # number of files of the edition


def build(board: LiveBoard, out: Path, edition: Edition, progress: Callable[[int, int], None] | None = None) -> Built:
    """Write what changed since the last build into a folder, and remove files of pages that no longer exist.

    `progress` is called with the numbers of files written so far and of all that have to be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    manifest = out / MANIFEST
    last_digests = read_manifest(manifest)
    all_depend_on = _code_version() + repr((edition, board.links))
    files = {file.name: file for file in _files(board, edition)}
    digests = {name: _digest_of_text(all_depend_on + file.depends_on)[:16] for name, file in files.items()}
    changed = [
        file for name, file in files.items() if last_digests.get(name) != digests[name] or not (out / name).exists()
    ]
    replace_file(manifest, json.dumps(_digests_if_interrupted(last_digests, digests)).encode())
    for done in _write_all(board, changed, out):
        if progress:
            progress(done, len(changed))
    removed = [name for name in last_digests if name not in files]
    for name in removed:
        (out / name).unlink(missing_ok=True)
        with suppress(OSError):  # the folder has other files
            (out / name).parent.rmdir()
    replace_file(manifest, json.dumps(digests, sort_keys=True).encode())
    return Built([file.name for file in changed], removed, len(files))


def _digests_if_interrupted(last: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Return the digests that the manifest has during a build, which are right for the next one if this is interrupted.

    A file that does not change keeps its digest. Every other file, of the last build or of this one, has an empty digest: the
    next build then writes it again, or removes it if the edition no longer has it.
    """
    digests = dict.fromkeys([*last, *new], "")
    for name, digest in new.items():
        if last.get(name) == digest:
            digests[name] = digest
    return digests


def read_manifest(path: Path) -> dict[str, str]:
    """Return the digest of what each file was written from at the last build, by name.

    Return an empty dict if the manifest cannot be read; then everything is written again.
    """
    try:
        return {str(name): str(digest) for name, digest in json.loads(path.read_bytes()).items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _write_all(board: LiveBoard, files: list[File], out: Path) -> Iterator[int]:
    """Write the files, in several processes if there are many. Yield the number of files written so far, now and then.

    Each process is given its files when it starts and ends when they are written, so that none is left waiting for work if
    this one is killed. Raises OSError if one of them fails.
    """
    process_count = max(1, min(core_count(), len(files) // MIN_FILES_PER_PROCESS))
    if process_count == 1:
        with board.reading():
            for number, file in enumerate(files, 1):
                _write(file, out)
                yield number
        return
    context = get_context("fork")  # which inherits the functions in `files`: they cannot be sent to a process
    done = context.Value("i", 0)
    processes = []
    for number in range(process_count):
        share = files[number::process_count]
        processes.append(context.Process(target=_write_share, args=(board, share, out, done)))
    for process in processes:
        process.start()
    for process in processes:
        while process.exitcode is None:
            process.join(0.2)
            yield done.value
    if any(process.exitcode for process in processes):
        raise OSError(f"not all files could be written to {out}")


def _write_share(board: LiveBoard, files: list[File], out: Path, done: "Synchronized[int]") -> None:
    """Write some of the files in a process of its own, and count them in `done`, which all processes share."""
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


class _Versions(NamedTuple):
    """Versions of what files show: hashes, on which the files that show it depend (`File.depends_on`)."""

    board: str  # everything that the tables show
    queue: str  # the requests and the state of the workers
    by_benchmark: dict[str, str]  # the table of a benchmark
    by_model: dict[str, str]  # the page of a model


def _files(board: LiveBoard, edition: Edition) -> Iterator[File]:
    """Yield all files of the edition. They are listed from one view, because a refresh may replace the board's meanwhile.

    Pages and the charts of benchmarks read the board's view when they are written. If that is a newer one, the next build
    writes them again.
    """
    view = board.view()
    by_benchmark = {name: _rows_version(view, name, rows) for name, rows in view.boards.items()}
    versions = _Versions(
        board=_digest([view.version, *by_benchmark.values()]),
        queue=_digest([view.queue[: queue.MAX_ROWS], board.workers.version]),
        by_benchmark=by_benchmark,
        by_model={name: _model_version(view, name, rows) for name, rows in view.rows_by_model.items()},
    )
    version_of_fixed_page = _versions_of_fixed_pages(view, versions)
    overview_chart = overview_data(view.models)
    for language in get_args(Language):
        yield from _pages(board, view, edition, language, versions, version_of_fixed_page)
        yield from _data_in_language(board, view, edition, language, versions, overview_chart)
    yield File(
        f"charts/overview/{OVERVIEW}.csv", versions.board, partial(rows_to_csv, overview_chart, COLUMNS[OVERVIEW])
    )
    yield from _files_of_benchmarks(board, view, versions)
    yield from _files_of_record(view, versions.board)
    yield from _files_of_facts()
    for language in get_args(Language):
        yield File(data_file("cards/overview.png", language), versions.board, partial(overview_card, view, language))
        for name in view.boards:
            write = partial(benchmark_card, view, name, language)
            yield File(data_file(f"cards/{name}.png", language), versions.by_benchmark[name], write)
    for name in LOADED_BY_PAGES:
        yield File(f"assets/{name}", "", asset_path(name).read_bytes)
    if edition.address:
        yield File("sitemap.xml", versions.board, partial(site_map, view, edition.at("", "ko")))
        robots = f"User-agent: *\nAllow: /\nSitemap: {edition.address}/sitemap.xml\n"
        yield File("robots.txt", "", robots.encode)


def _pages(
    board: LiveBoard,
    view: View,
    edition: Edition,
    language: Language,
    versions: _Versions,
    version_of_fixed_page: Mapping[str, str],
) -> Iterator[File]:
    """Yield the pages in a language. The page /compare is left out, because it needs a server.

    `version_of_fixed_page` is that of `_versions_of_fixed_pages`.
    """
    at = partial(edition.at, language=language)
    for path, page in pages().items():
        if path != "compare":
            yield _page(board, page, at(path), version_of_fixed_page.get(path, versions.board))
    yield File(page_file("submit", language), "", partial(_ascii, how_to_submit, board, at("submit")))
    for row in view.queue[: queue.MAX_ROWS]:
        yield _page(board, queue.REQUEST, at(queue.FOLDER + row.key), versions.queue)
    for name in view.rows_by_model:
        yield _page(board, model.MODEL, at(model.FOLDER + name), versions.by_model[name])
    yield File(page_file("404", language), "", partial(_ascii, missing, board, at("404")))


def _versions_of_fixed_pages(view: View, versions: _Versions) -> dict[str, str]:
    """Return the versions of pages at fixed addresses, by path. Pages that are not listed depend on all tables."""
    today = datetime.now(UTC).date().isoformat()  # the overview shows the rank changes of the last seven days
    # Pages of facts link to the pages of models.
    models_with_a_page = _digest(sorted(view.models_by_name))
    return {
        "": versions.board + today,
        "queue": versions.queue,
        lineage.PATH: models_with_a_page,
        register.PATH: models_with_a_page,
        **dict.fromkeys(register.slug_pages(), models_with_a_page),
        **versions.by_benchmark,
        **{explorer.FOLDER + name: version for name, version in versions.by_benchmark.items()},
    }


def _data_in_language(
    board: LiveBoard,
    view: View,
    edition: Edition,
    language: Language,
    versions: _Versions,
    overview_chart: Data,
) -> Iterator[File]:
    """Yield what the pages in a language load later (whole tables, charts), and the feed."""
    at = partial(edition.at, language=language)
    if edition.address:
        yield File(data_file("feed.xml", language), versions.board, partial(feed, view, at("")))
    for name, rows in view.boards.items():
        version = versions.by_benchmark[name]
        if len(rows) > ROWS_PER_PAGE:
            yield File(f"rows/{name}.{language}.html", version, partial(_ascii, table_rows, board, at(name)))
        for kind in charts_of(name):
            # The page has a chart of parts for each axis. Any other kind has one chart, without an axis.
            axes = view.tables[name].axes if kind == "parts" else []
            for axis in axes or [""]:
                file = data_file(f"charts/{name}/{kind}.json", language, axis)
                yield File(file, version, partial(_figure, board, kind, name, language, axis))
    if len(view.models) > FIRST_ROWS:
        yield File(f"rows/overview.{language}.html", versions.board, partial(_ascii, overview_rows, board, at("")))
    overview = partial(figure_json, OVERVIEW, overview_chart, None, language)
    yield File(data_file(f"charts/overview/{OVERVIEW}.json", language), versions.board, overview)


def _files_of_benchmarks(board: LiveBoard, view: View, versions: _Versions) -> Iterator[File]:
    """Yield the downloads of each benchmark: its table, the data of its charts, pictures of samples, and results."""
    for name, rows in view.boards.items():
        version = versions.by_benchmark[name]
        for suffix, (_, convert) in FORMATS.items():
            yield File(f"boards/{name}.{suffix}", version, partial(convert, rows, name))
        for kind in charts_of(name):
            yield File(f"charts/{name}/{kind}.csv", version, partial(_chart_csv, board, kind, name))
        for item in public_items(name):
            for picture in item.pictures:
                yield File(f"samples/{name}/{picture}", "", partial(public_file, name, picture))
        for ranked in rows:
            yield File(f"results/{ranked.row.key}.json", ranked.row.blob, partial(board.result_json, ranked.row.key))


def _files_of_record(view: View, version: str) -> Iterator[File]:
    """Yield the downloads of unseen sets, errata and the public record."""
    record = partial(record_json, view.boards, view.retired, view.commitments, view.private_attempts)
    yield File("unseen.csv", version, lambda: rows_to_csv(unseen_rows(view.unseen), UNSEEN_COLUMNS))
    yield File("unseen.json", version, lambda: json.dumps(unseen_rows(view.unseen)).encode())
    yield File("errata.json", version, lambda: json.dumps(errata_json(view.errata), ensure_ascii=False).encode())
    yield File("record.json", version, lambda: json.dumps(record(), ensure_ascii=False).encode())


def _files_of_facts() -> Iterator[File]:
    """Yield the downloads of the lineage and of the register of published numbers."""
    yield File("lineage.json", "", LINEAGE.read_bytes)
    for suffix, (_, write_numbers) in REGISTER_FORMATS.items():
        yield File(f"register.{suffix}", "", partial(write_numbers, numbers()))
        for slug, published_set in BY_SLUG.items():
            write = partial(write_numbers, numbers_of_set(published_set.title))
            yield File(f"register/{slug}.{suffix}", "", write)


def _rows_version(view: View, name: str, rows: Sequence[RankedRow]) -> str:
    """Return the version of what the table of a benchmark shows."""
    shown: list[object] = []
    for r in rows:
        row = r.row
        computed = row.attempt, row.asked_before, row.errata, row.retired, row.reproduction, row.unseen_change
        shown.append((row.blob, *computed, view.families.get(row.model), r.rank, r.best, r.worst, r.tie))
    return _digest([shown, view.errata_of(name), len(view.unreadable)])


def _model_version(view: View, name: str, rows: Sequence[RankedRow]) -> str:
    """Return the version of what the page of a model shows.

    How many models there are and what the median is are left out. These change with every result, so all pages would have to
    be written again. The templates do not show them on pages that are files (`FileLocation`).
    """
    shown: list[object] = []
    for r in rows:
        row = r.row
        same_size = view.standings.of(r).same_size if r.rank else None
        rows_of_base = view.rows_by_model.get(row.base_model or "", ())
        shown.append(
            [
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
                (same_size.row.model, same_size.row.score) if same_size else None,
                view.tables[row.benchmark].best_of_parts(row.split, row.headline),
                [base.row.blob for base in rows_of_base],
            ]
        )
    places = view.overall_places.get(name, {}).values()
    overall = [(place.rank, place.best, place.worst, place.benchmarks) for place in places]
    relatives = view.standings.relatives(name)
    listed_ancestors = [ancestor for ancestor in relatives.ancestors if ancestor in view.models_by_name]
    return _digest([shown, overall, relatives, listed_ancestors, view.unseen_by_model.get(name)])


def _page(board: LiveBoard, page: Page, here: FileLocation, depends_on: str) -> File:
    """Return the file of a page. `depends_on` is also the version that the page contains (`Page.write`)."""
    return File(page_file(here.path, here.language), depends_on, partial(_ascii, page.write, board, here, depends_on))


def _ascii(write: Callable[..., str | None], *args: object) -> bytes | None:
    """Return the page that `write` returns as ASCII, with other characters as references (한 -> &#54620;).

    A static Space inserts a script into pages, and was seen to break characters of several bytes.
    """
    html = write(*args)
    return None if html is None else html.encode("ascii", "xmlcharrefreplace")


def _figure(board: LiveBoard, kind: Kind, name: str, language: Language, axis: str) -> bytes:
    """Return a chart of a benchmark as JSON for plotly.js."""
    data = chart_data(kind, board.view().boards[name], axis)
    return figure_json(kind, data, BENCHMARKS[name], language)


def _chart_csv(board: LiveBoard, kind: Kind, name: str) -> bytes:
    """Return the data of a chart of a benchmark as CSV."""
    return rows_to_csv(chart_data(kind, board.view().boards[name]), COLUMNS[kind])


def _digest(values: object) -> str:
    return _digest_of_text(repr(values))


def _digest_of_text(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _code_version() -> str:
    """Return a text that changes with the code, templates and files of `assets` that pages are written with."""
    folders = ("leaderboard", "submissions/texts", "evaluator/benchmarks")
    files = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    paths = [path for path in files if path.suffix in (".py", ".html", ".xml")]
    paths += [*ASSETS.glob("*.json"), *ASSETS.glob("*.csv")]
    loaded_paths = [asset_path(name) for name in LOADED_BY_PAGES]
    return _digest([path.read_bytes() for path in [*sorted(paths), *loaded_paths]])
