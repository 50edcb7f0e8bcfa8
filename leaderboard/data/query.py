"""Search, filter and sort the rows of a benchmark's table, as the parameters of a URL ask for.

`Query.from_params` reads the parameters, and `View.select` applies the query with `matching_rows` and `sort_rows` from here.
The overview and the lists of models search with `find` and filter with `fits_model`.

Example: `?q=gemma license:apache&size=4-8,8-16&sort=latency` lists the models with Gemma in their names, an Apache licence
and 4 to 16 billion parameters, fastest first. How Korean words match is described in `hangul.py`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol, TypeVar, get_args

from leaderboard.data.columns import RANK, Column, choice_keys, sort_keys, sortable
from leaderboard.data.hangul import choseong, is_choseong, to_jamo
from leaderboard.data.memory import GpuMemory, cards_that_fit
from leaderboard.data.ranking import RankedRow
from leaderboard.facts.korean_spellings import searchable
from leaderboard.facts.licences import Commercial, commercial_use
from leaderboard.facts.lineage import Encoder, Origin, encoder_of, origin_of
from submissions.records.index_rows import BoardRow
from submissions.records.options import Thinking

Weights = Literal["open", "closed"]
# Ranges of parameter counts: the lower end is in the range, the upper end is not. A model named "4B" may have 4.4 billion
# parameters and an "8B" 8.8, so a range ends an eighth above the size that it is named after.
SIZES = {
    "0-2": (0.0, 2.25e9),
    "2-4": (2.25e9, 4.5e9),
    "4-8": (4.5e9, 9e9),
    "8-16": (9e9, 18e9),
    "16-40": (18e9, 45e9),
    "40-": (45e9, float("inf")),
}
MAX_SEARCH_LENGTH = 100  # characters of the search field
ROWS_PER_PAGE = 50  # rows shown at first, and added by each click on "more"
MAX_ROWS_PER_PAGE = 2000  # beyond this the table can be downloaded
T = TypeVar("T", bound=str)


@dataclass(frozen=True)
class Query:
    """Which rows and columns of a benchmark's table to show, and in which order."""

    words: str = ""
    sort: str = RANK  # key of a column that at least one benchmark can be sorted by
    weights: tuple[Weights, ...] = ()  # empty: all
    sizes: tuple[str, ...] = ()  # keys of SIZES; empty: all, including models of unknown size
    verified: bool = False  # only results that were measured here, without sample runs
    columns: tuple[str, ...] | None = None  # column keys; None: the default of the benchmark
    shown: int = ROWS_PER_PAGE  # number of rows
    thinking: tuple[Thinking, ...] = ()  # empty: all
    commercial: tuple[Commercial, ...] = ()  # whether the licence allows commercial use; empty: all
    reproduced: bool = False  # only reported results that this board has measured too, and those measurements
    family: bool = False  # only the best model of each family
    memory: tuple[GpuMemory, ...] = ()  # only models that fit one of these GPUs; empty: all
    language_model: tuple[Origin, ...] = ()  # what it was initialised from; empty: all
    vision_encoder: tuple[Encoder, ...] = ()  # whose it is; empty: all

    @classmethod
    def from_params(cls, params: Mapping[str, str]) -> "Query":
        """Build a query from the untrusted parameters of a URL. Unknown values are ignored.

        A parameter with several values holds them separated by commas.
        """
        return cls(
            words=clean_words(params.get("q")),
            sort=next((key for key in sort_keys() if key == params.get("sort")), RANK),
            weights=known_values(params.get("weights"), get_args(Weights)),
            sizes=known_values(params.get("size"), tuple(SIZES)),
            verified=params.get("verified") == "1",
            columns=_columns(params["columns"]) if "columns" in params else None,
            shown=page_size(params.get("n")),
            thinking=known_values(params.get("thinking"), get_args(Thinking)),
            reproduced=params.get("reproduced") == "1",
            family=params.get("family") == "1",
            commercial=known_values(params.get("commercial"), get_args(Commercial)),
            memory=known_values(params.get("memory"), get_args(GpuMemory)),
            language_model=known_values(params.get("language_model"), get_args(Origin)),
            vision_encoder=known_values(params.get("vision_encoder"), get_args(Encoder)),
        )

    @property
    def has_row_filters(self) -> bool:
        """Whether the query has a filter that is tested on each row, which all filters are but `family`."""
        filters = (
            self.weights,
            self.sizes,
            self.verified,
            self.thinking,
            self.commercial,
            self.reproduced,
            self.memory,
            self.language_model,
            self.vision_encoder,
        )
        return any(filters)

    def filters(self) -> dict[str, str]:
        """Return the filters and the sort order as parameters of a URL, without those that have no effect."""
        given: dict[str, str | bool | Sequence[str]] = {
            "q": self.words,
            "sort": "" if self.sort == RANK else self.sort,
            "weights": self.weights,
            "size": self.sizes,
            "verified": self.verified,
            "thinking": self.thinking,
            "reproduced": self.reproduced,
            "commercial": self.commercial,
            "memory": self.memory,
            "language_model": self.language_model,
            "vision_encoder": self.vision_encoder,
            "family": self.family,
        }
        return {name: _parameter(value) for name, value in given.items() if value}


def _parameter(value: str | bool | Sequence[str]) -> str:
    """Return a filter that has an effect as the value of a parameter."""
    if isinstance(value, str):
        return value
    return "1" if isinstance(value, bool) else ",".join(value)


class FilteredModel(Protocol):
    """The fields that `fits_model` reads, which a BoardRow and a ModelRow have."""

    @property
    def model(self) -> str: ...
    @property
    def base_model(self) -> str | None: ...
    @property
    def weights(self) -> str | None: ...
    @property
    def license(self) -> str | None: ...
    @property
    def params(self) -> int | None: ...
    @property
    def gpu_memory_gb(self) -> float | None: ...


class ModelFilters(Protocol):
    """The filters that `fits_model` applies, which a Query and a Finder have.

    Each lists the values that pass; an empty one lets all pass.
    """

    @property
    def weights(self) -> tuple[Weights, ...]: ...
    @property
    def commercial(self) -> tuple[Commercial, ...]: ...
    @property
    def sizes(self) -> tuple[str, ...]: ...
    @property
    def memory(self) -> tuple[GpuMemory, ...]: ...
    @property
    def language_model(self) -> tuple[Origin, ...]: ...
    @property
    def vision_encoder(self) -> tuple[Encoder, ...]: ...


class Named(Protocol):
    """The fields that a search reads, which a BoardRow and a ModelRow have."""

    @property
    def model(self) -> str: ...
    @property
    def organisation(self) -> str | None: ...
    @property
    def license(self) -> str | None: ...


N = TypeVar("N", bound=Named)


def matching_rows(rows: Sequence[RankedRow], query: Query) -> list[RankedRow]:
    """Return the rows that match the query's words and filters, in the given order.

    `query.family` is not applied here but by `View.select`, because it needs all boards.
    """
    tests = [_row_test(word) for word in query.words.split()]
    if query.has_row_filters:  # otherwise no row has to be tested
        tests.append(lambda row: _fits(row, query))
    found = list(rows)
    for test in tests:
        found = [r for r in found if test(r.row)]
    return found


def sort_rows(rows: Sequence[RankedRow], key: str) -> list[RankedRow]:
    """Return the ranked rows of a benchmark in the order of the column with this key.

    They stay in the order of the ranking if the key is RANK or that of a column that the benchmark does not have.
    """
    columns = sortable(rows[0].row.benchmark) if rows else []
    column = next((column for column in columns if column.key == key), None)
    return sorted(rows, key=lambda r: _order(r.row, column)) if column else list(rows)


def find(named: Sequence[N], words: str | None) -> list[N]:
    """Return the models whose name or maker contains all of the words. `license:apache` searches the licence."""
    tests = [_model_test(word) for word in clean_words(words).split()]
    found = list(named)
    for test in tests:
        found = [model for model in found if test(model)]
    return found


def clean_words(words: object) -> str:
    """Return the search words from an untrusted value of a field or URL, cut to MAX_SEARCH_LENGTH."""
    return str(words or "")[:MAX_SEARCH_LENGTH]


def page_size(given: str | None, default: int = ROWS_PER_PAGE) -> int:
    """Return the number of rows to show from an untrusted parameter of a URL, at least `default`.

    With a default of 50: "120" -> 120, "7" -> 50, "9999" -> 2000, "many" -> 50.
    """
    wanted = int(given) if given and re.fullmatch("[0-9]{1,6}", given) else default
    return min(max(wanted, default), MAX_ROWS_PER_PAGE)


def _fits(row: BoardRow, query: Query) -> bool:
    """Return whether a row passes the filters of a query that are tested on each row (`Query.has_row_filters`)."""
    if query.verified and (row.kind != "verified" or row.is_sample):
        return False
    if query.reproduced and row.reproduction is None:
        return False
    if query.thinking and row.thinking not in query.thinking:
        return False
    return fits_model(row, query)


def fits_model(model: FilteredModel, filters: ModelFilters) -> bool:
    """Return whether a model, or a row of one, passes the filters by fields of models."""
    if filters.weights and model.weights not in filters.weights:
        return False
    if filters.commercial and commercial_use(model.license) not in filters.commercial:
        return False
    if filters.memory and not set(filters.memory) & set(cards_that_fit(model.gpu_memory_gb)):
        return False
    if filters.language_model and origin_of(model.model, model.base_model) not in filters.language_model:
        return False
    if filters.vision_encoder and encoder_of(model.model) not in filters.vision_encoder:
        return False
    return not filters.sizes or size_of(model.params) in filters.sizes


def _row_test(word: str) -> Callable[[BoardRow], bool]:
    """Return a test of rows for a search word: `license:mit` and `hardware:h100` search that field, other words names."""
    prefix, _, rest = word.casefold().partition(":")
    if prefix not in ("license", "hardware"):
        return _name_test(word)
    wanted = _jamo(rest)
    return lambda row: wanted in _jamo(getattr(row, prefix) or "")


def _model_test(word: str) -> Callable[[Named], bool]:
    """Return a test of models for a search word: `license:mit` searches the licence, other words names."""
    prefix, _, rest = word.casefold().partition(":")
    if prefix != "license":
        return _name_test(word)
    wanted = _jamo(rest)
    return lambda named: wanted in _jamo(named.license or "")


def _name_test(word: str) -> Callable[[Named], bool]:
    """Return a test for a word in names: `org:samsung` searches only the maker's name, other words the model's too."""
    prefix, _, rest = word.casefold().partition(":")
    if prefix == "org":
        maker = _jamo(rest)
        return lambda named: maker in maker_words(named.model, named.organisation)
    wanted = _jamo(word)
    has_only_initials = is_choseong(wanted)  # such as ㅈㅁ for 젬마

    def test(named: Named) -> bool:
        letters, initials = _letters(named.model, named.organisation)
        if wanted in letters or (has_only_initials and wanted in initials):
            return True
        # The name under which a score was reported, which only a BoardRow has.
        published_as = getattr(named, "published_as", None)
        return published_as is not None and wanted in _jamo(published_as)

    return test


def _order(row: BoardRow, column: Column) -> tuple[bool, Any]:
    """Return the sort key of a row: unknown values come last, and equal values keep the order of the ranking."""
    value = column.value(row)
    if value is None:
        return True, 0.0
    if isinstance(value, str):
        return False, _jamo(value)
    return False, value if column.order == "ascending" else -value


def _columns(given: str) -> tuple[str, ...] | None:
    """Return the column keys of the parameter `columns`.

    "params,date" -> ("params", "date"); "" -> (), no optional column; "nonsense" -> None, the default columns.
    """
    chosen = known_values(given, choice_keys())
    is_empty_choice = not given.strip(",")
    return chosen if chosen or is_empty_choice else None


def known_values(given: str | None, known: Sequence[T]) -> tuple[T, ...]:
    """Return those of the known values that a parameter lists, separated by commas: "open,x" -> ("open",)."""
    wanted = set((given or "").split(","))
    return tuple(value for value in known if value in wanted)


def search_words(model: str, organisation: str | None) -> str:
    """Return the text in which the page's script searches for a model.

    It has the letters of names and of their Korean spellings, and the initial consonants of Korean ones. `_name_test` searches
    in these too, and also in the name under which a score was reported.
    """
    letters, initials = _letters(model, organisation)
    return letters if initials == letters else f"{letters} {initials}"


def maker_words(model: str, organisation: str | None) -> str:
    """Return the letters that a search for a maker, such as `org:samsung`, looks in."""
    return _jamo(searchable(model.partition("/")[0], organisation))


@lru_cache(maxsize=10_000)
def size_of(params: int | None) -> str | None:
    """Return the range that a number of parameters is in, a key of SIZES: 4.4e9 -> "2-4"."""
    return None if params is None else next(size for size, (low, high) in SIZES.items() if low <= params < high)


# These are cached, because each search calls them for every row of a board.
@lru_cache(maxsize=100_000)
def _jamo(text: str) -> str:
    return to_jamo(text)


@lru_cache(maxsize=100_000)
def _letters(model: str, organisation: str | None) -> tuple[str, str]:
    """Return the letters of all spellings of a model's and its maker's name, and the same with initial consonants only."""
    name = searchable(model, organisation)
    return to_jamo(name), choseong(name)
