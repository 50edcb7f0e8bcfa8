"""Round the published scores, so that they do not reveal which answers are right (docs/security.md).

Somebody who submits many models with slightly different answers could otherwise compute the gold answers of a private test
set from their scores. `build_result` rounds every score, interval and error here.
"""

import math
from dataclasses import dataclass

from evaluator.benchmarks.base import Benchmark

# From this many items on, scores are published in steps of one item. More digits of a sum of unequal scores, such as F1,
# would reveal which items they came from. A smaller set is a trial run, whose scores have all digits.
ROUNDED_FROM = 100
# For sets whose card has `coarse`. A part is a bucket of the breakdown, a point is 1 % of the maximum.
SMALL_PART = 500  # items; scores of a smaller part reveal much about each of its items
PART_STEP = 10.0  # points, for small parts
INTERVAL_STEP = 1.0  # points, for the ends of intervals


@dataclass(frozen=True)
class Rounding:
    """How the scores of a set of `n` items are published.

    There are three cases:
    - Fewer than ROUNDED_FROM items: with all digits.
    - Most sets: in steps of one item, as if each item were right or wrong.
    - Coarse results, which are those of a benchmark whose card has `coarse`: the headline and metrics that do not depend on the
      gold answers in steps of one item. Of the other metrics, only those in `card.coarse` are published, in steps of as many
      points as it has for them.
    """

    benchmark: Benchmark
    n: int

    @property
    def steps(self) -> int | None:
        """The number of steps from 0 to 100 % in which a score is published, or None for all digits."""
        return self.n if self.n >= ROUNDED_FROM else None

    @property
    def is_coarse(self) -> bool:
        """Whether the set is private with answers so short that candidates can be tried, and is not a trial run."""
        return self.benchmark.card.coarse is not None and self.n >= ROUNDED_FROM

    def total(self, metric: str, share: float) -> float | None:
        """Return a metric over all items in percent, or None if it is not published. `share` is from 0 to 1."""
        if not self._hides(metric):
            return percent(share, self.steps)
        points_by_metric = self.benchmark.card.coarse or {}
        points = points_by_metric.get(metric)
        return None if points is None else _in_steps_of(points, share)

    def part(self, metric: str, share: float, n: int) -> float | None:
        """Return a metric over a part of `n` items in percent, or None if it is not published.

        A trial run has all digits. Otherwise:
        - Results that are not coarse, and metrics that do not depend on the gold answers: in steps of one item of the part.
        - The headline of coarse results: not published if the whole set has fewer than SMALL_PART items. In steps of PART_STEP
          for a small part, and in steps of one item for another part.
        - All other metrics of coarse results: not published.
        """
        # Not `_hides` as in `total`: the headline of a part is restricted too, because a small part has few answers.
        if not self.is_coarse or not self.benchmark.metric(metric).needs_gold:
            steps = None if self.steps is None else n
            return percent(share, steps)
        if metric != self.benchmark.card.headline or self.n < SMALL_PART:
            return None
        return percent(share, n) if n >= SMALL_PART else _in_steps_of(PART_STEP, share)

    def publishes_errors_of(self, metric: str) -> bool:
        """Return whether the interval and standard error of a metric are published.

        The spread of scores reveals more about single answers than their mean does.
        """
        return not self._hides(metric)

    def _hides(self, metric: str) -> bool:
        """Return whether the digits of a metric are hidden because they could reveal answers.

        The digits of the headline are needed for the ranking.
        """
        is_headline = metric == self.benchmark.card.headline
        return self.is_coarse and not is_headline and self.benchmark.metric(metric).needs_gold

    def interval(self, low: float, high: float) -> tuple[float, float]:
        """Return the ends of an interval in percent, rounded outward if the results are coarse."""
        if not self.is_coarse:
            return percent(low, self.steps), percent(high, self.steps)
        # Without round(), 0.29 would become 28 %, because 100 * 0.29 is 28.999999999999996.
        down = INTERVAL_STEP * math.floor(round(100 * low / INTERVAL_STEP, 6))
        up = INTERVAL_STEP * math.ceil(round(100 * high / INTERVAL_STEP, 6))
        return down, up


def percent(share: float, steps: int | None = None) -> float:
    """Return a share in percent, rounded to a multiple of 1/`steps` if `steps` is given: (0.4444, 5) -> 40.0."""
    if steps:
        share = round(share * steps) / steps
    return round(100 * share, 4)


def _in_steps_of(points: float, share: float) -> float:
    """Return a share in percent, rounded to a multiple of so many points: (10.0, 0.4444) -> 40.0."""
    return round(points * round(100 * share / points), 4)
