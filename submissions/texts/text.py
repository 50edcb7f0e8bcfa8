"""Define texts in the two languages of the board."""

from typing import NamedTuple


class Text(NamedTuple):
    """A text in Korean and English."""

    ko: str
    en: str
