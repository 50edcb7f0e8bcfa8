"""A plan: what a set-up would do. It is shown before it is carried out.

`machine.py` and `space.py` make plans, and the command `init` shows them and carries them out. A plan has only the steps that
are missing, so planning again after they were carried out finds nothing to do.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

Echo = Callable[[str], None]  # prints a line


@dataclass(frozen=True)
class Step:
    """One thing to create or change."""

    call: str  # what `--dry-run` prints: the call of HfApi, or a sentence such as "write PATH"
    run: Callable[[], object]


@dataclass(frozen=True)
class Plan:
    """The steps that are missing, and the lines about what is there already."""

    steps: list[Step]
    kept: list[str]


def show(plan: Plan, echo: Echo) -> None:
    """Print what is there already and what would be done."""
    for line in plan.kept:
        echo(f"  kept   {line}")
    for step in plan.steps:
        echo(f"  to do  {step.call}")


def carry_out(steps: Iterable[Step], echo: Echo) -> None:
    """Run the steps in order, and print each when it is done. A step that fails ends the plan with its error."""
    for step in steps:
        step.run()
        echo(f"  done   {step.call}")
