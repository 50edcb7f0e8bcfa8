"""The register of published numbers: scores that others publish on Korean test sets, and where they contradict each other.

A reporter is who published a score, such as a maker of a model. The register only shows what was published: it never enters
the ranks of this board. `assets/register.csv` is written by `scripts/import_register.py`, which checks each row with `check`.
The pages /register show, for each set of `register_sets.py`, an `Entry` for each model with the `Number`s of all reporters.
"""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from functools import cache
from itertools import combinations
from typing import Literal, get_args

from leaderboard.facts.model_names import read_name
from leaderboard.facts.register_sets import SETS
from submissions.config.paths import ASSETS
from submissions.records.hub_names import is_hub_id

REGISTER = ASSETS / "register.csv"
# What is known against a score. "conflict": another published score contradicts it. "doubtful": it looks like a failed run or a
# slip. "not_comparable": it was measured in another way, for example with another prompt, or in a way that is not stated.
Flag = Literal["ok", "conflict", "doubtful", "not_comparable"]
# Who the reporter is: the maker of the reported model, of the benchmark, of both, of another model, or somebody else.
ReporterType = Literal["model_maker", "benchmark_maker", "both", "rival_maker", "third_party"]
COMPARED: tuple[Flag, ...] = ("ok", "conflict")  # numbers with another flag are shown apart, with the reason
MAX_CELL = 1000  # characters
MAX_REPORTER = 120  # characters
AGREEMENT = 1.0  # points: reporters whose scores of a model are at most this far apart agree
_DATE = re.compile(r"20[0-9]{2}-[0-9]{2}(-[0-9]{2})?")  # 2026-01 or 2026-01-31
_VALUE = re.compile(r"-?[0-9]{1,5}(\.[0-9]{1,6})?")  # 61.5 or -0.25
_ADDRESS = re.compile(r"https://[^\s\"'<>]+")


@dataclass(frozen=True)
class Number:
    """A published score: a row of the register, whose columns have the same names."""

    benchmark: str  # a key of SETS
    variant: str  # the split, part or translation of the set, in the words of the source
    metric: str  # in the words of the source, such as "accuracy (%), LLM judge"
    model: str  # name as printed
    hub_id: str  # OWNER/NAME; empty if unknown
    hub_id_basis: str  # how it is known: "named in source" or "matched by name"; empty if it is unknown
    value: float  # as printed, mostly in percent
    reporter_type: ReporterType
    reporter: str
    conditions: str  # of the evaluation, such as the prompt
    source: str  # address
    source_date: str  # ISO 8601, at least the month
    read_in: str  # which copy of the source was read, such as "original" or "stored copy of the card"
    flag: Flag
    note: str  # the reason for a flag other than "ok"

    @property
    def printed(self) -> str:
        """The value with the digits that it was printed with, but no zeros at the end."""
        return f"{self.value:.6f}".rstrip("0").rstrip(".")

    @property
    def is_compared(self) -> bool:
        """Whether the score may be compared with those of other reporters."""
        return self.flag in COMPARED

    @property
    def is_whole(self) -> bool:
        """Whether the score is of the whole set, not of a part of it."""
        return self.variant in SETS[self.benchmark].whole

    @property
    def key(self) -> str:
        """A text that is the same for all spellings of the model's name, see `model_key`."""
        return model_key(self.hub_id or self.model)

    @property
    def owner(self) -> str:
        """The owner of the model's repository, in lower case. Empty if the Hub id is unknown."""
        return self.hub_id.rpartition("/")[0].casefold()

    @property
    def identity(self) -> tuple[str, ...]:
        """What makes two rows the same number: a source prints one value for it."""
        return (self.benchmark, self.variant, self.metric, self.model, self.reporter, self.conditions, self.source)


@dataclass(frozen=True)
class Entry:
    """The comparable scores of one model on the whole of a set, from all reporters."""

    model: str  # the shortest of its printed names
    hub_id: str  # empty if unknown
    numbers: tuple[Number, ...]  # by reporter and value

    @property
    def reporters(self) -> list[str]:
        return list(dict.fromkeys(number.reporter for number in self.numbers))

    def by(self, reporter: str) -> list[Number]:
        return [number for number in self.numbers if number.reporter == reporter]

    @property
    def spread(self) -> float | None:
        """The largest difference between two reporters in points, or None if fewer than two measured the same metric."""
        return self._largest_difference(of_one_reporter=False)

    @property
    def own_spread(self) -> float | None:
        """The largest difference between two scores of one reporter by the same metric, or None if there are no two.

        They were measured under different conditions, for example with an English and with a Korean prompt.
        """
        return self._largest_difference(of_one_reporter=True)

    def _largest_difference(self, *, of_one_reporter: bool) -> float | None:
        """Return the largest difference between two scores by the same metric, of one reporter or of two, or None."""
        differences = []
        for first, second in combinations(self.numbers, 2):
            is_same_reporter = first.reporter == second.reporter
            if is_same_reporter == of_one_reporter and _may_be_same_metric(first.metric, second.metric):
                differences.append(abs(first.value - second.value))
        return round(max(differences), 2) if differences else None

    @property
    def is_comparable(self) -> bool:
        """Whether two reporters can be compared, or a contradiction is known."""
        return self.spread is not None or self.is_contradicted

    @property
    def is_contradicted(self) -> bool:
        """Whether two reporters differ by more than AGREEMENT, or a number has the flag "conflict", which its note explains."""
        differs = self.spread is not None and self.spread > AGREEMENT
        return differs or any(number.flag == "conflict" for number in self.numbers)


COLUMNS = [field.name for field in fields(Number)]


def check(row: Mapping[str, str]) -> Number:
    """Return a row of the register as a number.

    Raises ValueError with the reason if it cannot be accepted.
    """
    if list(row) != COLUMNS or None in row.values():  # None: a row of a CSV file with too few cells
        raise ValueError(f"the columns must be {', '.join(COLUMNS)}")
    cells = {name: cell.strip() for name, cell in row.items()}
    for name, cell in cells.items():
        if not cell.isprintable():
            raise ValueError(f"{name} has characters that cannot be shown")
        if len(cell) > MAX_CELL or (name == "reporter" and len(cell) > MAX_REPORTER):
            raise ValueError(f"{name} is too long: {len(cell)} characters")
    if cells["benchmark"] not in SETS:
        raise ValueError(f"unknown set {cells['benchmark']!r}; sets are in leaderboard/facts/register_sets.py")
    for name in ("model", "reporter", "metric"):
        if not cells[name]:
            raise ValueError(f"no {name}")
    if not _ADDRESS.fullmatch(cells["source"]):
        raise ValueError("no source: it must be an address that starts with https://")
    if not _is_date(cells["source_date"]):
        raise ValueError(f"source_date must be like 2026-01 or 2026-01-31, not {cells['source_date']!r}")
    if cells["hub_id"] and not is_hub_id(cells["hub_id"]):
        raise ValueError(f"hub_id must be OWNER/NAME or empty, not {cells['hub_id']!r}")
    if cells["flag"] not in get_args(Flag):
        raise ValueError(f"flag must be one of {', '.join(get_args(Flag))}, not {cells['flag']!r}")
    if cells["reporter_type"] not in get_args(ReporterType):
        raise ValueError(f"reporter_type must be one of {', '.join(get_args(ReporterType))}")
    if cells["flag"] != "ok" and not (cells["note"] or cells["conditions"]):
        raise ValueError("a number that is not ok needs a note with the reason, or conditions that show it")
    if not _VALUE.fullmatch(cells["value"]):
        raise ValueError(f"the value must be a number like 61.5, not {cells['value'][:30]!r}")
    return Number(**{**cells, "value": float(cells["value"])})  # type: ignore[arg-type]


def _is_date(text: str) -> bool:
    """Return whether a text is a month or a day that exists: "2026-01" or "2026-01-31", but not "2026-02-31"."""
    if not _DATE.fullmatch(text):
        return False
    try:
        is_day = text.count("-") == 2
        date.fromisoformat(text if is_day else f"{text}-01")
    except ValueError:
        return False
    return True


@cache
def numbers() -> tuple[Number, ...]:
    """Return all numbers of the register."""
    with REGISTER.open(encoding="utf-8", newline="") as file:
        return tuple(check(row) for row in csv.DictReader(file))


def numbers_of_set(title: str) -> list[Number]:
    """Return the numbers of a set, with those that are not compared."""
    return [number for number in numbers() if number.benchmark == title]


def entries(title: str) -> list[Entry]:
    """Return the models of a set with their comparable scores on the whole of it, sorted by name and not by score."""
    groups: dict[str, list[Number]] = {}
    for number in numbers_of_set(title):
        if number.is_compared and number.is_whole:
            groups.setdefault(number.key, []).append(number)
    found: list[Entry] = []
    for group in groups.values():
        for of_owner in _split_by(group, lambda number: number.owner):
            # The version is read from the printed name. `model_key` reads the Hub id, if there is one, and Hub ids have
            # no version.
            of_versions = _split_by(of_owner, lambda number: read_name(number.model).version)
            found += [_entry(of_model) for of_model in of_versions]
    return sorted(found, key=lambda entry: entry.model.casefold())


def _split_by(group: list[Number], part_of: Callable[[Number], str]) -> list[list[Number]]:
    """Split numbers with one name by a part that tells models apart, such as the owner, if it has at least two values.

    `part_of` returns the part, or "" for a number without it, which may be of any of these models. If there is only one, it
    is taken to be of that one: "GPT-4o" and "GPT-4o (2024-05-13)" stay together. If there is "GPT-4o (2024-11-20)" too,
    "GPT-4o" may be either, and the result has three groups.
    """
    by_part: dict[str, list[Number]] = {}
    for number in group:
        by_part.setdefault(part_of(number), []).append(number)
    if len(by_part.keys() - {""}) < 2:
        return [group]
    return list(by_part.values())


def contradictions() -> list[tuple[str, Entry]]:
    """Return the entries of all sets whose reporters disagree, with the set's title, largest difference first."""
    every = ((title, entry) for title in SETS for entry in entries(title))
    contradicted = [(title, entry) for title, entry in every if entry.is_contradicted]
    return sorted(contradicted, key=lambda pair: -(pair[1].spread or 0.0))


def numbers_of_model(model: str) -> list[Number]:
    """Return the numbers of a model of the board in the register.

    A model with a repository, OWNER/NAME, has only numbers whose Hub id has the same owner, because anybody may give a
    repository the name of another model. A model without an owner was never on the Hub, and has all numbers with its name.
    """
    wanted = model_key(model)
    owner = model.rpartition("/")[0].casefold()
    named = [number for number in numbers() if number.key == wanted]
    return [number for number in named if not owner or number.owner == owner]


def model_key(name: str) -> str:
    """Return a text that is the same for all spellings of a model's name.

    It is the key of `read_name` and the size that is printed in brackets. The size is left out if the register also has the
    name without a size, and has it with no other size: "openbmb/MiniCPM-o-2_6" and "MiniCPM-o-2.6 (8B)" -> "minicpmo2.6",
    but "InternVL2.5 (8B)" -> "internvl2.58b", because there is "InternVL2.5 (4B)".
    """
    printed = read_name(name)
    other_sizes = _sizes_by_key().get(printed.key, set()) - {printed.size}
    means_only_one_size = other_sizes == {""}  # the register has the name without a size, and with no size but this one
    return printed.key if means_only_one_size else f"{printed.key}{printed.size}"


@cache
def _sizes_by_key() -> dict[str, set[str]]:
    """Return the sizes in brackets of the models of the register by name, with "" for a name that is printed without one."""
    sizes: dict[str, set[str]] = {}
    for number in numbers():
        printed = read_name(number.hub_id or number.model)
        sizes.setdefault(printed.key, set()).add(printed.size)
    return sizes


def _entry(group: Sequence[Number]) -> Entry:
    """Return the entry of a model from its numbers. Its Hub id is the first one that a number has."""
    ordered = sorted(group, key=lambda number: (number.reporter, -number.value))
    shortest_name = min((number.model for number in ordered), key=len)
    hub_id = next((number.hub_id for number in ordered if number.hub_id), "")
    return Entry(shortest_name, hub_id, tuple(ordered))


def _may_be_same_metric(first: str, second: str) -> bool:
    """Return whether two metrics may be the same one. A source that names none is taken to use the set's own."""
    kinds = {_metric_kind(first), _metric_kind(second)}
    return len(kinds) == 1 or "" in kinds


def _metric_kind(metric: str) -> str:
    """Return a metric without details of its use.

    "accuracy (%), LLM judge" -> "accuracy"; "judge rating (GPT-5-mini), 0 to 100" -> "judge rating"; "not named in the card"
    -> "".
    """
    named = metric.casefold()
    if named.startswith("not named"):
        return ""
    if named.startswith(("accuracy", "exact match")):
        return "accuracy"
    return named.partition("(")[0].strip()
