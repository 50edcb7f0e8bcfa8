"""Measure how many of its values an answer gives to another subject or year than the gold answer.

`final_answer` lowers the F1 of such an answer: all its numbers are right, and what it says of each is wrong.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from evaluator.benchmarks.scoring.quantities import Quantity, plain, scan
from evaluator.benchmarks.scoring.sentence_values import MAX_VALUES, SUBJECT, SUBJECT_REACH


def swapped_share(gold: str, output: str) -> float:
    """Return the share of the gold quantities, from 0 to 1, that an output gives to another subject or year.

    It is 1 for "남자 8.2%, 여자 41.5%" if gold is "남자 41.5%, 여자 8.2%".
    """
    by_year = _by_year(plain(gold))
    if len(by_year) > 1 and (swapped := _swapped(by_year, _by_year(plain(output)))):
        return swapped
    by_subject = _by_subject(plain(gold))
    return _swapped(by_subject, _values_of(by_subject, plain(output)))


def _swapped(of_gold: Mapping[str, Quantity], given: Mapping[str, Quantity]) -> float:
    """Return the share of the gold values whose subjects are given the value of another one. Both map subjects to values."""
    shared = of_gold.keys() & given.keys()
    if len(shared) < 2:
        return 0.0
    wrong = 0
    for subject in shared:
        value = given[subject]
        of_others = [other for name, other in of_gold.items() if name != subject]
        wrong += not value.agrees(of_gold[subject]) and any(map(value.agrees, of_others))
    return wrong / len(of_gold)


def _by_year(text: str) -> dict[str, Quantity]:
    """Return the first value after each year of a text."""
    values: dict[str, Quantity] = {}
    for year, following in pairwise(scan(text)[:MAX_VALUES]):
        if year.quantity.unit == "년" != following.quantity.unit:
            values.setdefault(str(year.quantity.value), following.quantity)
    return values


def _values_of(subjects: Iterable[str], text: str) -> dict[str, Quantity]:
    """Return the first value of each of these subjects: the first one after its name, if no other value is between."""
    values: dict[str, Quantity] = {}
    position = 0
    for mention in scan(text)[:MAX_VALUES]:
        if mention.quantity.unit == "년":
            continue
        named = [subject for subject in subjects if subject in text[position : mention.start]]
        if len(named) == 1:
            values.setdefault(named[0], mention.quantity)
        position = mention.end
    return values


def _by_subject(text: str) -> dict[str, Quantity]:
    """Return the quantities of a text by the word before each, for those that have one."""
    values: dict[str, Quantity] = {}
    for mention in scan(text)[:MAX_VALUES]:
        if subject := SUBJECT.search(text, max(0, mention.start - SUBJECT_REACH), mention.start):
            values.setdefault(subject[1], mention.quantity)
    return values
