"""Define the kind of task in which a model answers a question about a picture with a number and its unit, or with a name.

A subclass declares the makers' published rules (`published_match`, `published_f1`). The strict rule, which ranks, is defined
here: it accepts an answer in any ordinary wording, with the readers of numbers and names in `scoring`.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.card import Card
from evaluator.benchmarks.metrics import EM, F1, IN_KOREAN, STRICT_EM, STRICT_RANKING, Metric
from evaluator.benchmarks.rows import Row
from evaluator.benchmarks.scoring import final_answer
from evaluator.benchmarks.scoring.given_names import is_name, matches_name
from evaluator.benchmarks.scoring.korean_words import with_language
from evaluator.benchmarks.scoring.published_quantities import NUMBER, quantities, quantity_f1
from evaluator.benchmarks.source_files import ImageFolder
from evaluator.benchmarks.source_rows import SourceRow
from evaluator.core.data_types import Item
from submissions.texts.text import Text

if TYPE_CHECKING:  # it draws figures with libraries that the board does not load
    from evaluator.fresh.samples import Sample


# The white space after a topic with 은 or 는, where a sentence is split: "2019년에는" and "서울입니다".
_AFTER_TOPIC = re.compile(r"(?<=[은는])\s")
# The end of a Korean sentence that names something: 서울"입니다.", 서울"이다", 서울"임".
_COPULA = re.compile(r"(?:입니다|이다|임)?\.?$")
# The predicate after a name that a sentence begins with: 6월"에 더 많아요".
_PREDICATE_AFTER_NAME = re.compile(r"(?:에서|에|이|가)\s(?:더|가장|제일)\s\S+$")
_ASKS_VALUE = re.compile("얼마|몇")
# Asks for a name and no value, although the gold answer may have its value in brackets: 반도체(1,292억 달러).
_ASKS_NAME_ONLY = re.compile(rf"^(?!.*(?:{_ASKS_VALUE.pattern})).*(?:무엇|어디|누구|어느|어떤)")


@dataclass(frozen=True)
class QuantityCard(Card):
    """The card of a quantity benchmark. Verified results are ranked by the strict rule."""

    headline: str = "em_strict"
    reported_headline: str | None = "em"
    ranking_note: Text | None = STRICT_RANKING


class Quantity(Benchmark):
    """Base class of quantity benchmarks."""

    metrics: tuple[Metric, ...] = (EM, F1, STRICT_EM, IN_KOREAN)
    card: QuantityCard
    has_names = False  # whether a gold answer may be a name, without a number

    def convert_row(self, source: SourceRow, images: ImageFolder) -> Row:
        """Convert a published row. Raises ValueError if its answer has no number, although it must have one."""
        row = super().convert_row(source, images)
        self._check_gold(row["answer"])
        return row

    def corrected_item(self, item: Item, answer: str) -> Item:
        """Return an item with another gold answer. Raises ValueError if it has no number, although it must have one."""
        self._check_gold(answer)
        return super().corrected_item(item, answer)

    def _check_gold(self, answer: str) -> None:
        """Raise ValueError if a gold answer has no number, although it must have one."""
        if not self.has_names and not NUMBER.search(answer):
            raise ValueError("the answer contains no number")

    def invented_row(self, sample: "Sample", number: int) -> Row | None:
        """Return a row with a question for a printed number."""
        question_with_answer = sample.question()
        if question_with_answer is None:
            return None
        question, answer = question_with_answer
        return {"question": question, "answer": answer}

    def published_match(self, gold: str, output: str) -> bool:
        """Return whether the published rule accepts an output. By default it must be the gold answer."""
        return output.strip() == gold

    def published_f1(self, item: Item, text: str) -> float:
        """Return the partial credit, from 0 to 1. By default it is the F1 of the quantities."""
        return quantity_f1(item.question, item.answer, text)

    def strict_match(self, item: Item, text: str) -> bool:
        """Return whether an output gives the quantity of the gold answer, or its name.

        There are four rules. The first decides alone if it applies. Otherwise one that accepts the output is enough.
        """
        # The gold answer repeats numbers of the question: "2019년에는 서울입니다." Only its name, 서울, tells right from wrong.
        if name := _name_beside_numbers_of_question(item.question, item.answer):
            return matches_name(item.question, name, text)
        # The quantity is right: 1,292억 달러 of 반도체(1,292억 달러). But if the question asks for a name only, such as "수출액이 가장
        # 많은 품목은 무엇인가요?", the output must have the name before the bracket too.
        name_before_bracket = _name_before_bracket(item.answer)
        if final_answer.strict_match(item.question, item.answer, text):
            needs_name = name_before_bracket and _ASKS_NAME_ONLY.search(item.question)
            if not needs_name or final_answer.folded(name_before_bracket) in final_answer.folded(text):
                return True
        # The gold answer is a name without a quantity.
        if self.has_names and is_name(item.answer):
            return matches_name(item.question, item.answer, text)
        # The name before the bracket is enough if the question asks for no value.
        if name_before_bracket and not _ASKS_VALUE.search(item.question):
            return matches_name(item.question, name_before_bracket, text)
        return False

    def score_text(self, item: Item, text: str) -> dict[str, float]:
        """Return the values of the published rules and of the strict rule, and `in_korean` if that can be judged."""
        values = {
            "em": float(self.published_match(item.answer, text)),
            "f1": self.published_f1(item, text),
            "em_strict": float(self.strict_match(item, text)),
        }
        return with_language(values, item.question, text)


def _name_beside_numbers_of_question(question: str, gold: str) -> str:
    """Return the name in a gold answer that has numbers, all of them the question's, else "".

    For example, ("2019년에 가장 많은 곳은?", "2019년에는 서울입니다.") -> "서울", and "6월에 더 많아요." gives "6월".
    """
    numbers = set(quantities(gold).written)
    if not numbers or numbers - set(quantities(question).written):
        return ""
    after_topic = _AFTER_TOPIC.split(gold.strip())[-1]
    return _PREDICATE_AFTER_NAME.sub("", _COPULA.sub("", after_topic))


def _name_before_bracket(gold: str) -> str:
    """Return the name that a gold answer explains in brackets, else "": "청소년(만 10~19세)" -> "청소년"."""
    name, bracket, _ = gold.partition("(")
    return name.strip() if bracket and not quantities(name).written else ""
