"""A text in the two languages of the board."""

from typing import NamedTuple


class Text(NamedTuple):
    ko: str
    en: str
