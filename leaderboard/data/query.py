"""What a visitor wants to see of a benchmark's table: words, filters, order, columns; and the same as an address."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Protocol, TypeVar, get_args
from urllib.parse import urlencode

from leaderboard.data.columns import RANK, Column, all_choices, default_keys, sort_keys, sortable
from leaderboard.data.hangul import choseong, is_choseong, to_jamo
from leaderboard.data.korean_names import searchable
from leaderboard.data.ranking import RankedRow
from submissions.records.index_rows import BoardRow
from submissions.records.options import Thinking

Weights = Literal["open", "closed"]
# Parameters, by the size that names state: a "4B" may have 4.4, an "8B" 8.8 billion, so that bins end an eighth above it.
SIZES = {
    "0-2": (0.0, 2.25e9),
    "2-4": (2.25e9, 4.5e9),
    "4-8": (4.5e9, 9e9),
    "8-16": (9e9, 18e9),
    "16-40": (18e9, 45e9),
    "40-": (45e9, float("inf")),
}
MAX_WORDS = 100  # characters of a search
PAGE = 100  # rows shown at first, and more each time
T = TypeVar("T", bound=str)


@dataclass(frozen=True)
class Query:
    words: str = ""
    sort: str = RANK  # a key of a column that some benchmark can be sorted by
    weights: tuple[Weights, ...] = ()  # empty: all
    sizes: tuple[str, ...] = ()  # of SIZES; empty: all, and those of unknown size
    verified: bool = False
    columns: tuple[str, ...] = field(default_factory=default_keys)  # keys
    shown: int = PAGE
    thinking: tuple[Thinking, ...] = ()  # empty: all
    reproduced: bool = False  # only reported numbers that were measured here too, and those measurements

    @classmethod
    def of(
        cls,
        words: str | None,
        sort: str | None,
        weights: Iterable[str] | None,
        sizes: Iterable[str] | None,
        verified: bool | None,
        columns: Iterable[str] | None,
        shown: float | str | None,
        thinking: Iterable[str] | None = None,
        reproduced: bool | None = None,
    ) -> "Query":
        """From a form's fields, whatever they hold: what is unknown is left out."""
        return cls(
            words=clean_words(words),
            sort=next((key for key in sort_keys() if key == sort), RANK),
            weights=_known(weights, get_args(Weights)),
            sizes=_known(sizes, tuple(SIZES)),
            verified=bool(verified),
            columns=_columns(columns),
            shown=page_size(shown),
            thinking=_known(thinking, get_args(Thinking)),
            reproduced=bool(reproduced),
        )

    @classmethod
    def of_address(cls, params: Mapping[str, str]) -> "Query":
        """From the parameters of an address; the page writes them there as they change."""

        def several(name: str) -> list[str] | None:
            return params[name].split(",") if name in params else None

        return cls.of(
            params.get("q"),
            params.get("sort"),
            several("weights"),
            several("size"),
            params.get("verified") == "1",
            several("columns"),
            params.get("n"),
            several("thinking"),
            params.get("reproduced") == "1",
        )

    def filters(self) -> str:
        """What chooses rows and their order, as the query of an address."""
        given = {
            **{"q": self.words, "sort": "" if self.sort == RANK else self.sort},
            **{"weights": ",".join(self.weights), "size": ",".join(self.sizes)},
            **{"verified": "1" if self.verified else "", "thinking": ",".join(self.thinking)},
            "reproduced": "1" if self.reproduced else "",
        }
        return urlencode({name: value for name, value in given.items() if value})


class Named(Protocol):
    @property
    def model(self) -> str: ...
    @property
    def organisation(self) -> str | None: ...


N = TypeVar("N", bound=Named)


def select(rows: Sequence[RankedRow], query: Query) -> list[RankedRow]:
    """The rows wanted, in the wanted order ("score" keeps the ranking's). `shown` is not looked at."""
    tests = [_test(word) for word in query.words.split()]
    if query.weights or query.sizes or query.verified or query.thinking or query.reproduced:
        tests.append(lambda row: _fits(row, query))
    found = [r for r in rows if all(test(r.row) for test in tests)] if tests else list(rows)
    columns = sortable(rows[0].row.benchmark) if rows else []
    column = next((column for column in columns if column.key == query.sort), None)
    return sorted(found, key=lambda r: _order(r.row, column)) if column else found


def find(named: Sequence[N], words: str | None) -> list[N]:
    """Those that have all of the words in their own or their maker's name."""
    tests = [_name_test(word) for word in clean_words(words).split()]
    return [one for one in named if all(test(one) for test in tests)]


def clean_words(words: object) -> str:
    """What is searched for, from a field or an address, whatever it holds."""
    return str(words or "")[:MAX_WORDS]


def page_size(given: float | str | None) -> int:
    """How many rows are shown, from a field or an address."""
    if isinstance(given, str):
        given = int(given) if given.isascii() and given.isdigit() and len(given) < 7 else None
    return int(min(max(given or PAGE, PAGE), 100_000))


def _fits(row: BoardRow, query: Query) -> bool:
    if query.verified and (row.kind != "verified" or row.is_sample):
        return False
    if query.reproduced and row.reproduction is None:
        return False
    if query.weights and row.weights not in query.weights:
        return False
    if query.thinking and row.thinking not in query.thinking:
        return False
    if not query.sizes:
        return True
    return row.params is not None and any(SIZES[s][0] <= row.params < SIZES[s][1] for s in query.sizes)


def _test(word: str) -> Callable[[BoardRow], bool]:
    """`license:apache` and `hardware:a100` look there only, other words in names."""
    prefix, _, rest = word.casefold().partition(":")
    if prefix not in ("license", "hardware"):
        return _name_test(word)
    wanted = _jamo(rest)
    return lambda row: wanted in _jamo(getattr(row, prefix) or "")


def _name_test(word: str) -> Callable[[Named], bool]:
    """`org:samsung` looks in the maker's name only, any other word in the model's too."""
    prefix, _, rest = word.casefold().partition(":")
    if prefix == "org":
        maker = _jamo(rest)
        return lambda named: maker in _jamo(searchable(named.model.partition("/")[0], named.organisation))
    wanted = _jamo(word)
    choseong = is_choseong(wanted)

    def test(named: Named) -> bool:
        name = searchable(named.model, named.organisation)
        return wanted in _jamo(name) or (choseong and wanted in _choseong(name))

    return test


def _order(row: BoardRow, column: Column) -> tuple[bool, Any, str]:
    """Return the key to sort by: unknown values last, equal ones by name."""
    name, value = _jamo(row.model), column.value(row)
    if isinstance(value, str):
        return False, 0, name
    return value is None, (value or 0.0) if column.order == "ascending" else -(value or 0.0), name


def _columns(given: Iterable[str] | None) -> tuple[str, ...]:
    """Those chosen, which may be none; the default ones where none of them is known."""
    chosen = None if given is None else [key for key in given if key]
    return () if chosen == [] else _known(chosen, tuple(all_choices())) or default_keys()


def _known(given: Iterable[str] | None, known: Sequence[T]) -> tuple[T, ...]:
    wanted = set(given or ())
    return tuple(value for value in known if value in wanted)


@lru_cache(maxsize=100_000)
def _jamo(text: str) -> str:
    return to_jamo(text)


@lru_cache(maxsize=100_000)
def _choseong(text: str) -> str:
    return choseong(text)
