"""Queries of a benchmark's table: search words, filters, sort order and columns, from a form or from a URL."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol, TypeVar, get_args
from urllib.parse import urlencode

from leaderboard.data.columns import RANK, Column, choice_keys, sort_keys, sortable
from leaderboard.data.hangul import choseong, is_choseong, to_jamo
from leaderboard.data.korean_spellings import searchable
from leaderboard.data.ranking import RankedRow
from submissions.records.index_rows import BoardRow
from submissions.records.options import Thinking

Weights = Literal["open", "closed"]
# Ranges of parameter counts. A model named "4B" may have 4.4 billion and an "8B" 8.8, so a range ends an eighth above the size.
SIZES = {
    "0-2": (0.0, 2.25e9),
    "2-4": (2.25e9, 4.5e9),
    "4-8": (4.5e9, 9e9),
    "8-16": (9e9, 18e9),
    "16-40": (18e9, 45e9),
    "40-": (45e9, float("inf")),
}
MAX_SEARCH_LENGTH = 100  # characters of the search field
ROWS_PER_PAGE = 100  # rows shown at first, and added by each click on "more"
T = TypeVar("T", bound=str)


@dataclass(frozen=True)
class Query:
    """Which rows and columns of a benchmark's table to show, and in which order."""

    words: str = ""
    sort: str = RANK  # key of a column that at least one benchmark can be sorted by
    weights: tuple[Weights, ...] = ()  # empty: all
    sizes: tuple[str, ...] = ()  # keys of SIZES; empty: all, including models of unknown size
    verified: bool = False
    columns: tuple[str, ...] | None = None  # column keys; None: the default of the benchmark
    shown: int = ROWS_PER_PAGE  # number of rows
    thinking: tuple[Thinking, ...] = ()  # empty: all
    reproduced: bool = False  # only reported results that this board has measured too, and those measurements

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
        """Build a query from the untrusted values of a form. Unknown values are ignored."""
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
        """Build a query from the parameters of a URL, which the page updates as its fields change."""

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
        """Return the filters and the sort order as the query string of a URL."""
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
    """Return the rows that match the query, in its sort order; "score" keeps the ranking's. Ignores `query.shown`."""
    tests = [_test(word) for word in query.words.split()]
    if query.weights or query.sizes or query.verified or query.thinking or query.reproduced:
        tests.append(lambda row: _fits(row, query))
    found = [r for r in rows if all(test(r.row) for test in tests)] if tests else list(rows)
    columns = sortable(rows[0].row.benchmark) if rows else []
    column = next((column for column in columns if column.key == query.sort), None)
    return sorted(found, key=lambda r: _order(r.row, column)) if column else found


def find(named: Sequence[N], words: str | None) -> list[N]:
    """Return the models whose name or maker contains all of the words."""
    tests = [_name_test(word) for word in clean_words(words).split()]
    return [one for one in named if all(test(one) for test in tests)]


def clean_words(words: object) -> str:
    """Return the search words from an untrusted value of a field or URL."""
    return str(words or "")[:MAX_SEARCH_LENGTH]


def page_size(given: float | str | None) -> int:
    """Return the number of rows to show, from an untrusted value of a field or URL."""
    if isinstance(given, str):
        given = int(given) if given.isascii() and given.isdigit() and len(given) < 7 else None
    return int(min(max(given or ROWS_PER_PAGE, ROWS_PER_PAGE), 100_000))


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
    """Return a test for a search word: `license:` and `hardware:` search that field, other words search names."""
    prefix, _, rest = word.casefold().partition(":")
    if prefix not in ("license", "hardware"):
        return _name_test(word)
    wanted = _jamo(rest)
    return lambda row: wanted in _jamo(getattr(row, prefix) or "")


def _name_test(word: str) -> Callable[[Named], bool]:
    """Return a test for a word in names: `org:samsung` searches only the maker's name, other words the model's too."""
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
    """Return the sort key of a row: unknown values come last, equal values are sorted by name."""
    name, value = _jamo(row.model), column.value(row)
    if isinstance(value, str):
        return False, 0, name
    return value is None, (value or 0.0) if column.order == "ascending" else -(value or 0.0), name


def _columns(given: Iterable[str] | None) -> tuple[str, ...] | None:
    """Return the known keys among those chosen, or the default keys if none is known. An empty choice stays empty."""
    chosen = None if given is None else [key for key in given if key]
    return () if chosen == [] else _known(chosen, choice_keys()) or None


def _known(given: Iterable[str] | None, known: Sequence[T]) -> tuple[T, ...]:
    wanted = set(given or ())
    return tuple(value for value in known if value in wanted)


@lru_cache(maxsize=100_000)
def _jamo(text: str) -> str:
    return to_jamo(text)


@lru_cache(maxsize=100_000)
def _choseong(text: str) -> str:
    return choseong(text)
