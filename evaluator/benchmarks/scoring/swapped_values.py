"""Measure how many of its values an answer gives to another subject or year than the gold answer.

`final_answer` lowers the F1 of such an answer: all its numbers are right, and what it says of each is wrong.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from evaluator.benchmarks.scoring.notation import plain
from evaluator.benchmarks.scoring.quantities import Quantity, quantities, scan
from evaluator.benchmarks.scoring.sentence_values import MAX_VALUES, SUBJECT, SUBJECT_REACH, names_year

_LABEL_BEHIND = re.compile(r"\s?\(([^()]{1,30})\)")  # 8.2%[(남자)]


class _Labelled(NamedTuple):
    """A value, and the words that say what it is of: "남자 " of 41.5% in "남자 41.5%, 여자 8.2%"."""

    label: str
    value: Quantity


def swapped_share(gold: str, output: str) -> float:
    """Return the share of the gold quantities, from 0 to 1, that an output gives to another subject or year.

    It is 1 for "남자 8.2%, 여자 41.5%" if gold is "남자 41.5%, 여자 8.2%". Values are compared by year if gold has several, and
    by subject if it has not or if no year is swapped.
    """
    in_gold = _labelled_values(plain(gold))
    in_output = _labelled_values(plain(output))
    by_year = _by_year(in_gold)
    if len(by_year) > 1 and (swapped := _share_swapped(by_year, _by_year(in_output))):
        return swapped
    by_subject = _by_subject(in_gold)
    return _share_swapped(by_subject, _by_known_subject(by_subject, in_output))


def _share_swapped(of_gold: Mapping[str, Quantity], given: Mapping[str, Quantity]) -> float:
    """Return the share of the gold subjects that get the value of another one. Both map subjects, or years, to values."""
    shared = of_gold.keys() & given.keys()
    if len(shared) < 2:
        return 0.0
    wrong = 0
    for subject in shared:
        value = given[subject]
        if value.agrees(of_gold[subject]):
            continue
        of_others = [other for name, other in of_gold.items() if name != subject]
        if any(map(value.agrees, of_others)):
            wrong += 1
    return wrong / len(of_gold)


def _labelled_values(text: str) -> list[_Labelled]:
    """Return the values of a text that are not years, each with the text between it and the value before.

    If brackets behind a value have no other value, its label is what is in them: 100명(2020년).
    """
    found: list[_Labelled] = []
    position = 0  # behind the last value, or its label
    for mention in scan(text)[:MAX_VALUES]:
        if names_year(mention.quantity):
            continue
        behind = _LABEL_BEHIND.match(text, mention.end)
        if behind and all(map(names_year, quantities(behind[1]))):
            found.append(_Labelled(behind[1], mention.quantity))
            position = behind.end()
        else:
            found.append(_Labelled(text[position : mention.start], mention.quantity))
            position = mention.end
    return found


def _by_year(values: Iterable[_Labelled]) -> dict[str, Quantity]:
    """Return the first value of each year. The year of a value is the last one in its label."""
    found: dict[str, Quantity] = {}
    for label, value in values:
        if years := quantities(label):  # nothing but years, because a label ends at any other value
            found.setdefault(str(years[-1].value), value)
    return found


def _by_subject(values: Iterable[_Labelled]) -> dict[str, Quantity]:
    """Return the values by the last word of the label, for those that have one: 남자 in "또한 남자는 "."""
    found: dict[str, Quantity] = {}
    for label, value in values:
        if subject := SUBJECT.search(label[-SUBJECT_REACH:]):
            found.setdefault(subject[1], value)
    return found


def _by_known_subject(known: Iterable[str], values: Iterable[_Labelled]) -> dict[str, Quantity]:
    """Return the first value of each known subject, which may be anywhere in a label. A label with several is left out."""
    subjects = list(known)
    found: dict[str, Quantity] = {}
    for label, value in values:
        named = [subject for subject in subjects if subject in label]
        if len(named) == 1:
            found.setdefault(named[0], value)
    return found
