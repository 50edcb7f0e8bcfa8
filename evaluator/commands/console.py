"""What commands show while they work."""

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text


class _Rate(ProgressColumn):
    def render(self, task: Any) -> Text:
        return Text(f"{task.speed:.1f}/s" if task.speed else "–/s")


def progress_bar() -> Progress:
    """On stderr: stdout is for results."""
    columns = [
        TextColumn("{task.description:<6}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
    ]
    return Progress(*columns, console=Console(stderr=True))
