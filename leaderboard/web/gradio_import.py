"""Gradio, imported in two thirds of the time."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def no_stub_files() -> Iterator[None]:
    """As Gradio is imported it parses the source of each component, to write stubs for editors: not while this is open.

    It leaves those alone that have no file.
    """
    getfile = inspect.getfile

    def getfile_except_gradios(of: Any) -> str:
        if str(getattr(of, "__module__", "")).startswith("gradio."):
            raise OSError
        return getfile(of)

    inspect.getfile = getfile_except_gradios  # type: ignore[assignment]  # the parameter has another name
    try:
        yield
    finally:
        inspect.getfile = getfile
