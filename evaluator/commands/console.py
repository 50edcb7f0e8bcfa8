"""Progress bars of the commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from evaluator.job.events import OnProgress


class _Rate(ProgressColumn):
    """Steps per second, such as 3.1/s."""

    def render(self, task: Any) -> Text:
        return Text(f"{task.speed:.1f}/s" if task.speed else "–/s")


def progress_bar() -> Progress:
    """Return a progress bar on stderr; stdout is reserved for results."""
    columns = [
        TextColumn("{task.description:<6}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
    ]
    return Progress(*columns, console=Console(stderr=True))


@contextmanager
def shown_progress() -> Iterator[OnProgress]:
    """Show a progress bar and yield the callback that updates it with a stage and the steps that are done, of how many."""
    with progress_bar() as progress:
        bar = progress.add_task("load", total=None)

        def show(stage: str, done: int, total: int) -> None:
            progress.update(bar, description=stage, completed=done, total=total)

        yield show
