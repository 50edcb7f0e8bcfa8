"""The register of published numbers: scores that others publish on Korean sets, by reporter, with their contradictions.

They mix with no rank of this board. `assets/register.csv` is written by `scripts/import_register.py`.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date
from functools import cache
from itertools import combinations
from typing import Literal, get_args

from leaderboard.facts.register_sets import SETS
from submissions.config.paths import ASSETS
from submissions.records.base import MODEL_ID

REGISTER = ASSETS / "register.csv"
Flag = Literal["ok", "conflict", "doubtful", "not_comparable"]
ReporterType = Literal["model_maker", "benchmark_maker", "both", "rival_maker", "third_party"]
COMPARED: tuple[Flag, ...] = ("ok", "conflict")  # the others are shown apart, with the reason
MAX_CELL, MAX_REPORTER = 1000, 120  # characters
AGREEMENT = 1.0  # points: reporters whose scores of a model are at most this far apart agree
_DATE = re.compile(r"20[0-9]{2}-[0-9]{2}(-[0-9]{2})?")
_VALUE = re.compile(r"-?[0-9]{1,5}(\.[0-9]{1,6})?")
_ADDRESS = re.compile(r"https://[^\s\"'<>]+")
# In names of models: the day of a version or the size in brackets, and the endings that mean the instruction-tuned model.
_IGNORED = re.compile(r"\s*\(((20)?\d\d[.-]\d\d[.-]\d\d|\d+(\.\d+)?b)\)|[-\s](instruct|it)\b")


@dataclass(frozen=True)
class Number:
    """A published score. `value` is as printed, mostly in percent; other fields are as in the source."""

    benchmark: str  # a key of SETS
    variant: str  # split, part or translation
    metric: str
    model: str
    hub_id: str  # empty if unknown
    hub_id_basis: str  # "named in source" or "matched by name"
    value: float
    reporter_type: ReporterType
    reporter: str
    conditions: str
    source: str  # address
    source_date: str  # ISO 8601, at least the month
    read_in: str
    flag: Flag
    note: str

    @property
    def printed(self) -> str:
        """The value with the digits that it was printed with, but no zeros at the end."""
        return f"{self.value:.6f}".rstrip("0").rstrip(".")

    @property
    def is_compared(self) -> bool:
        return self.flag in COMPARED

    @property
    def is_whole(self) -> bool:
        """Whether the score is of the whole set, not of a part of it."""
        return self.variant in SETS[self.benchmark].whole

    @property
    def model_key(self) -> str:
        return model_key(self.hub_id or self.model)

    @property
    def identity(self) -> tuple[str, ...]:
        """What makes two rows the same number: a source prints one value for it."""
        return (self.benchmark, self.variant, self.metric, self.model, self.reporter, self.conditions, self.source)


@dataclass(frozen=True)
class Entry:
    """The comparable scores of one model on the whole of a set."""

    model: str
    hub_id: str
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
        """The largest difference between two scores of one reporter, under other conditions, or None."""
        return self._largest_difference(of_one_reporter=True)

    def _largest_difference(self, *, of_one_reporter: bool) -> float | None:
        differences = [
            abs(one.value - other.value)
            for one, other in combinations(self.numbers, 2)
            if (one.reporter == other.reporter) is of_one_reporter and _same_metric(one.metric, other.metric)
        ]
        return round(max(differences), 2) if differences else None

    @property
    def is_comparable(self) -> bool:
        """Whether there is something that its numbers could contradict."""
        return self.spread is not None or self.is_contradicted

    @property
    def is_contradicted(self) -> bool:
        """Whether two reporters differ, or the collection has found another contradiction, which its note describes."""
        differs = self.spread is not None and self.spread > AGREEMENT
        return differs or any(number.flag == "conflict" for number in self.numbers)


def check(row: dict[str, str]) -> Number:
    """Return a row of the register as a number. Raises ValueError with the reason if it is not one."""
    if None in row or None in row.values():
        raise ValueError(f"it has {'more' if None in row else 'fewer'} cells than the table has columns")
    if list(row) != COLUMNS:
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
    if cells["hub_id"] and not re.fullmatch(MODEL_ID, cells["hub_id"], re.ASCII):
        raise ValueError(f"hub_id must be OWNER/NAME or empty, not {cells['hub_id']!r}")
    if cells["flag"] not in get_args(Flag):
        raise ValueError(f"flag must be one of {', '.join(get_args(Flag))}, not {cells['flag']!r}")
    if cells["reporter_type"] not in get_args(ReporterType):
        raise ValueError(f"reporter_type must be one of {', '.join(get_args(ReporterType))}")
    if cells["flag"] != "ok" and not (cells["note"] or cells["conditions"]):
        raise ValueError("a number that is not ok needs a note with the reason")
    if not _VALUE.fullmatch(cells["value"]):
        raise ValueError(f"the value must be a number like 61.5, not {cells['value'][:30]!r}")
    return Number(**{**cells, "value": float(cells["value"])})  # type: ignore[arg-type]


COLUMNS = [field.name for field in fields(Number)]


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text if text.count("-") == 2 else f"{text}-01")
    except ValueError:
        return False
    return True


@cache
def numbers() -> tuple[Number, ...]:
    """Return all numbers of the register."""
    with REGISTER.open(encoding="utf-8", newline="") as file:
        return tuple(check(row) for row in csv.DictReader(file))


def numbers_of_set(title: str) -> list[Number]:
    return [number for number in numbers() if number.benchmark == title]


def entries(title: str) -> list[Entry]:
    """Return the models of a set with their comparable scores on the whole of it, by name: this is no ranking."""
    groups: dict[str, list[Number]] = {}
    for number in numbers_of_set(title):
        if number.is_compared and number.is_whole:
            groups.setdefault(number.model_key, []).append(number)
    found = [_entry(group) for group in groups.values()]
    return sorted(found, key=lambda entry: entry.model.casefold())


def contradictions() -> list[tuple[str, Entry]]:
    """Return the entries of all sets whose reporters disagree, with the set's title, largest difference first."""
    every = ((title, entry) for title in SETS for entry in entries(title))
    found = [(title, entry) for title, entry in every if entry.is_contradicted]
    return sorted(found, key=lambda pair: -(pair[1].spread or 0.0))


def numbers_of_model(model: str) -> list[Number]:
    """Return the numbers of a model of the board in the register.

    A repository has those of the same repository only, since anybody may give one the name of another model. A name without
    an owner is that of a published number, and has all numbers of that name.
    """
    wanted = model_key(model)
    owner = model.rpartition("/")[0].casefold()
    named = [number for number in numbers() if number.model_key == wanted]
    return [number for number in named if not owner or number.hub_id.rpartition("/")[0].casefold() == owner]


def model_key(name: str) -> str:
    """Return the name of a model without its owner, case, punctuation and the day of its version."""
    own = _IGNORED.sub("", name.rpartition("/")[2].casefold())
    own = re.sub(r"(?<=\d)_(?=\d)", ".", own)  # MiniCPM-o-2_6
    return re.sub(r"[^\w.+]|_", "", own)


def _entry(group: Sequence[Number]) -> Entry:
    ordered = sorted(group, key=lambda number: (number.reporter, -number.value))
    named = next((number for number in ordered if number.hub_id), ordered[0])
    return Entry(min((number.model for number in ordered), key=len), named.hub_id, tuple(ordered))


def _same_metric(one: str, other: str) -> bool:
    """Return whether two metrics may be the same one. A source that names none is taken to use the set's own."""
    kinds = {_metric_kind(one), _metric_kind(other)}
    return len(kinds) == 1 or "" in kinds


def _metric_kind(metric: str) -> str:
    if metric.startswith("not named"):
        return ""
    if "accuracy" in metric or "exact match" in metric:
        return "accuracy"
    return metric.partition("(")[0].strip()
