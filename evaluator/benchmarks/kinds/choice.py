"""Define the kind of task in which a model chooses the right one of four choices by its letter.

In an `Item`, the right choice is always the first of `choices`; which letter each choice gets is decided by `choice_order`.

A row of the documented schema has the column `choices`, and one of two forms:
- With the right letter in `answer`, the choices are shown in the order of the row, which is the makers'.
- Without `answer`, the first choice is the right one, and each item's choices are shuffled by a key that only those who have
  the answers can compute.

With `rotates`, each item is asked four times, with the choices moved on by one letter each time, so that the right choice is
at every letter once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evaluator.benchmarks.base import QUESTION, Benchmark, fill
from evaluator.benchmarks.card import Axis, Baseline, Card, constant_answer
from evaluator.benchmarks.metrics import EM, F1, STRICT_EM, Metric
from evaluator.benchmarks.rows import Row, text_in
from evaluator.benchmarks.scoring.choices import (
    LETTERS,
    MAKERS_ORDER,
    choice_order,
    choices_in,
    computed_letters_note,
    with_order_key,
)
from evaluator.benchmarks.scoring.letters import asserted_letter, choices_in_question
from evaluator.core.data_types import Answer, Item, Prompt, Score
from submissions.texts.text import Text

if TYPE_CHECKING:  # it draws figures with libraries that the board does not load
    from evaluator.fresh.samples import Sample

# `Card.ranking_note` of choice benchmarks, unless they have one of their own.
RANKING = Text(
    "직접 평가한 결과는 엄격 EM, 곧 답변이 최종적으로 고른 보기로 순위를 매깁니다. EM은 제작사의 채점 규칙을 그대로 따르므로 출력 형식이 다르면 맞은 답도 틀린 것이 됩니다. 발표 점수에는 공식 EM만 있으므로 공식 EM으로 따로 순위를 매깁니다.",
    "Verified results are ranked by strict EM, which is the option that an answer settles on. EM follows the makers' own rule, under which a right answer in another format is wrong. Reported scores have only the official EM and are ranked separately by it.",
)
ONE_LETTER = constant_answer(100 / len(LETTERS))
UNCLEAR = "-"  # the choice of an answer that settles on no letter
LETTER = Axis("letter", Text("선택한 보기 분포", "Distribution of chosen options"))
LETTER_NOTE = Text("‘-’는 어느 보기를 골랐는지 알 수 없는 답변입니다.", "‘-’ marks answers without a clear choice.")


# The metrics below read `Score.gold` and `Score.prediction`, which have one letter for each rotation, for example "BADC" and
# "BBD-". The parameter `name` is the metric's name, which every aggregate function gets.


def macro_f1(scores: Sequence[Score], name: str) -> float:
    """Return macro-F1 over the letters. Always answering A earns 10 %, while accuracy would be 25 %."""
    counts: Counter[tuple[str, str]] = Counter()  # (gold letter, chosen letter) → answers
    for score in scores:
        counts.update(zip(score.gold, score.prediction, strict=True))
    total = 0.0
    for letter in LETTERS:
        hits = counts[letter, letter]
        # Pairs with the letter on either side: true positives, false positives and false negatives, TP + FP + FN.
        involved = sum(count for pair, count in counts.items() if letter in pair)
        total += 2 * hits / (involved + hits) if hits else 0.0  # F1 = 2 TP / (2 TP + FP + FN)
    return total / len(LETTERS)


def chance_corrected(scores: Sequence[Score], name: str) -> float:
    """Return accuracy corrected for chance: 0 for guessing and 1 if everything is right."""
    chance = 1 / len(LETTERS)
    accuracy = sum(score.values["em"] for score in scores) / len(scores)
    return (accuracy - chance) / (1 - chance)


def consistency(scores: Sequence[Score], name: str) -> float | None:
    """Return the share of items with the same choice in every rotation, or None if items were asked once."""
    rotated = [score for score in scores if len(score.gold) > 1]
    if not rotated:
        return None
    return sum(map(_is_consistent, rotated)) / len(rotated)


def _is_consistent(score: Score) -> bool:
    """Return whether the same choice was made in every rotation."""
    if UNCLEAR in score.prediction:
        return False
    letters = zip(score.gold, score.prediction, strict=True)
    return len({_offset(gold, chosen) for gold, chosen in letters}) == 1


METRICS = (
    EM,
    Metric(
        "f1",
        F1.title,
        macro_f1,
        hint=Text("보기별로 구한 F1의 평균(macro-F1)입니다.", "Mean of the F1 of each option (macro-F1)."),
    ),
    replace(
        STRICT_EM,
        hint=Text(
            "답변이 최종적으로 고른 보기가 정답인 비율입니다. EM은 제작사의 채점 규칙을 그대로 따릅니다.",
            "Share of answers that settle on the right option. EM follows the makers' own rule.",
        ),
        on_hub=False,
    ),
    Metric(
        "em_chance_corrected",
        Text("우연 보정 EM", "Chance-corrected EM"),
        chance_corrected,
        lowest=-100 / (len(LETTERS) - 1),  # if none is right
        hint=Text(
            "무작위로 고르면 0, 모두 맞히면 100이 되도록 보정한 EM입니다.",
            "EM corrected for guessing: 0 for random choices, 100 if all answers are correct.",
        ),
        column=False,
        on_hub=False,
    ),
)
CONSISTENCY = Metric(
    "consistency",
    Text("일관성", "Consistency"),
    consistency,
    hint=Text(
        "보기 순서를 바꿔도 같은 보기를 고른 문항의 비율입니다.",
        "Share of items on which the same option is chosen in every order of the options.",
    ),
    column=False,
    on_hub=False,
)


@dataclass(frozen=True)
class ChoiceCard(Card):
    """The card of a choice benchmark. Verified results are ranked by the letter that an answer settles on."""

    chance: float | None = 100 / len(LETTERS)
    headline: str = "em_strict"
    reported_headline: str | None = "em"
    ranking_note: Text | None = RANKING
    baselines: tuple[Baseline, ...] = (ONE_LETTER,)
    histogram: Axis | None = LETTER
    histogram_note: Text | None = LETTER_NOTE


class Rotation(NamedTuple):
    """The choices of an item as they are shown once."""

    gold: str  # the letter of the right choice
    choices: list[str]  # in the order of their letters

    @classmethod
    def in_order(cls, choices: Sequence[str], order: Sequence[int]) -> "Rotation":
        """Return the rotation that shows choices in an order. The first of `choices` is the right one.

        `order` has the index of the choice at each letter: with [2, 0, 3, 1], B is the right letter.
        """
        return cls(LETTERS[order.index(0)], [choices[index] for index in order])


class Choice(Benchmark):
    """Base class of choice benchmarks. A subclass declares the prompt and, if it differs, the published rule."""

    answer_tokens = 5
    metrics: tuple[Metric, ...] = METRICS
    card: ChoiceCard
    choice_line = "{letter}. {choice}\n"  # the line of a choice; all lines together replace `{choices}` in the prompt
    rotates = False  # whether each item is asked with the right choice at each letter

    def published_match(self, gold: str, output: str) -> bool:
        """Return whether the published rule accepts an output. By default it must be the letter and nothing else."""
        return output.strip() == gold

    def complete(self, items: list[Item]) -> list[Item]:
        """Return the items with the key that their choices are shuffled with."""
        return with_order_key(items)

    def item(self, row: Row, folder: Path) -> Item:
        """Build an item, whose first choice is the right one.

        If the row has the right letter, MAKERS_ORDER in `Item.extra` keeps the row's order: with C as the right letter it is
        (1, 2, 0, 3), the index of the choice at each letter.
        """
        item = super().item(row, folder)
        choices = choices_in(row)
        if row.get("answer") is None:
            return replace(item, choices=choices)
        return _in_makers_order(item, choices, choices.index(item.answer))

    def reference(self, row: Row, inputs: Mapping[str, Any]) -> str:
        """Return the text of the right choice."""
        choices = choices_in(row)
        if row.get("answer") is None:
            return choices[0]
        return choices[_index_of_letter(text_in(row, "answer"))]

    def item_to_score(self, row: Row) -> Item:
        """Build an item for `python -m evaluator score`.

        The row's `answer` is the letter that was right when the item was asked, and its choices, if it has them, are in the
        order of their letters. A row without `answer` has the right choice first, and its choices get the letters that they
        have in an evaluation of the same set. Raises ValueError if the row is invalid, or has no `answer` although an
        evaluation asks its items in several orders.

        `Item.answer` is what the row has: the letter. In the items of an evaluation it is the text of the right choice.
        Scoring reads it only if the item has no choices (`_rotations`).
        """
        if row.get("answer") is not None:
            item = super().item_to_score(row)
            right = _index_of_letter(item.answer)
            return _in_makers_order(item, choices_in(row), right) if row.get("choices") else item
        if self.rotates or not row.get("choices"):
            raise ValueError("'answer' must be the letter that was right when the item was asked")
        choices = choices_in(row)
        return replace(super().item_to_score({**row, "answer": choices[0]}), choices=choices)

    def unlike_evaluation(self, items: Sequence[Item]) -> str | None:
        """Return how the scores may differ from an evaluation's: by the number of orders, or by computed letters."""
        if self.rotates:
            return f"an evaluation asks each item in {len(LETTERS)} orders of its choices; here each is scored in one"
        return computed_letters_note(items)

    def corrected_item(self, item: Item, answer: str) -> Item:
        """Return an item with another right choice, given as its text. Each choice stays at its letter."""
        if answer not in item.choices:
            raise ValueError("the answer must be the text of one of its choices")
        if answer == item.choices[0]:
            return item
        choices = (answer, *(choice for choice in item.choices if choice != answer))
        by_letter = [item.choices[index] for index in choice_order(item, 0)]
        order = tuple(choices.index(choice) for choice in by_letter)
        return replace(item, choices=choices, answer=answer, extra={**item.extra, MAKERS_ORDER: order})

    def invented_row(self, sample: "Sample", number: int) -> Row | None:
        """Return a row with a question, or with descriptions of the figure if the prompt has no place for a question."""
        if QUESTION not in self.prompt:
            descriptions = sample.descriptions()
            return {"choices": descriptions} if descriptions else None
        question_with_choices = sample.choices(korean=not self.prompt.isascii())  # in the language of the prompt
        if question_with_choices is None:
            return None
        question, choices = question_with_choices  # the first choice is the right one
        row: Row = {"question": question, "choices": choices}
        if not self.rotates:
            # The right letter changes from row to row, so that one letter for all items earns no more than chance.
            right = number % len(choices)
            row["choices"] = [*choices[1 : right + 1], choices[0], *choices[right + 1 :]]
            row["answer"] = LETTERS[right]
        return row

    def gold_output(self, item: Item) -> str | None:
        """Return the right letter, or None if it depends on the rotation."""
        return None if self.rotates else self._rotations(item)[0].gold

    def prompts(self, item: Item) -> list[Prompt]:
        """Return a prompt for each rotation. If there are several, their ids are the item's with `#0` to `#3` after it."""
        prompts: list[Prompt] = []
        for number, rotation in enumerate(self._rotations(item)):
            lines = [
                fill(self.choice_line, letter=letter, choice=choice)
                for letter, choice in zip(LETTERS, rotation.choices, strict=True)
            ]
            text = fill(self.prompt, question=item.question, choices="".join(lines))
            prompt_id = f"{item.id}#{number}" if self.rotates else item.id
            prompts.append(Prompt(prompt_id, text, item.images, question=item.question))
        return prompts

    def score_item(self, item: Item, answers: Sequence[Answer]) -> Score:
        """Return the score of an item, which has one answer for each rotation."""
        return self._score(item, self._rotations(item), answers)

    def _score(self, item: Item, rotations: Sequence[Rotation], answers: Sequence[Answer]) -> Score:
        """Return the score of an item: the means over the rotations, the chosen letters and the right ones."""
        published_matches = 0
        strict_matches = 0
        prediction = ""
        for rotation, answer in zip(rotations, answers, strict=True):
            chosen = asserted_letter(answer.text, rotation.choices, item.question)
            published_matches += self.published_match(rotation.gold, answer.text)
            strict_matches += chosen == rotation.gold
            prediction += chosen or UNCLEAR
        em = published_matches / len(rotations)
        # The score has one status: the first one of the rotations that is not "ok".
        failed = next((answer for answer in answers if answer.status != "ok"), None)
        return Score(
            item.id,
            # F1 has no value for a single item: `macro_f1` computes it from gold and prediction.
            {"em": em, "f1": em, "em_strict": strict_matches / len(rotations)},
            failed.status if failed else "ok",
            prediction=prediction,
            gold="".join(rotation.gold for rotation in rotations),
        )

    def score_flat(self, items: Sequence[Item], answers: Sequence[Answer]) -> list[Score]:
        """Score items that were asked once, in the order of their first rotation."""
        return [
            self._score(item, self._rotations(item)[:1], [answer]) for item, answer in zip(items, answers, strict=True)
        ]

    def histogram(self, scores: Sequence[Score]) -> dict[str, int]:
        """Count the chosen letters, `-` if none is clear. The counts reveal a model that prefers one letter."""
        counts = Counter(letter for score in scores for letter in score.prediction)
        return {letter: counts[letter] for letter in LETTERS + UNCLEAR}

    def _rotations(self, item: Item) -> list[Rotation]:
        """Return the rotations in which an item is asked.

        An item for `python -m evaluator score` may have no choices: another program asked it once, and its answer is the
        letter that was right then. Its choices are read from its question, if they are in it.
        """
        if not item.choices:
            letter = item.answer.upper()
            return [Rotation(letter, choices_in_question(item.question))]
        count = len(LETTERS) if self.rotates else 1
        orders = [choice_order(item, rotation) for rotation in range(count)]
        return [Rotation.in_order(item.choices, order) for order in orders]


def _in_makers_order(item: Item, choices: Sequence[str], right: int) -> Item:
    """Return an item with these choices, which keep their letters. `right` is the index of the right one.

    In an item the right choice is the first. Of the choices w, x, y, z with y right it has y, w, x, z, and (1, 2, 0, 3) as the
    index of the choice at each letter: A is w, which is now at 1. The item's `answer` stays as it is.
    """
    right_first = (choices[right], *choices[:right], *choices[right + 1 :])
    order = tuple(right_first.index(choice) for choice in choices)
    return replace(item, choices=right_first, extra={**item.extra, MAKERS_ORDER: order})


def _index_of_letter(letter: str) -> int:
    """Return the index of a letter, from 0: "b" -> 1. Raises ValueError if it is not one of LETTERS."""
    if letter.upper() not in tuple(LETTERS):
        raise ValueError(f"'answer' must be one of {', '.join(LETTERS)}")
    return LETTERS.index(letter.upper())


def _offset(gold: str, chosen: str) -> int:
    """Return how many places after the right choice the chosen one is listed, cyclically (0: it is right).

    The number identifies the choice, because the order is the same in all rotations except for its start.
    """
    return (LETTERS.index(chosen) - LETTERS.index(gold)) % len(LETTERS)
