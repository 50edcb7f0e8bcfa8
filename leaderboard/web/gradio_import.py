"""Make the import of Gradio faster, by a third."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def no_stub_files() -> Iterator[None]:
    """Keep Gradio from writing stub files for editors while it is imported.

    For the stubs Gradio parses the source of each component. It skips components without a source file, so this context makes
    `inspect.getfile` fail for them.
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
