"""Mark which claims the processes of this host hold, so that a killed process's claims are found before their leases expire."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

_HELD = ".held"


class HeldClaims:
    """A folder with a file per claim, named by the lease's nonce and locked by the process that holds it.

    The kernel frees the lock when that process ends, however it ends.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def hold(self, nonce: str) -> Iterator[None]:
        """Mark a claim as held by this process."""
        self._folder.mkdir(parents=True, exist_ok=True)
        new_path = self._folder / f"{nonce}.new"
        held_path = self._folder / f"{nonce}{_HELD}"
        # Lock the file before it gets the name that `abandoned` looks for.
        with FileLock(new_path):
            new_path.rename(held_path)
            try:
                yield
            finally:
                held_path.unlink(missing_ok=True)

    def abandoned(self) -> list[str]:
        """Return the nonces of claims whose process has ended."""
        found = []
        for path in self._folder.glob(f"*{_HELD}"):
            try:
                with FileLock(path).acquire(timeout=0):
                    found.append(path.name.removesuffix(_HELD))
            except (Timeout, OSError):
                continue
        return found

    def forget(self, nonce: str) -> None:
        """Remove the mark of an abandoned claim."""
        (self._folder / f"{nonce}{_HELD}").unlink(missing_ok=True)
