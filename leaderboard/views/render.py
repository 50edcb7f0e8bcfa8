"""HTML from templates. Everything is escaped by the template engine; nothing else writes HTML."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from leaderboard.views.texts import Language, axis_name, text

KST = timezone(timedelta(hours=9), "KST")


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def milliseconds(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _amount(value: float | None) -> str:
    """Parameters, in billions or millions."""
    if value is None:
        return "–"
    return f"{value / 1e9:.3g} B" if value >= 1e9 else f"{value / 1e6:.3g} M"


def _day(value: float | None) -> str:
    return "–" if value is None else datetime.fromtimestamp(value, UTC).astimezone(KST).strftime("%Y-%m-%d")


def _moment(value: datetime | None) -> str:
    return "–" if value is None else value.astimezone(KST).strftime("%m-%d %H:%M:%S")


def minutes(value: timedelta) -> str:
    return f"{max(1, round(value.total_seconds() / 60)):,}"


_environment = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
_environment.filters.update(
    score=_score, amount=_amount, whole=_whole, ms=milliseconds, day=_day, moment=_moment, minutes=minutes
)


def render(template: str, language: Language, **values: Any) -> str:
    """A template with its values; `t` in it looks up a text in the page's language, `by` the name of a breakdown."""

    def t(key: str, **fields: object) -> str:
        return text(key, language, **fields)

    def by(axis: str) -> str:
        return axis_name(axis, language)

    return _environment.get_template(template).render(t=t, by=by, language=language, **values)
