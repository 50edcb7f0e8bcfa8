"""Declare the columns of a benchmark's table.

A `Column` defines how a column is shown, sorted and hidden, its key in URLs, and its fields in exported files. The columns
of a table are, from left to right: the model's name, the benchmark's metrics, its parts, then MODEL_COLUMNS (the model),
UNSEEN (public sets only) and RUN_COLUMNS (how the result was measured).

`columns_of` is what a page shows, `choices` and `sortable` are what a visitor can choose from, and `export.py` reads
`Column.export`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.metrics import Metric
from leaderboard.data.breakdown import BIG_LOSS, first_big_loss
from leaderboard.data.ranking import RankedRow
from leaderboard.facts.lineage import encoder_of, origin_of
from submissions.records.index_rows import BoardRow
from submissions.texts.text import Text

Order = Literal["ascending", "descending"]


@dataclass(frozen=True)
class Column:
    """A column of the table.

    Its value comes from exactly one of `field`, `metric`, `part` and `compute`.
    """

    key: str  # in URLs: ?columns=KEY, ?sort=KEY
    label: Text
    field: str = ""  # a field of BoardRow
    cell: str = ""  # the macro of cells.html that renders it
    metric: str = ""  # the name of a metric of the benchmark
    part: tuple[str, str] | None = None  # axis and bucket: the headline score on a part of the items
    compute: Callable[[BoardRow], Any] | None = None  # for a value that is none of these
    order: Order | None = None  # sort order; None: the table cannot be sorted by this column
    order_label: Text | None = None  # what the choice of sort orders shows
    hint: Text | None = None  # explanation of the column's head
    unit: Text | None = None
    optional: bool = True  # whether a visitor can hide it
    is_shown_first: bool = True  # whether it is shown until the visitor chooses columns
    wide: bool = False  # hidden on narrow screens
    numeric: bool = True
    # Fields of BoardRow that exported files have in the place of this column. Fields that no column shows are added to one:
    # `decoding`, for example, follows the licence.
    export: tuple[str, ...] = ()

    def value(self, row: BoardRow) -> Any:
        """Return the value to show and sort by, or None if it is unknown. Scores are in percent."""
        if self.metric:
            return row.metrics.get(self.metric)
        if self.compute:
            return self.compute(row)
        if self.part:
            axis, bucket = self.part
            bucket_score = row.breakdown.get(axis, {}).get(bucket)
            return bucket_score.score if bucket_score else None
        return getattr(row, self.field)


# Titles of the benchmarks whose latency is measured over the whole run.
_TIMED_WHOLE = ", ".join(
    benchmark.card.title for benchmark in BENCHMARKS.values() if benchmark.latency_protocol == "total"
)

MODEL_COLUMNS = (
    Column(
        "name",
        Text("모델", "Model"),
        field="model",
        cell="model",
        order="ascending",
        order_label=Text("이름순", "Name"),
        optional=False,
        numeric=False,
        export=("model", "published_as", "organisation", "role"),
    ),
    Column(
        "params",
        Text("파라미터 수", "Parameters"),
        field="params",
        cell="amount",
        order="ascending",
        order_label=Text("파라미터 적은 순", "Parameters, fewest first"),
        wide=True,
        export=("params",),
    ),
    Column(
        "weights",
        Text("가중치", "Weights"),
        field="weights",
        cell="weights",
        is_shown_first=False,
        numeric=False,
        export=("weights",),
    ),
    Column(
        "license",
        Text("라이선스", "Licence"),
        field="license",
        cell="licence",
        is_shown_first=False,
        numeric=False,
        export=(
            "license",
            "precision",
            "revision",
            "thinking",
            "base_model",
            "custom_code",
            "server",
            "decoding",
            "max_answer_tokens",
            "max_reasoning_tokens",
        ),
    ),
    Column(
        "language_model",
        Text("언어 모델 출처", "Language model from"),
        cell="origin",
        compute=lambda row: _none_if_unknown(origin_of(row.model, row.base_model)),
        is_shown_first=False,
        numeric=False,
        hint=Text(
            "제작사가 밝힌 내용입니다. 출처는 계보 페이지에 있습니다.",
            "As the maker declares. Sources are on the lineage page.",
        ),
    ),
    Column(
        "vision_encoder",
        Text("비전 인코더 출처", "Vision encoder from"),
        cell="encoder",
        compute=lambda row: _none_if_unknown(encoder_of(row.model)),
        is_shown_first=False,
        numeric=False,
        hint=Text(
            "제작사가 밝힌 내용입니다. 출처는 계보 페이지에 있습니다.",
            "As the maker declares. Sources are on the lineage page.",
        ),
    ),
)
UNSEEN = Column(
    "unseen",
    Text("처음 보는 문항과의 순위 차", "Unseen − public"),
    cell="unseen",
    compute=lambda row: row.unseen_change[0] if row.unseen_change else None,
    order="descending",
    order_label=Text("처음 보는 문항에서 많이 내려간 순", "Places lost on unseen questions, most first"),
    hint=Text(
        "아무도 미리 볼 수 없는 문항에서의 순위에서 이 세트의 순위를 뺀 값입니다. 작은 숫자는 두 순위의 범위가 허용하는 차이이고, 0을 포함하면 알 수 없습니다.",
        "Rank on questions that nobody can have seen, minus the rank on this set. The small numbers are the differences that both rank ranges allow; if they include 0, nothing is known.",
    ),
    is_shown_first=False,
)
# Never a column of the table: the choice that shows or hides the columns of all parts at once.
PARTS = Column("parts", Text("영역별 점수", "Scores by category"))
RUN_COLUMNS = (
    Column(
        "reasoning",
        Text("추론 토큰", "Reasoning tokens"),
        field="reasoning_tokens",
        cell="whole",
        hint=Text("답변당 평균 추론 토큰 수", "Average number of reasoning tokens per answer"),
        export=("reasoning_tokens",),
    ),
    Column(
        "reasoning_right",
        Text("정답당 추론 토큰", "Reasoning tokens per correct answer"),
        field="reasoning_per_right",
        cell="whole",
        hint=Text(
            "추론 토큰 합계를 정답 수로 나눈 값", "Total reasoning tokens divided by the number of correct answers"
        ),
        is_shown_first=False,
        export=("reasoning_per_right",),
    ),
    Column(
        "latency",
        Text("지연 시간", "Latency"),
        field="latency_ms",
        cell="latency",
        order="ascending",
        order_label=Text("지연 시간 짧은 순", "Latency, lowest first"),
        hint=Text(
            f"문항을 하나씩 풀 때(배치 크기 1) 걸린 시간의 중앙값입니다. {_TIMED_WHOLE}에서는 전처리와 풀이에 걸린 전체 시간을 문항 수로 나눕니다. 하드웨어는 값 아래에 있습니다.",
            f"Median time per item at batch size 1. For {_TIMED_WHOLE}, the total time of preprocessing and inference divided by the number of items. The hardware is named below the value.",
        ),
        unit=Text("ms/문항", "ms/item"),
        export=("latency_ms", "hardware", "outcome"),
    ),
    Column(
        "memory",
        Text("GPU 메모리", "GPU memory"),
        field="gpu_memory_gb",
        cell="score",
        order="ascending",
        order_label=Text("GPU 메모리 적은 순", "GPU memory, lowest first"),
        hint=Text(
            "문항을 하나씩 풀 때 필요했던 GPU 메모리의 최댓값입니다. 모델 서버로 평가한 결과에는 없습니다.",
            "Peak GPU memory while items were answered one at a time. Not measured when a model server answered.",
        ),
        unit=Text("GB", "GB"),
        is_shown_first=False,
        export=("gpu_memory_gb",),
    ),
    Column(
        "cost",
        Text("비용", "Cost"),
        field="usd_per_1000",
        cell="score",
        order="ascending",
        order_label=Text("비용 낮은 순", "Cost, lowest first"),
        hint=Text(
            "1,000문항당 비용입니다. API는 제공자의 가격, 직접 실행한 모델은 장비 시간과 운영자가 정한 시간당 가격으로 계산합니다. 시간당 가격은 모델 페이지에 있습니다.",
            "Cost of 1,000 items: the provider's price for APIs, device time at the operator's hourly price for models that we ran. The hourly price is on the model's page.",
        ),
        unit=Text("USD/1,000문항", "USD/1,000 items"),
        export=("usd_per_1000",),
    ),
    Column(
        "tokens",
        Text("문항당 토큰", "Tokens per item"),
        field="tokens_per_answer",
        cell="whole",
        order="ascending",
        order_label=Text("문항당 토큰 적은 순", "Tokens per item, fewest first"),
        hint=Text(
            "문항당 생성한 평균 토큰 수 (추론과 한 문항의 모든 질문 포함)",
            "Average number of generated tokens per item, including reasoning and all questions about the item",
        ),
        is_shown_first=False,
        export=("tokens_per_answer",),
    ),
    Column(
        "n",
        Text("문항 수", "Items"),
        field="n",
        cell="whole",
        wide=True,
        export=("n", "split", "dataset", "benchmark_version"),
    ),
    Column(
        "date",
        Text("날짜", "Date"),
        field="date",
        cell="day",
        order="descending",
        order_label=Text("최신순", "Newest first"),
        wide=True,
        numeric=False,
        export=("date",),
    ),
    Column(
        "source",
        Text("출처", "Source"),
        field="kind",
        cell="source",
        numeric=False,
        export=("kind", "reproduction", "retired", "source", "source_url", "key"),
    ),
)
RANK = "score"  # the sort key of the ranking itself, which is not a column: ?sort=score
RANK_LABEL = Text("순위", "Rank")
LADDER_COLUMN = Column(
    "ladder",
    Text(
        f"점수가 {BIG_LOSS:g}점 넘게 떨어지는 첫 화질", f"First image quality with a drop of over {BIG_LOSS:g} points"
    ),
    cell="ladder",
    compute=first_big_loss,
    numeric=False,
    hint=Text(
        f"원본 이미지보다 점수가 {BIG_LOSS:g}점 넘게 떨어지는 첫 단계입니다. 단계 순서: 스캔, 사진, 팩스, 72dpi, 재압축",
        f"The first kind of degraded image on which the model loses more than {BIG_LOSS:g} points against the clean one. Order: scanned, photographed, faxed, 72 dpi, recompressed.",
    ),
)


def _none_if_unknown(value: str) -> str | None:
    return None if value == "unknown" else value


def metric_columns(benchmark: str) -> Sequence[Column]:
    """Return a column for each metric of a benchmark, first those that rank, which cannot be hidden."""
    return _metric_columns(BENCHMARKS[benchmark])


# Cached, because every request reads them: by benchmark and not by name, because tests register new ones under a name.
@cache
def _metric_columns(benchmark: Benchmark) -> Sequence[Column]:
    ranking = [benchmark.card.headline, benchmark.card.reported_headline]
    ranking_metrics = [metric for metric in benchmark.metrics if metric.name in ranking]
    ranking_metrics.sort(key=lambda metric: ranking.index(metric.name))
    other_metrics = [metric for metric in benchmark.metrics if metric.name not in ranking]
    columns = [_metric_column(metric, optional=False) for metric in ranking_metrics]
    columns += [_metric_column(metric, optional=True) for metric in other_metrics]
    if benchmark.card.ladder:
        columns.append(LADDER_COLUMN)
    return tuple(columns)


def _metric_column(metric: Metric, *, optional: bool) -> Column:
    return Column(
        metric.name,
        metric.title,
        cell="metric",
        metric=metric.name,
        order="descending",
        order_label=Text(f"{metric.order_title.ko} 높은 순", f"{metric.order_title.en}, highest first"),
        hint=metric.hint,
        optional=optional,
        is_shown_first=metric.column,
    )


def filled(benchmark: str, rows: Sequence[RankedRow]) -> frozenset[str]:
    """Return the keys of the columns of `choices` and `sortable` that have a value in some row, and PARTS."""
    found = {PARTS.key}  # which has no values of its own
    for column in (*choices(benchmark), *sortable(benchmark)):
        if column.key not in found and any(column.value(r.row) is not None for r in rows):
            found.add(column.key)
    return frozenset(found)


def choices(benchmark: str) -> list[Column]:
    """Return the columns that a visitor can show or hide for a benchmark; PARTS represents all columns of parts."""
    parts = [PARTS] if BENCHMARKS[benchmark].card.columns else []
    every = [*MODEL_COLUMNS, *metric_columns(benchmark), *parts, *_unseen(benchmark), *RUN_COLUMNS]
    return [column for column in every if column.optional]


def sortable(benchmark: str) -> list[Column]:
    """Return the columns that a benchmark's table can be sorted by, besides the ranking.

    Metrics that are hidden at first are left out, so that the menu is short.
    """
    metrics = [column for column in metric_columns(benchmark) if column.is_shown_first or not column.optional]
    every = (*metrics, *_unseen(benchmark), *RUN_COLUMNS, *MODEL_COLUMNS)
    return [column for column in every if column.order]


def _unseen(benchmark: str) -> list[Column]:
    """Return the column of rank differences, which only the tables of public sets have."""
    return [UNSEEN] if BENCHMARKS[benchmark].card.is_public else []


def default_keys(benchmark: str) -> list[str]:
    """Return the keys of the columns that are shown unless chosen otherwise."""
    return [column.key for column in choices(benchmark) if column.is_shown_first]


def choice_keys() -> list[str]:
    """Return every key that can be chosen on some benchmark."""
    return list(dict.fromkeys(column.key for name in BENCHMARKS for column in choices(name)))


def sort_keys() -> list[str]:
    """Return every sort key that at least one benchmark's table has."""
    return list(dict.fromkeys([RANK, *(column.key for name in BENCHMARKS for column in sortable(name))]))


def columns_of(
    benchmark: str, rows: Sequence[RankedRow], chosen: Sequence[str] | None, sort: str = RANK
) -> list[Column]:
    """Return the columns of a benchmark's table, from left to right.

    `chosen` are the keys of the optional columns to show, None for the default ones. Columns that are shown by default are
    left out if no row has a value, except for the column that the table is sorted by and those of headline scores.
    """
    card = BENCHMARKS[benchmark].card
    if chosen is None:
        chosen = default_keys(benchmark)
    parts: list[Column] = []
    if PARTS.key in chosen:
        for number, part in enumerate(card.columns):
            parts.append(Column(f"part-{number}", part.title, cell="score", part=(part.axis, part.bucket)))
    name, *other_model_columns = MODEL_COLUMNS
    every = [
        name,
        *metric_columns(benchmark),
        *parts,
        *other_model_columns,
        *_unseen(benchmark),
        *RUN_COLUMNS,
    ]
    shown = [column for column in every if not column.optional or column.key in chosen or column.part]
    # Never left out: the column that the table is sorted by; the metric that both reported and measured rows have, which is
    # `reported_headline` if reported rows lack the headline; and the headline of each row without a score, because its cell
    # says why there is none.
    kept = {sort, card.reported_headline or card.headline}
    kept |= {r.row.headline for r in rows if r.row.outcome != "scored"}
    return [column for column in shown if column.key in kept or not _is_left_out(column, rows)]


def _is_left_out(column: Column, rows: Sequence[RankedRow]) -> bool:
    """Return whether a column is shown by default, but no row has a value. A table without rows keeps all columns."""
    return column.is_shown_first and bool(rows) and all(column.value(r.row) is None for r in rows)
