"""The small labels that distinguish a row from other rows of the same model, and what they mean.

A model may have several rows in a table, as with and without reasoning. `marks.html` shows the labels beside its name, and
`terms.html` explains below the table those that occur in it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from leaderboard.data.exposure import day_in_quarter
from leaderboard.data.ranking import RankedRow, is_outdated
from leaderboard.facts.licences import commercial_use
from leaderboard.views.texts import Language, text
from submissions.records.index_rows import BoardRow
from submissions.records.options import PRECISIONS

Translate = Callable[..., str]  # (key, **values) → text in the language of the page
MAX_REVISION = 20  # characters of a revision's name that are shown


@dataclass(frozen=True)
class Mark:
    """A kind of label, with its explanation in the list of terms."""

    title: str  # key of the text that names this kind of label in the list of terms
    hint: str  # key of the text that explains it
    label: Callable[[BoardRow, Translate], str | None]  # returns a row's label, or None if the row has none


def _thinking(row: BoardRow, t: Translate) -> str | None:
    return t(f"thinking_{row.thinking}") if row.thinking else None


def _quantisation(row: BoardRow, t: Translate) -> str | None:
    return row.precision if row.precision and row.precision not in PRECISIONS else None


def _custom_code(row: BoardRow, t: Translate) -> str | None:
    return t("custom_code") if row.custom_code else None


def _revision(row: BoardRow, t: Translate) -> str | None:
    return row.requested_revision[:MAX_REVISION] if row.requested_revision else None


def _server(row: BoardRow, t: Translate) -> str | None:
    return row.server


def _attempt(row: BoardRow, t: Translate) -> str | None:
    return t("nth_of", number=row.attempt[0], of=row.attempt[1]) if row.attempt else None


def _asked_before(row: BoardRow, t: Translate) -> str | None:
    return t("asked_before", n=row.asked_before) if row.asked_before else None


def _day_in_quarter(row: BoardRow, t: Translate) -> str | None:
    day = day_in_quarter(row)
    return None if day is None else t("day_in_quarter", n=day)


def _reproduction(row: BoardRow, t: Translate) -> str | None:
    return t(f"verdict_{row.reproduction}") if row.reproduction else None


def _outdated(row: BoardRow, t: Translate) -> str | None:
    return t("outdated", version=row.benchmark_version) if is_outdated(row) else None


def _retired(row: BoardRow, t: Translate) -> str | None:
    return t("retired") if row.retired else None


def _sample(row: BoardRow, t: Translate) -> str | None:
    return "sample" if row.is_sample else None


def _out_of_memory(row: BoardRow, t: Translate) -> str | None:
    return "oom" if row.outcome == "out_of_memory" else None


def _commercial(row: BoardRow, t: Translate) -> str | None:
    is_use_known = commercial_use(row.license) is not None  # "no" is an answer too
    return row.license if is_use_known else None


def _label_of_decoding(decoding: str) -> Callable[[BoardRow, Translate], str | None]:
    """Return the function that labels rows whose answers were decoded in this way."""
    return lambda row, t: t(f"decoding_{decoding}") if row.decoding == decoding else None


MARKS = (
    Mark("thinking", "thinking_hint", _thinking),
    Mark("quantised", "quantised_hint", _quantisation),
    Mark("custom_code", "custom_code_hint", _custom_code),
    Mark("requested_revision", "requested_revision_hint", _revision),
    Mark("server", "server_hint", _server),
    Mark("attempts_term", "attempts_hint", _attempt),
    Mark("asked_before_term", "asked_before_hint", _asked_before),
    Mark("day_in_quarter_term", "day_in_quarter_hint", _day_in_quarter),
    Mark("reproduction_term", "reproduction_hint", _reproduction),
    Mark("outdated_term", "outdated_hint", _outdated),
    Mark("retired", "retired_note", _retired),
    Mark("decoding_repository", "decoding_repository_hint", _label_of_decoding("repository")),
    Mark("decoding_provider", "decoding_provider_hint", _label_of_decoding("provider")),
)
# Labels that tables show in other cells, not beside the name. They are explained in the same list if a row has them. That is
# all that their functions are used for: `cells.html` has the text of these labels.
PLACED_ELSEWHERE = (
    Mark("sample_run", "sample_hint", _sample),
    Mark("out_of_memory", "out_of_memory_hint", _out_of_memory),
    Mark("commercial", "commercial_hint", _commercial),
)


def labels(row: BoardRow, language: Language) -> list[str]:
    """Return the labels beside the name of a row's model."""

    def t(key: str, **values: Any) -> str:
        return text(key, language, **values)

    every = (mark.label(row, t) for mark in MARKS)
    return [label for label in every if label]


def marks_in(rows: Iterable[RankedRow]) -> list[Mark]:
    """Return the marks that at least one of the rows has, in the order of MARKS and PLACED_ELSEWHERE."""

    def untranslated(key: str, **values: Any) -> str:
        return key  # whether there is a label does not depend on its language

    every_mark = [*MARKS, *PLACED_ELSEWHERE]
    missing = every_mark
    for ranked in rows:
        missing = [mark for mark in missing if not mark.label(ranked.row, untranslated)]
    return [mark for mark in every_mark if mark not in missing]
