"""Contents that are the same for everybody until the board changes."""

from collections.abc import Callable


class KeptContents:
    """The newest content of each name."""

    def __init__(self) -> None:
        self._contents: dict[str, tuple[str, bytes]] = {}  # by name, with the board's version

    def once(self, name: str, version: str, write: Callable[[], bytes]) -> Callable[[], bytes]:
        """Return `write`, but make the content only once for each version of the board."""

        def content() -> bytes:
            known = self._contents.get(name)
            if known is None or known[0] != version:
                known = self._contents[name] = (version, write())
            return known[1]

        return content
