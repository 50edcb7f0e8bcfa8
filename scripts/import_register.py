"""Write assets/register.csv from a file of published numbers: `python -m scripts.import_register FILE`.

Each row is checked (`leaderboard.facts.register.check`). Rows that are refused are named with their number and the reason,
the others are written; the exit status is then 1. It can be run again, and prints what changed. `import_lineage` shares the
functions that are not about numbers.
"""

import csv
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import NoReturn

from evaluator.core.files import replace_file
from leaderboard.facts.register import COLUMNS, REGISTER, Number, check

MAX_LOST_SHARE = 0.1  # of the entries that a file may leave out without --replace
STAYS = "so {} stays as it is; if that is meant, add --replace"
NAMING_FIELDS = 5  # of `Number.identity` that name a number to people; the rest are addresses
FIRST_ROW = 2  # as spreadsheets count: the first line has the names of the columns


def main(file: str, target: Path = REGISTER, *, may_lose: bool = False) -> int:
    try:
        accepted, refused = read(Path(file))
    except (OSError, ValueError, csv.Error) as error:
        print(f"import_register: {file}: {error}", file=sys.stderr)
        return 2
    for reason in refused:
        print(f"import_register: {file}: {reason}", file=sys.stderr)
    if not accepted:
        print(f"import_register: {file}: no row can be used, so {target.name} stays as it is", file=sys.stderr)
        return 2
    try:
        before = _numbers(target)
    except ValueError as error:  # the columns have changed since it was written
        if not may_lose:
            print(f"import_register: {target.name}: {error}; to write it anew, add --replace", file=sys.stderr)
            return 2
        before = {}
    after = {number.identity: number for number in accepted}
    loss = loss_of(before.keys(), after.keys())
    if loss and not may_lose:
        print(f"import_register: {file}: {loss} numbers would be lost, {STAYS.format(target.name)}", file=sys.stderr)
        return 2
    write(accepted, target)
    for identity in sorted(before.keys() | after.keys()):
        if before.get(identity) != after.get(identity):
            name = " · ".join(filter(None, identity[:NAMING_FIELDS]))
            print(f"{name}: {_change(before.get(identity), after.get(identity))}")
    print(f"{len(accepted)} numbers in {target.name}, {len(refused)} rows refused")
    return 1 if refused else 0


def read(file: Path) -> tuple[list[Number], list[str]]:
    """Return the numbers of a file, and why rows were refused."""
    accepted: dict[tuple[str, ...], tuple[int, Number]] = {}
    refused: list[str] = []
    with file.open(encoding="utf-8-sig", newline="") as lines:
        for row_number, row in numbered_rows(lines, COLUMNS):
            try:
                number = check(row)
            except ValueError as error:
                refused.append(f"row {row_number}: {error}")
                continue
            known = accepted.get(number.identity)
            if known is None:
                accepted[number.identity] = (row_number, number)
            elif known[1].value == number.value:
                refused.append(f"row {row_number}: the same number as row {known[0]}")
            else:
                refused.append(
                    f"row {row_number}: contradicts row {known[0]}: {number.value:g} and {known[1].value:g} from one source "
                    "under the same conditions; say in conditions what differs"
                )
    return [number for _, number in accepted.values()], refused


def numbered_rows(lines: Iterable[str], columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV file as `csv.DictReader` does, with their numbers as spreadsheets count, blank rows included.

    Raises ValueError, naming the line, if it has other columns or is no CSV file.
    """
    reader = csv.reader(lines, strict=True)
    try:
        if next(reader, []) != list(columns):
            raise ValueError(f"the columns must be {', '.join(columns)}")
        for number, cells in enumerate(reader, FIRST_ROW):
            if cells:
                yield number, dict(zip_longest(columns, cells))
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num + 1}: {error}") from None


def write(numbers: list[Number], target: Path) -> None:
    content = io.StringIO()
    writer = csv.DictWriter(content, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for number in sorted(numbers, key=lambda number: number.identity):
        writer.writerow({**asdict(number), "value": number.printed})
    replace_file(target, content.getvalue().encode())


def loss_of(before: Set[object], after: Set[object]) -> str | None:
    """Return how many entries a file leaves out, as "19 of 20", or None if they are so few that this is most likely meant."""
    lost = len(before - after)
    if after and lost <= MAX_LOST_SHARE * len(before):
        return None
    return f"{lost} of {len(before)}"


def run(name: str, importer: Callable[..., int]) -> NoReturn:
    """Run an importer with the arguments of the command line: FILE and, if entries may be lost, --replace."""
    given = [argument for argument in sys.argv[1:] if argument != "--replace"]
    if len(given) != 1:
        sys.exit(f"usage: python -m scripts.{name} FILE [--replace]")
    try:
        sys.exit(importer(given[0], may_lose="--replace" in sys.argv))
    except OSError as error:
        sys.exit(f"{name}: nothing written: {error}")


def _change(before: Number | None, after: Number | None) -> str:
    """Return what has changed about a number: its value, or other fields."""
    if before is None or after is None or before.value != after.value:
        return f"{before.printed if before else '–'} → {after.printed if after else '–'}"
    old = asdict(before)
    return ", ".join(
        f"{name}: {old[name]!r} → {value!r}" for name, value in asdict(after).items() if old[name] != value
    )


def _numbers(file: Path) -> dict[tuple[str, ...], Number]:
    if not file.exists():
        return {}
    return {number.identity: number for number in read(file)[0]}


if __name__ == "__main__":
    run("import_register", main)
