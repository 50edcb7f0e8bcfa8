"""Ask questions of published figures again about other numbers, to measure whether a model has memorised the answers.

Such an item shows a published figure with numbers from the secret seed, so that all published answers to its question are
known to be wrong. Answers to figures with yet other numbers, which are never shown or published, are held back. They
are drawn like the published ones. A model that has not seen the published answers gives either equally often, so the
difference is 0 on average, however well it reads or guesses.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evaluator.fresh.facts import facts_of, random_of
from evaluator.fresh.korean import UNANSWERABLE
from evaluator.fresh.pairs import Pair, Row, pairs_of, row_of
from evaluator.fresh.questions import questions

PUBLISHED: Sequence[tuple[str, int]] = (("sample", 80),)  # seed and number of questions of each published set


def memory_figures(seed: str, most: int, sets: Sequence[tuple[str, int]] = PUBLISHED) -> list[Pair]:
    """Return figures of published sets with other numbers. They have an even number of items, at most `most`.

    `sets` are seeds and numbers of questions. A published set has no such items itself.
    """
    if seed in dict(sets):
        return []
    chosen: list[Pair] = []
    known = [figure for published in sets for figure in _figures(seed, *published)]
    random_of(seed, "memory").shuffle(known)
    count = min(most, sum(len(figure.rows[0]) for figure in known)) // 2 * 2
    for figure in known:
        kept = figure.rows[0][:count]
        count -= len(kept)
        if kept:
            chosen.append(replace(figure, rows=(kept,)))
    return chosen


def _figures(seed: str, published: str, n: int) -> Iterator[Pair]:
    """Yield the figures of a published set, each with other numbers and the questions that have other answers then."""
    chance = random_of(seed, "memory", published).getrandbits(128)  # nobody can draw these numbers without the seed
    for pair in pairs_of(published, n):
        shown, *others = (facts_of(published, pair.number, f"{chance:x}-{place}") for place in range(3))
        figure = replace(shown, number=~pair.number)  # so that its name differs from that of the seed's own figure
        asked = {question.text: question for question in questions(shown)}
        rows: list[Row] = []
        for first, second in zip(*pair.rows, strict=True):
            if first["version"] != "clean" or first["choices"] or first["answer"] == UNANSWERABLE:
                continue
            question = asked[first["question"]]
            answer, *held_back = (question.answer(facts) for facts in (shown, *others))
            answers = [first["answer"], second["answer"], answer, *held_back]
            if None not in answers and len(set(answers)) == len(answers):
                row = row_of(seed, figure, 0, "clean", question.kind, text=question.text, answer=str(answer))
                rows.append({**row, "twin": "variant", "published": answers[:2], "held_back": held_back})
        yield Pair(figure.number, (figure,), (rows,), ("clean",))
