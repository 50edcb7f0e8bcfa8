"""The columns of a benchmark's table. One entry drives the board, its sorting and choosing, the address and the files."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.metrics import Metric
from leaderboard.data.ranking import RankedRow
from submissions.records.index_rows import BoardRow
from submissions.texts.text import Text

Order = Literal["ascending", "descending"]


@dataclass(frozen=True)
class Column:
    """A column of the table: a field of the BoardRow, a metric, or the headline score of a part of the questions."""

    key: str  # in addresses: ?columns=KEY, ?sort=KEY
    label: Text
    field: str = ""  # of a BoardRow
    cell: str = ""  # the macro of cells.html that draws it
    metric: str = ""
    part: tuple[str, str] | None = None  # axis, bucket
    order: Order | None = None  # of sorting by it; None: it is not sorted by
    order_label: Text | None = None
    hint: Text | None = None
    unit: Text | None = None
    optional: bool = True  # whether a visitor can leave it out
    default: bool = True  # whether it is shown unless chosen otherwise
    wide: bool = False  # left out on narrow screens
    numeric: bool = True
    export: tuple[str, ...] = ()  # fields of a BoardRow in the files

    def value(self, row: BoardRow) -> Any:
        """Return what is shown and sorted by, None if it is not known. Scores are in percent."""
        if self.metric:
            return row.metrics.get(self.metric)
        if self.part:
            axis, bucket = self.part
            found = row.breakdown.get(axis, {}).get(bucket)
            return found.score if found else None
        return getattr(row, self.field)


_TIMED_WHOLE = ", ".join(one.card.title for one in BENCHMARKS.values() if one.latency_protocol == "total")

MODEL_COLUMNS = (
    Column(
        "name",
        Text("모델", "Model"),
        "model",
        "model",
        order="ascending",
        order_label=Text("이름순", "Name"),
        optional=False,
        numeric=False,
        export=("model", "published_as", "organisation", "role"),
    ),
    Column(
        "params",
        Text("파라미터 수", "Parameters"),
        "params",
        "amount",
        order="ascending",
        order_label=Text("파라미터 적은 순", "Parameters, fewest first"),
        wide=True,
        export=("params",),
    ),
    Column(
        "weights", Text("가중치", "Weights"), "weights", "weights", default=False, numeric=False, export=("weights",)
    ),
    Column(
        "license",
        Text("라이선스", "Licence"),
        "license",
        "plain",
        default=False,
        numeric=False,
        export=(
            *("license", "precision", "revision", "thinking", "base_model", "custom_code", "server", "decoding"),
            *("max_answer_tokens", "max_reasoning_tokens"),
        ),
    ),
)
PARTS = Column("parts", Text("영역별 점수", "Scores by category"))  # in choices: all columns of parts
RUN_COLUMNS = (
    Column(
        "reasoning",
        Text("추론 토큰", "Reasoning tokens"),
        "reasoning_tokens",
        "whole",
        hint=Text("답변당 평균 추론 토큰 수", "Average number of reasoning tokens per answer"),
        export=("reasoning_tokens",),
    ),
    Column(
        "reasoning_right",
        Text("정답당 추론 토큰", "Reasoning tokens per correct answer"),
        "reasoning_per_right",
        "whole",
        hint=Text(
            "추론 토큰 합계를 정답 수로 나눈 값", "Total reasoning tokens divided by the number of correct answers"
        ),
        default=False,
        export=("reasoning_per_right",),
    ),
    Column(
        "latency",
        Text("지연 시간", "Latency"),
        "latency_ms",
        "latency",
        order="ascending",
        order_label=Text("지연 시간 짧은 순", "Latency, lowest first"),
        hint=Text(
            f"배치 크기 1로 측정한 문항당 시간의 중앙값입니다. {_TIMED_WHOLE}에서는 (전처리+추론) 시간을 문항 수로 나눕니다. 값에 마우스를 올리면 하드웨어가 표시됩니다.",
            f"Median per item at batch size 1; for {_TIMED_WHOLE}, (preprocessing + inference) / items. Hover over a value to see the hardware.",
        ),
        unit=Text("ms/문항", "ms/item"),
        export=("latency_ms", "hardware", "outcome"),
    ),
    Column(
        "n", Text("문항 수", "Items"), "n", "whole", wide=True, export=("n", "split", "dataset", "benchmark_version")
    ),
    Column(
        "date",
        Text("날짜", "Date"),
        "date",
        "day",
        order="descending",
        order_label=Text("최신순", "Newest first"),
        wide=True,
        numeric=False,
        export=("date",),
    ),
    Column(
        "source",
        Text("출처", "Source"),
        "kind",
        "source",
        numeric=False,
        export=("kind", "reproduction", "retired", "source", "source_url", "key"),
    ),
)
RANK = "score"  # the order of the ranking itself
RANK_LABEL = Text("순위", "Rank")


def metric_columns(benchmark: str) -> list[Column]:
    """Return a column for each metric of a benchmark. Those that rank are always shown."""
    own = BENCHMARKS[benchmark]
    ranking = (own.card.headline, own.card.reported_headline)
    return [_metric_column(metric, optional=metric.name not in ranking) for metric in own.metrics]


def _metric_column(metric: Metric, *, optional: bool) -> Column:
    return Column(
        metric.name,
        metric.title,
        cell="metric",
        metric=metric.name,
        order="descending",
        order_label=Text(f"{metric.title.ko} 높은 순", f"{metric.title.en}, highest first"),
        hint=metric.hint,
        optional=optional,
        default=metric.column,
    )


def choices(benchmark: str) -> list[Column]:
    """Return the columns that a visitor can choose for a benchmark, one for all of its parts."""
    parts = [PARTS] if BENCHMARKS[benchmark].card.columns else []
    every = [*MODEL_COLUMNS, *metric_columns(benchmark), *parts, *RUN_COLUMNS]
    return [column for column in every if column.optional]


def sortable(benchmark: str) -> list[Column]:
    """Return the columns that a benchmark's table can be sorted by; the ranking is one more order."""
    metrics = [column for column in metric_columns(benchmark) if column.default or not column.optional]
    return [*metrics, *(column for column in (*RUN_COLUMNS, *MODEL_COLUMNS) if column.order)]


def all_choices() -> dict[str, Column]:
    """Return every column that can be chosen on some benchmark, by key."""
    return {column.key: column for column in chain.from_iterable(map(choices, BENCHMARKS))}


def default_keys() -> tuple[str, ...]:
    """Return the keys of the columns that are shown unless chosen otherwise."""
    return tuple(key for key, column in all_choices().items() if column.default)


def sort_keys() -> list[str]:
    """Return every order that some benchmark's table can have."""
    return list(dict.fromkeys([RANK, *(column.key for name in BENCHMARKS for column in sortable(name))]))


def columns_of(benchmark: str, rows: Sequence[RankedRow], chosen: Sequence[str], sort: str = RANK) -> list[Column]:
    """Return the columns of a benchmark's table: those chosen, without default ones that are empty in all rows."""
    card = BENCHMARKS[benchmark].card
    parts = [Column(f"part-{n}", c.title, cell="score", part=(c.axis, c.bucket)) for n, c in enumerate(card.columns)]
    every = [
        *MODEL_COLUMNS,
        *metric_columns(benchmark),
        *(parts if PARTS.key in chosen else ()),
        *RUN_COLUMNS,
    ]
    shown = [column for column in every if not column.optional or column.key in chosen or column.part]
    kept = {sort, card.reported_headline or card.headline}
    kept |= {r.row.headline for r in rows if r.row.outcome != "scored"}  # its cell says why there is no score
    return [column for column in shown if column.key in kept or not _is_empty(column, rows)]


def _is_empty(column: Column, rows: Sequence[RankedRow]) -> bool:
    return column.default and bool(rows) and all(column.value(r.row) is None for r in rows)


def exported(benchmark: str) -> list[str]:
    """Return the fields of a benchmark's rows in files: those of BoardRow, and each metric with its 95 % interval."""
    metrics = [f"{name}{end}" for name in _metric_names(benchmark) for end in ("", "_low", "_high")]
    own, run = ([name for column in columns for name in column.export] for columns in (MODEL_COLUMNS, RUN_COLUMNS))
    return [*own, *metrics, *run]


def exported_values(row: BoardRow) -> dict[str, Any]:
    """Return the values of these fields. Scores are in percent."""
    values: dict[str, Any] = {}
    for name in _metric_names(row.benchmark):
        low, high = row.intervals.get(name, (None, None))
        values |= {name: row.metrics.get(name), f"{name}_low": low, f"{name}_high": high}
    return {name: values[name] if name in values else getattr(row, name) for name in exported(row.benchmark)}


def _metric_names(benchmark: str) -> list[str]:
    return [metric.name for metric in BENCHMARKS[benchmark].metrics]
