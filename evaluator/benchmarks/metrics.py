"""Define what a metric declares, and the metrics that several benchmarks have.

A benchmark lists its `metrics`. Results, intervals, the board's columns, exports and docs all read those declarations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluator.core.data_types import Score
from submissions.texts.text import Text

# Takes the scores of items and the metric's name. Returns the metric as a fraction of 1, or None if it does not apply.
Aggregate = Callable[[Sequence[Score], str], float | None]


def mean(scores: Sequence[Score], name: str) -> float | None:
    """Return the weighted mean over the items that have this value, or None if none has it. The default weight is 1."""
    weighted = [(score.values[name], score.weights.get(name, 1)) for score in scores if name in score.values]
    if not weighted:
        return None
    return sum(value * weight for value, weight in weighted) / sum(weight for _, weight in weighted)


def not_measured(scores: Sequence[Score], name: str) -> None:
    """Return None: this metric appears in published results only and is not computed here."""


@dataclass(frozen=True)
class Metric:
    """A metric of a benchmark. It is published in percent.

    A metric that is a mean over items has 95 % intervals and paired comparisons of models.
    """

    name: str  # key in results, columns and exports
    title: Text
    aggregate: Aggregate = mean
    lowest: float = 0.0  # lowest possible value in percent, as it is published; below 0 for a difference
    hint: Text | None = None  # explains the metric's column on the board
    column: bool = True  # whether the board shows it unless a visitor chooses otherwise
    on_hub: bool = True  # whether it is published on model pages of the Hub
    needs_gold: bool = True  # whether it depends on the gold answers, so that its values could reveal them
    lower_is_better: bool = False
    loss_on: str | None = None  # version of the pictures, such as "scan", if the metric is the score lost on it
    name_in_order: Text | None = None  # its title in "… 높은 순", if the title alone does not read as a score

    @property
    def order_title(self) -> Text:
        """The title of the metric in "… 높은 순" ("…, highest first")."""
        return self.name_in_order or self.title

    @property
    def is_mean(self) -> bool:
        """Whether the metric is a mean over items, so that each item has a value of its own."""
        return self.aggregate is mean


EM = Metric(
    "em",
    Text("EM", "EM"),
    hint=Text(
        "정답과 일치한 답변의 비율(exact match)입니다.",
        "Exact match: share of answers that match the reference answer.",
    ),
)
F1 = Metric(
    "f1",
    Text("F1", "F1"),
    hint=Text(
        "정답과 부분적으로 일치한 만큼 점수를 주는 지표입니다.",
        "Gives partial credit for answers that partly match the reference answer.",
    ),
)
STRICT_EM = Metric(
    "em_strict",
    Text("엄격 EM", "Strict EM"),
    hint=Text(
        "공식 채점 규칙의 알려진 오류를 바로잡아 계산한 EM입니다.",
        "EM under rules that correct known errors in the official scorer.",
    ),
)
IN_KOREAN = Metric(
    "in_korean",
    Text("한국어 답변", "In Korean"),
    hint=Text(
        "한국어로 물은 문항에 답한 것 가운데 한국어로 답한 비율입니다. 이름, 숫자, 단위는 따지지 않으며, 그것만으로 된 답변은 세지 않습니다.",
        "Share of the answers to Korean questions that are in Korean. Names, numbers and units may be in any script; answers with nothing else are not counted.",
    ),
    name_in_order=Text("한국어 답변 비율", "In Korean"),
    needs_gold=False,
    on_hub=False,
)
# `Card.ranking_note` of benchmarks that rank by STRICT_EM.
STRICT_RANKING = Text(
    "직접 평가한 결과는 엄격 EM으로 순위를 매깁니다. 공식 규칙(EM)은 이미지에 나온 숫자나 이름을 모두 나열한 답변도 정답으로 인정하기 때문입니다. 제작사 발표 점수에는 공식 EM만 있으므로 공식 EM으로 따로 순위를 매깁니다.",
    "Verified results are ranked by strict EM, because the official rule (EM) also accepts an answer that lists every number or label in an image. Reported scores have only the official EM and are ranked separately by it.",
)
