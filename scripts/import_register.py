"""Write assets/register.csv from a file of published numbers: `python -m scripts.import_register FILE`.

Each row is checked (`leaderboard.facts.register.check`). Rows that are refused are named with their number and the reason,
the others are written; the exit status is then 1. It can be run again, and prints what changed.
"""

import csv
import io
import sys
from dataclasses import asdict
from pathlib import Path

from evaluator.core.files import replace_file
from leaderboard.facts.register import COLUMNS, REGISTER, Number, check
from scripts.support.importing import STAYS, loss_of, numbered_rows, row_of, run


def main(file: str, target: Path = REGISTER, *, may_lose: bool = False) -> int:
    try:
        accepted, refused = read(Path(file))
    except (OSError, ValueError) as error:
        print(f"import_register: {file}: {error}", file=sys.stderr)
        return 2
    for reason in refused:
        print(f"import_register: {file}: {reason}", file=sys.stderr)
    if not accepted:
        print(f"import_register: {file}: no row can be used, so {target.name} stays as it is", file=sys.stderr)
        return 2
    try:
        before = _numbers(target)
    except ValueError as error:  # it was written by other rules: with other columns, or with rows that are refused now
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
            *naming, _source = identity  # the address is long
            print(f"{' · '.join(filter(None, naming))}: {_change(before.get(identity), after.get(identity))}")
    print(f"{len(accepted)} numbers in {target.name}, {len(refused)} rows refused")
    return 1 if refused else 0


def read(file: Path) -> tuple[list[Number], list[str]]:
    """Return the numbers of a file, and why rows were refused."""
    accepted: dict[tuple[str, ...], tuple[int, Number]] = {}
    refused: list[str] = []
    with file.open(encoding="utf-8-sig", newline="") as lines:
        for row_number, cells in numbered_rows(lines, COLUMNS):
            try:
                number = check(row_of(cells, COLUMNS))
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


def write(numbers: list[Number], target: Path) -> None:
    content = io.StringIO()
    writer = csv.DictWriter(content, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for number in sorted(numbers, key=lambda number: number.identity):
        writer.writerow({**asdict(number), "value": number.printed})
    replace_file(target, content.getvalue().encode())


def _change(before: Number | None, after: Number | None) -> str:
    """Return what has changed about a number: "71.5 → 72, flag: 'ok' → 'doubtful'", or "– → 72" if it is new."""
    if before is None or after is None:
        return f"{before.printed if before else '–'} → {after.printed if after else '–'}"
    changes = [f"{before.printed} → {after.printed}"] if before.value != after.value else []
    old = asdict(before)
    for name, value in asdict(after).items():
        if name != "value" and old[name] != value:
            changes.append(f"{name}: {old[name]!r} → {value!r}")
    return ", ".join(changes)


def _numbers(file: Path) -> dict[tuple[str, ...], Number]:
    """Return the numbers of an earlier import by identity. Raises ValueError if one of them is refused today."""
    if not file.exists():
        return {}
    accepted, refused = read(file)
    if refused:
        raise ValueError(refused[0])
    return {number.identity: number for number in accepted}


if __name__ == "__main__":
    run("import_register", main)
