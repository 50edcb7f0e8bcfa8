"""Choice: choose the right one of four choices by its letter.

A row of the documented schema has the column `choices`. Without `answer` the first choice is the right one, and the
items are shuffled by a key that only the holder of the answers can compute; with the right letter in `answer`, the
choices are in the makers' order. With `rotates`, each item is asked in the 4 rotations of a Latin square, so that the
right choice is at every letter once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evaluator.benchmarks.base import QUESTION, Benchmark, fill
from evaluator.benchmarks.card import Axis, Baseline, Card, constant_answer
from evaluator.benchmarks.metrics import EM, F1, STRICT_EM, Metric
from evaluator.benchmarks.rows import Row, text_in
from evaluator.benchmarks.scoring.choices import LETTERS, MAKERS_ORDER, choice_order, choices_in, with_order_key
from evaluator.benchmarks.scoring.letters import asserted_letter, choices_in_question
from evaluator.core.data_types import Answer, Item, Prompt, Score
from submissions.texts.text import Text

if TYPE_CHECKING:  # it draws figures with libraries that the board does not load
    from evaluator.fresh.samples import Sample

RANKING = Text(
    "직접 평가한 결과는 엄격 EM, 곧 답변이 최종적으로 고른 보기로 순위를 매깁니다. EM은 제작사의 채점 규칙을 그대로 따르므로 출력 형식이 다르면 맞은 답도 틀린 것이 됩니다. 발표 점수에는 공식 EM만 있으므로 공식 EM으로 따로 순위를 매깁니다.",
    "Verified results are ranked by strict EM, which is the option that an answer settles on. EM follows the makers' own rule, under which a right answer in another format is wrong. Reported scores have only the official EM and are ranked separately by it.",
)
ONE_LETTER = constant_answer(100 / len(LETTERS))
UNCLEAR = "-"  # the choice of an answer that settles on no letter
LETTER = Axis("letter", Text("선택한 보기 분포", "Distribution of chosen options"))
LETTER_NOTE = Text("‘-’는 어느 보기를 골랐는지 알 수 없는 답변입니다.", "‘-’ marks answers without a clear choice.")


def macro_f1(scores: Sequence[Score], name: str) -> float:
    """Return macro-F1 over the letters. Always answering A earns 10 %, while accuracy would be 25 %."""
    pairs = Counter((g, p) for s in scores for g, p in zip(s.gold, s.prediction, strict=True))
    total = 0.0
    for letter in LETTERS:
        hits = pairs[letter, letter]
        # Pairs with the letter on either side: true positives, false positives and false negatives, TP + FP + FN.
        involved = sum(n for (gold, given), n in pairs.items() if letter in (gold, given))
        total += 2 * hits / (involved + hits) if hits else 0.0  # F1 = 2 TP / (2 TP + FP + FN)
    return total / len(LETTERS)


def chance_corrected(scores: Sequence[Score], name: str) -> float:
    """Return accuracy corrected for chance: 0 for guessing and 1 if everything is right."""
    chance = 1 / len(LETTERS)
    return (sum(s.values["em"] for s in scores) / len(scores) - chance) / (1 - chance)


def consistency(scores: Sequence[Score], name: str) -> float | None:
    """Return how often the same choice is made in every rotation; None if items were asked once."""
    rotated = [s for s in scores if len(s.gold) > 1]
    if not rotated:
        return None
    return sum(map(_is_consistent, rotated)) / len(rotated)


def _is_consistent(score: Score) -> bool:
    """Return whether the same choice was made in every rotation."""
    return len({_offset(*pair) for pair in zip(score.gold, score.prediction, strict=True)}) == 1


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
        lowest=-100,
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


class Asked(NamedTuple):
    """The right letter and the choices of one rotation, in the order of their letters."""

    letter: str
    choices: list[str]

    @classmethod
    def in_order(cls, choices: Sequence[str], order: Sequence[int]) -> "Asked":
        """Return what is asked if the choices, of which the first is right, are listed in this order of their places."""
        return cls(LETTERS[order.index(0)], [choices[place] for place in order])


class Choice(Benchmark):
    """Base class of choice benchmarks. A subclass declares the prompt and, if it differs, the published rule."""

    answer_tokens = 5
    metrics: tuple[Metric, ...] = METRICS
    card: ChoiceCard
    choice_line = "{letter}. {choice}\n"  # of each choice, which stand at `{choices}` of the prompt
    rotates = False

    def published_match(self, gold: str, output: str) -> bool:
        """Return whether the published rule accepts an output. By default it must be the letter and nothing else."""
        return output.strip() == gold

    def complete(self, items: list[Item]) -> list[Item]:
        return with_order_key(items)

    def item(self, row: Row, folder: Path) -> Item:
        item = super().item(row, folder)
        choices = choices_in(row)
        if row.get("answer") is None:
            return replace(item, choices=choices)
        right = choices.index(item.answer)
        order = list(range(1, len(choices)))
        order.insert(right, 0)
        choices = (choices[right], *choices[:right], *choices[right + 1 :])
        return replace(item, choices=choices, extra={**item.extra, MAKERS_ORDER: tuple(order)})

    def reference(self, row: Row, inputs: Mapping[str, Any]) -> str:
        """Return the right choice."""
        choices = choices_in(row)
        return choices[0] if row.get("answer") is None else choices[_place(text_in(row, "answer"))]

    def item_to_score(self, row: Row) -> Item:
        item = super().item_to_score(row)
        _place(item.answer)
        return item

    def corrected_item(self, item: Item, answer: str) -> Item:
        """Return an item with another right choice, given as its text. Each choice stays at its letter."""
        if answer not in item.choices:
            raise ValueError("the answer must be the text of one of its choices")
        if answer == item.choices[0]:
            return item
        right = item.choices.index(answer)
        order = [right, *(place for place in range(len(item.choices)) if place != right)]  # the right one is first
        letters = tuple(order.index(place) for place in choice_order(item, 0))
        choices = tuple(item.choices[place] for place in order)
        gold = answer if item.answer == item.choices[0] else item.answer
        return replace(item, choices=choices, answer=gold, extra={**item.extra, MAKERS_ORDER: letters})

    def invented_row(self, sample: "Sample", number: int) -> Row | None:
        """Return a row with a question, or with descriptions of the figure if the prompt has no place for a question."""
        if QUESTION not in self.prompt:
            described = sample.descriptions()
            return {"choices": described} if described else None
        asked = sample.choices(korean=not self.prompt.isascii())
        if asked is None:
            return None
        question, choices = asked
        row: Row = {"question": question, "choices": choices}
        if not self.rotates:
            right = number % len(choices)  # one letter for all items earns no more than chance
            row["choices"] = [*choices[1 : right + 1], choices[0], *choices[right + 1 :]]
            row["answer"] = LETTERS[right]
        return row

    def gold_output(self, item: Item) -> str | None:
        """Return the right letter, or None if it depends on the rotation."""
        return None if self.rotates else self._asked(item)[0].letter

    def prompts(self, item: Item) -> list[Prompt]:
        prompts: list[Prompt] = []
        for rotation, asked in enumerate(self._asked(item)):
            lines = [
                fill(self.choice_line, letter=letter, choice=choice)
                for letter, choice in zip(LETTERS, asked.choices, strict=True)
            ]
            text = fill(self.prompt, question=item.question, choices="".join(lines))
            prompt_id = f"{item.id}#{rotation}" if self.rotates else item.id
            prompts.append(Prompt(prompt_id, text, item.images, question=item.question))
        return prompts

    def score_item(self, item: Item, answers: Sequence[Answer]) -> Score:
        return self._score(item, self._asked(item), answers)

    def _score(self, item: Item, asked: Sequence[Asked], answers: Sequence[Answer]) -> Score:
        golds = [one.letter for one in asked]
        matches = [self.published_match(gold, answer.text) for gold, answer in zip(golds, answers, strict=True)]
        given = [asserted_letter(answer.text, one.choices) for answer, one in zip(answers, asked, strict=True)]
        em = sum(matches) / len(matches)
        # The score has one status: the first one of the rotations that is not "ok".
        worst = next((answer for answer in answers if answer.status != "ok"), answers[0])
        return Score(
            item.id,
            # F1 has no value for a single item: `macro_f1` computes it from gold and prediction.
            {"em": em, "f1": em, "em_strict": sum(map(eq, given, golds)) / len(golds)},
            worst.status,
            prediction="".join(letter or UNCLEAR for letter in given),
            gold="".join(golds),
        )

    def score_flat(self, items: Sequence[Item], answers: Sequence[Answer]) -> list[Score]:
        """Score items that were asked once, in their first order. Without choices, `answer` is the right letter."""
        return [self._score(item, self._asked(item)[:1], [answer]) for item, answer in zip(items, answers, strict=True)]

    def histogram(self, scores: Sequence[Score]) -> dict[str, int]:
        """Count the chosen letters, `-` if none is clear. The counts reveal a model that prefers one letter."""
        counts = Counter(letter for s in scores for letter in s.prediction)
        return {letter: counts[letter] for letter in LETTERS + UNCLEAR}

    @property
    def _rotations(self) -> int:
        return len(LETTERS) if self.rotates else 1

    def _asked(self, item: Item) -> list[Asked]:
        """Return what each rotation asks. Without choices, the item was asked once, with the letter that was right then."""
        if not item.choices:
            return [Asked(item.answer.upper(), choices_in_question(item.question))]
        orders = [choice_order(item, rotation) for rotation in range(self._rotations)]
        return [Asked.in_order(item.choices, order) for order in orders]


def _place(letter: str) -> int:
    """Return the place of a letter, from 0. Raises ValueError if it is none of the letters."""
    if letter.upper() not in tuple(LETTERS):
        raise ValueError(f"'answer' must be one of {', '.join(LETTERS)}")
    return LETTERS.index(letter.upper())


def _offset(gold: str, given: str) -> int | str:
    """Return how many places after the right choice the chosen one is listed, cyclically (0: it is right).

    The number identifies the choice, because the order is the same in all rotations except for its start. For an unclear
    answer, return a value that is different in each rotation, so that the item does not count as consistent.
    """
    return (LETTERS.index(given) - LETTERS.index(gold)) % len(LETTERS) if given in LETTERS else f"unclear at {gold}"
