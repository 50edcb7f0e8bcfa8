"""Write assets/register.csv from a file of published numbers: `python -m scripts.import_register FILE`.

Each row is checked (`leaderboard.facts.register.check`). Rows that are refused are named with their number and the reason,
the others are written; the exit status is then 1. It can be run again, and prints what changed.
"""

import csv
import sys
from dataclasses import asdict, fields
from pathlib import Path

from leaderboard.facts.register import REGISTER, Number, check

FIRST_ROW = 2  # as spreadsheets count: the first line has the names of the columns


def main(file: str, target: Path = REGISTER) -> int:
    try:
        accepted, refused = read(Path(file))
    except (OSError, UnicodeError, csv.Error) as error:
        print(f"import_register: {file}: {error}", file=sys.stderr)
        return 2
    for reason in refused:
        print(f"import_register: {file}: {reason}", file=sys.stderr)
    if not accepted:
        print(f"import_register: {file}: no row can be used, so {target.name} stays as it is", file=sys.stderr)
        return 2
    before = _values(target)
    after = {number.identity: number.value for number in accepted}
    write(accepted, target)
    for identity in sorted(before.keys() | after.keys()):
        if before.get(identity) != after.get(identity):
            print(f"{' · '.join(filter(None, identity[:5]))}: {before.get(identity, '–')} → {after.get(identity, '–')}")
    print(f"{len(accepted)} numbers in {target.name}, {len(refused)} rows refused")
    return 1 if refused else 0


def read(file: Path) -> tuple[list[Number], list[str]]:
    """Return the numbers of a file, and why rows were refused."""
    accepted: dict[tuple[str, ...], tuple[int, Number]] = {}
    refused: list[str] = []
    with file.open(encoding="utf-8-sig", newline="") as lines:
        for row_number, row in enumerate(csv.DictReader(lines), FIRST_ROW):
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


def write(numbers: list[Number], target: Path) -> None:
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Number)], lineterminator="\n")
        writer.writeheader()
        for number in sorted(numbers, key=lambda number: number.identity):
            writer.writerow({**asdict(number), "value": f"{number.value:g}"})


def _values(file: Path) -> dict[tuple[str, ...], float]:
    if not file.exists():
        return {}
    return {number.identity: number.value for number in read(file)[0]}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m scripts.import_register FILE")
    sys.exit(main(sys.argv[1]))
