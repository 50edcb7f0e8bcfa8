"""The columns of a benchmark's table. One entry drives the board, its sorting and choosing, the address and the files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Card, ScoreColumn
from leaderboard.data.breakdown import BucketKey, bucket_scores
from leaderboard.data.ranking import RankedRow
from submissions.records.index_rows import BoardRow
from submissions.texts.text import Text

Order = Literal["ascending", "descending"]


@dataclass(frozen=True)
class Column:
    """A column of the table. Its value is a field of the BoardRow, or what the benchmark's own ScoreColumn names."""

    key: str  # in addresses: ?columns=KEY, ?sort=KEY
    label: Text
    field: str = ""  # of a BoardRow
    cell: str = ""  # the macro of cells.html that draws it
    own: ScoreColumn | None = None
    order: Order | None = None  # of sorting by it; None: it is not sorted by
    sort: str = ""  # in the address where that is not its key
    order_label: Text | None = None
    hint: Text | None = None
    unit: Text | None = None
    optional: bool = True  # whether a visitor can leave it out
    default: bool = True  # whether it is shown unless chosen otherwise
    wide: bool = False  # left out on narrow screens
    numeric: bool = True
    export: tuple[str, ...] = ()  # fields of a BoardRow in the files

    def value(self, row: BoardRow) -> Any:
        """What is shown, and sorted by; None where it is not known. Scores are in percent."""
        if self.own and self.own.metric:
            return row.metric(self.own.metric)
        if self.own:
            part = bucket_scores(row).get(BucketKey(*self.own.bucket)) if self.own.bucket else None
            return part.score if part else None
        return getattr(row, self.field)


_TIMED_WHOLE = ", ".join(one.card.title for one in BENCHMARKS.values() if one.latency_protocol == "total")

COLUMNS: tuple[Column, ...] = (
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
    Column(
        "em",
        Text("EM", "EM"),
        "em",
        "em",
        order="descending",
        order_label=Text("EM 높은 순", "EM, highest first"),
        optional=False,
        export=("em", "em_low", "em_high"),
    ),
    Column(
        "f1",
        Text("F1", "F1"),
        "f1",
        "f1",
        order="descending",
        order_label=Text("F1 높은 순", "F1, highest first"),
        export=("f1", "f1_low", "f1_high"),
    ),
    Column(
        "em_strict",
        Text("엄격 EM", "Strict EM"),
        "em_strict",
        "em_strict",
        order="descending",
        order_label=Text("엄격 EM 높은 순", "Strict EM, highest first"),
        hint=Text(
            "공식 채점 규칙의 알려진 오류를 바로잡아 계산한 EM입니다.",
            "EM under rules that correct known errors of the published scorer.",
        ),
        export=("em_strict", "em_strict_low", "em_strict_high"),
    ),
    Column("parts", Text("영역별 점수", "Scores by category")),  # stands for the columns of the benchmark's own
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
BY_KEY = {column.key: column for column in COLUMNS}
OPTIONAL = tuple(column.key for column in COLUMNS if column.optional)
DEFAULT = tuple(column.key for column in COLUMNS if column.optional and column.default)
BEFORE_SCORES = ("model", "amount", "weights", "plain")  # cells of what a model is
RANK = "score"  # the order of the ranking itself
RANK_LABEL = Text("순위", "Rank")
SORTS = (RANK, "em", "f1", "em_strict", "latency", "date", "name", "params")
EXPORTED = tuple(name for column in COLUMNS for name in column.export)


def columns_of(card: Card, rows: Sequence[RankedRow], chosen: Sequence[str], sort: str = RANK) -> list[Column]:
    """The columns of a benchmark's table: those chosen; of the default ones those that are not empty in all rows, or that
    the table is sorted by."""
    columns: list[Column] = []
    for column in COLUMNS:
        if column.optional and column.key not in chosen:
            continue
        if column.key == "parts":
            columns += (Column(f"own-{n}", own.title, cell="score", own=own) for n, own in enumerate(card.columns))
        else:
            columns.append(column)
    kept = (card.reported_headline or card.headline, sort)
    columns = [column for column in columns if column.key in kept or not _is_empty(column, rows, card)]
    title = Text(card.headline_title, card.headline_title)
    if card.reported_headline:
        return columns
    if card.headline in BY_KEY:
        columns = [replace(column, label=title) if column.key == card.headline else column for column in columns]
    else:
        own = ScoreColumn(title, card.headline)
        headline = Column(card.headline, title, cell="headline", own=own, order="descending", sort=RANK)
        columns.insert(next((n for n, column in enumerate(columns) if column.cell not in BEFORE_SCORES), 0), headline)
    return columns


def _is_empty(column: Column, rows: Sequence[RankedRow], card: Card) -> bool:
    """Whether a default column says nothing. Out of memory is told in the column of EM, but where the benchmark has a
    headline of its own that tells it."""
    told = column.key == "em" and card.headline in BY_KEY and any(r.row.outcome != "scored" for r in rows)
    return column.default and bool(rows) and not told and all(column.value(r.row) is None for r in rows)
