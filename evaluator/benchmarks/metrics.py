"""What a metric is. A benchmark declares its own; results, intervals, columns, exports and docs read the declaration."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluator.core.data_types import Score
from submissions.texts.text import Text

# From the scores of items and the metric's name to its value, from 0 to 1; None if it does not apply to these items.
Aggregate = Callable[[Sequence[Score], str], float | None]


def mean(scores: Sequence[Score], name: str) -> float | None:
    """Return the mean over the items that have this value."""
    values = [score.values[name] for score in scores if name in score.values]
    return sum(values) / len(values) if values else None


def not_measured(scores: Sequence[Score], name: str) -> None:
    """Return nothing: others have published this metric, and it is not computed here."""


@dataclass(frozen=True)
class Metric:
    """One score of a benchmark, in percent wherever it is published.

    A metric that is a mean over items has 95 % intervals, and models are compared by it item by item.
    """

    name: str  # key in results, columns and exports
    title: Text
    aggregate: Aggregate = mean
    lowest: float = 0.0  # percent
    hint: Text | None = None
    column: bool = True  # whether the board shows it unless a visitor chooses otherwise
    on_hub: bool = True  # whether it is offered to model pages of the Hub

    @property
    def is_mean(self) -> bool:
        return self.aggregate is mean


EM = Metric("em", Text("EM", "EM"))
F1 = Metric("f1", Text("F1", "F1"))
STRICT_EM = Metric(
    "em_strict",
    Text("엄격 EM", "Strict EM"),
    hint=Text(
        "공식 채점 규칙의 알려진 오류를 바로잡아 계산한 EM입니다.",
        "EM under rules that correct known errors of the published scorer.",
    ),
)
STRICT_RANKING = Text(
    "직접 측정한 결과는 엄격 EM으로 순위를 매깁니다. 공식 규칙(EM)은 페이지의 숫자나 이름을 모두 나열한 답변도 정답으로 인정하기 때문입니다. 공개 수치에는 공식 EM만 있으므로 그것으로 따로 순위를 매깁니다.",
    "Rows measured by us are ranked by strict EM, because the published rule (EM) also accepts an answer that lists every number or label of a page. Reported rows have only the published EM and are ranked apart by it.",
)
