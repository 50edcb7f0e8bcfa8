"""Keep the newest content of a file, such as a whole table as CSV, until the board changes."""

from collections.abc import Callable
from typing import NamedTuple


class _Kept(NamedTuple):
    version: str  # of the board
    content: bytes


class ContentCache:
    """Keeps one content for each name: that of the newest version of the board."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}  # by name

    def writer(self, name: str, version: str, write: Callable[[], bytes]) -> Callable[[], bytes]:
        """Return a function that calls `write` only if no content is kept under this name for this version of the board."""

        def content() -> bytes:
            kept = self._kept.get(name)
            if kept is None or kept.version != version:
                kept = self._kept[name] = _Kept(version, write())
            return kept.content

        return content
