"""Render pages, feeds and badges from the templates in `templates/`. Jinja escapes all values; no other code writes HTML.

Each language has a Jinja environment of its own, whose filters and globals return texts in that language. In templates,
`t("key")` is a text of `texts.py`, `label("key")` the label of a column, and `here` the `Location` of the page, which writes
all links.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, get_args

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.environment import TemplateModule

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.metrics import Metric
from evaluator.statistics.power import smallest_difference
from leaderboard.data.columns import MODEL_COLUMNS, RANK, RANK_LABEL, RUN_COLUMNS
from leaderboard.data.export import KST
from leaderboard.data.memory import GpuMemory, cards_that_fit
from leaderboard.data.query import SIZES, maker_words, search_words, size_of
from leaderboard.data.ranking import RankedRow, rank_text
from leaderboard.facts.licences import Commercial, commercial_use, licence_of
from leaderboard.facts.lineage import Encoder, Origin, encoder_of, origin_of
from leaderboard.views.location import style_sheet
from leaderboard.views.row_marks import labels, marks_in
from leaderboard.views.texts import TEXTS, Language, headline_title, mode_suffix, text, translate
from leaderboard.views.verdict import amount, change_in_words, prices, signed, verdict
from submissions.records.index_rows import BoardRow
from submissions.records.options import PRECISIONS, THINKING
from submissions.records.request import Status

_COLUMN_LABELS = {column.key: column.label for column in (*MODEL_COLUMNS, *RUN_COLUMNS)}
# The characters that LaTeX reads as commands, and how a text contains them.
_LATEX_ESCAPES = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}

# Filters: how templates format values. "–" stands for a value that is not known.


def score_text(value: float | None, interval: tuple[float, float] | None = None) -> str:
    """Format a score in percent: 71.25 -> "71.25", or "71.2" if its 95 % interval is ±1 or wider."""
    if value is None:
        return "–"
    if interval and interval[1] - interval[0] >= 2:
        return f"{value:.1f}"
    return f"{value:.2f}"


def _points(value: float) -> str:
    """Format a difference in points. Adding 0.0 turns -0.0 into 0.0."""
    return f"{round(value, 1) + 0.0:.1f}"


def _whole(value: float | None) -> str:
    """Format a number without decimals: 12345.6 -> "12,346"."""
    return "–" if value is None else f"{value:,.0f}"


def milliseconds(value: float | None) -> str:
    """Format a latency without its unit: 1234.5 -> "1,234", 12.34 -> "12.3"."""
    if value is None:
        return "–"
    if value >= 99.95:  # 99.96 would be 100.0
        return f"{value:,.0f}"
    return f"{value:.1f}"


def _day(timestamp: float | None) -> str:
    """Format the day of a Unix timestamp in Korean time: "2026-11-28"."""
    return "–" if timestamp is None else datetime.fromtimestamp(timestamp, UTC).astimezone(KST).strftime("%Y-%m-%d")


def _moment(value: datetime | None) -> str:
    """Format a time in Korean time, with seconds and without the year: "11-28 09:30:00"."""
    return "–" if value is None else value.astimezone(KST).strftime("%m-%d %H:%M:%S")


def _full_moment(value: datetime) -> str:
    """Format a time in Korean time, with the year and without seconds: "2026-11-28 09:30"."""
    return value.astimezone(KST).strftime("%Y-%m-%d %H:%M")


def _latex(value: str) -> str:
    r"""Escape a text for LaTeX: "KO_VQA 100%" -> r"KO\_VQA 100\%"."""
    return "".join(_LATEX_ESCAPES.get(character, character) for character in value)


def minutes(value: timedelta) -> str:
    """Format a duration in minutes, at least one."""
    return f"{max(1, round(value.total_seconds() / 60)):,}"


def size_title(size: str, language: Language) -> str:
    """Return the title of a range of parameter counts, a key of SIZES: "4-8" -> "4–8B", "0-2" -> "below 2B"."""
    low, _, high = size.partition("-")
    if not high:
        return text("size_from", language, low=low)
    return text("size_below", language, high=high) if low == "0" else f"{low}–{high}B"


def _environment(language: Language) -> Environment:
    """Return the template environment of a language, with the filters and globals of all templates."""

    def label(key: str) -> str:
        return translate(_COLUMN_LABELS[key], language)

    def axis_title(benchmark: str, axis: str) -> str:
        return translate(BENCHMARKS[benchmark].card.axis_title(axis), language)

    def bucket_title(benchmark: str, bucket: str) -> str:
        return translate(BENCHMARKS[benchmark].card.bucket_title(bucket), language)

    def titled(row: BoardRow) -> str:
        """Return the name of a row's model, with its reasoning mode if it has one: "org/model (reasoning on)"."""
        return row.model + mode_suffix(row.thinking, language)

    def metrics_of(rows: Sequence[RankedRow]) -> list[Metric]:
        """Return the metrics that rows of one benchmark are ranked by."""
        names = dict.fromkeys(ranked.row.headline for ranked in rows)  # measured and reported ones may differ
        return [BENCHMARKS[rows[0].row.benchmark].metric(name) for name in names]

    def named(value: str, kind: str) -> str:
        """Return the text for a value of a record, or the value itself if there is none: ("test", "split") -> "test set"."""
        key = f"{kind}_{value}"
        return text(key, language) if key in TEXTS else value

    def titles(values: Iterable[str], kind: str) -> list[tuple[str, str]]:
        """Return values with their texts, for the choices of a filter: [("open", "open"), …] for the kind "weights"."""
        return [(value, text(f"{kind}_{value}", language)) for value in values]

    def benchmark_title(name: str) -> str:
        return BENCHMARKS[name].card.title

    def is_ranked_split(row: BoardRow) -> bool:
        return row.split == BENCHMARKS[row.benchmark].card.split

    def headline_titles(row: BoardRow) -> tuple[str, str]:
        """Return the titles of the metrics that measured and reported rows of a row's benchmark are ranked by.

        They are the same for most benchmarks. `headline_title` has both in one text.
        """
        benchmark = BENCHMARKS[row.benchmark]
        measured = benchmark.card.headline
        reported = benchmark.card.reported_headline or measured
        measured_title = translate(benchmark.metric(measured).title, language)
        reported_title = translate(benchmark.metric(reported).title, language)
        return measured_title, reported_title

    def benchmark_titles() -> list[tuple[str, str]]:
        return [(name, benchmark.card.title) for name, benchmark in BENCHMARKS.items()]

    sizes = [(size, size_title(size, language)) for size in SIZES]
    cards = [(card, f"{card} GB") for card in get_args(GpuMemory)]
    statuses = [status.value for status in Status]
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        auto_reload=False,  # otherwise Jinja looks up on disk for every page whether its templates were changed
    )
    environment.filters.update(
        score=score_text,
        amount=amount,
        points=_points,
        whole=_whole,
        ms=milliseconds,
        day=_day,
        moment=_moment,
        full_moment=_full_moment,
        minutes=minutes,
        translate=partial(translate, language=language),
        named=named,
        latex=_latex,
        headline_titles=headline_titles,
    )
    environment.globals.update(
        t=partial(text, language=language),
        label=label,
        axis_title=axis_title,
        bucket_title=bucket_title,
        language=language,
        benchmark_title=benchmark_title,
        benchmark_titles=benchmark_titles,
        is_ranked_split=is_ranked_split,
        memory_choices=cards,
        origin_choices=titles(get_args(Origin), "origin"),
        encoder_choices=titles(get_args(Encoder), "encoder"),
        cards_that_fit=cards_that_fit,
        in_words=partial(change_in_words, language=language),
        prices=prices,
        signed=signed,
        rank_text=rank_text,
        standing=partial(verdict, language=language),  # `verdict` is the name of a macro in marks.html and compare.html
        origin_of=origin_of,
        encoder_of=encoder_of,
        commercial_choices=titles(get_args(Commercial), "commercial"),
        licence_of=licence_of,
        commercial_use=commercial_use,
        size_of=size_of,
        search_words=search_words,
        maker_words=maker_words,
        size_choices=sizes,
        thinking_choices=titles(THINKING, "thinking"),  # of the filter
        thinking_modes=("auto", *THINKING),  # of the form
        headline_title=partial(headline_title, language=language),
        float_precisions=PRECISIONS,
        statuses=statuses,
        titled=titled,
        metrics_of=metrics_of,
        labels_of=partial(labels, language=language),
        marks_in=marks_in,
        smallest_difference=smallest_difference,
        rank_label=RANK_LABEL,
        rank_sort=RANK,
        style_sheet=style_sheet,
    )
    return environment


_environments: dict[Language, Environment] = {language: _environment(language) for language in get_args(Language)}


def macros(template: str, language: Language, **values: Any) -> TemplateModule:
    """Return the macros of a template as functions. Inside of them, the given values are defined."""
    return _environments[language].get_template(template).make_module(values)


def render(template: str, language: Language, **values: Any) -> str:
    """Render a template with the given values. A value that the template reads and that is not given is an error."""
    return _environments[language].get_template(template).render(**values)
