"""Ask published questions again about figures with other numbers, to measure whether a model has memorised the answers.

Such an item shows a published figure with numbers from the seed of the new set, which is secret. All published answers to its
question are known to be wrong then, also within their tolerance. A published figure has two answers, the original's and the
twin's. Two more are drawn in the same way from yet other numbers and held back: they are never shown or published. A model
that has not seen the published answers gives published and held-back ones equally often, so the difference is 0 on average,
however well it reads or guesses.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from evaluator.fresh.facts import facts_of, random_of
from evaluator.fresh.korean import UNANSWERABLE
from evaluator.fresh.pairs import Pair, Row, pairs_of, row_of
from evaluator.fresh.question import answers_differ
from evaluator.fresh.questions import questions

PUBLISHED: Sequence[tuple[str, int]] = (("sample", 120),)  # seed and number of questions of each published set


def memory_figures(seed: str, most: int, sets: Sequence[tuple[str, int]] = PUBLISHED) -> list[Pair]:
    """Return figures of published sets with other numbers. Together they have at most `most` items.

    `sets` are the published sets, each as its seed and its number of questions. If `seed` is of one of them, nothing is
    returned. The number of items is even, because all further items of a set come in twins. Each figure is a Pair without a
    twin.
    """
    if seed in dict(sets):
        return []
    chosen: list[Pair] = []
    known: list[Pair] = []
    for published, n in sets:
        known += _figures(seed, published, n, len(known))
    random_of(seed, "memory").shuffle(known)
    left = min(most, sum(len(figure.rows[0]) for figure in known)) // 2 * 2
    for figure in known:
        kept = figure.rows[0][:left]
        left -= len(kept)
        if kept:
            chosen.append(replace(figure, rows=(kept,)))
    return chosen


def _figures(seed: str, published: str, n: int, before: int) -> Iterator[Pair]:
    """Yield the figures of a published set, each with other numbers, and with those questions that have other answers then.

    `before` is the number of figures of other published sets, whose names they must not get.
    """
    secret = random_of(seed, "memory", published).getrandbits(128)  # nobody can draw these numbers without the seed
    for pair in pairs_of(published, n):
        # The topic and the layout of the published figure, with other values.
        shown, *others = (facts_of(published, pair.number, f"{secret:x}-{copy}") for copy in range(3))
        figure = replace(shown, number=~(before + pair.number))  # negative, so that no other figure has its name
        asked = {question.text: question for question in questions(shown)}
        rows: list[Row] = []
        for first, second in zip(*pair.rows, strict=True):
            if first["version"] != "clean" or first["choices"] or UNANSWERABLE in (first["answer"], second["answer"]):
                continue
            question = asked[first["question"]]  # the same texts, because they depend on topic and layout only
            answer, *held_back = (question.answer(facts) for facts in (shown, *others))
            published_answers = [first["answer"], second["answer"]]
            if answer is None or {answer, *held_back} & {None, UNANSWERABLE}:
                continue
            # The published answers differ from each other, because they are those of twins. The held-back ones must too, or
            # a guess would match one of them less often.
            if _all_differ(answer, published_answers) and _all_differ(answer, held_back):
                row = row_of(seed, figure, 0, "clean", question.kind, text=question.text, answer=answer)
                rows.append({**row, "twin": "variant", "published": published_answers, "held_back": held_back})
        yield Pair(figure.number, (figure,), (rows,), ("clean",))  # without a twin


def _all_differ(answer: str, others: Sequence[str | None]) -> bool:
    """Return whether no two of these answers are within the tolerance of one another."""
    return all(answers_differ(str(a), str(b)) for a, b in combinations([answer, *others], 2))
