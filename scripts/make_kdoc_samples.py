"""Draw the sample pages of kdoc-ocrbench: invented tables and report pages of ko-fresh, with tests of their cells and sentences.

Run `python -m scripts.make_kdoc_samples FOLDER`; the samples are `assets/samples/kdoc-ocrbench`.
"""

import json
import random
import sys
from collections.abc import Iterator
from itertools import count, product
from pathlib import Path
from typing import Any

from evaluator.benchmarks.kdoc_ocrbench import CATEGORIES
from evaluator.core.files import new_folder
from evaluator.fresh.facts import Facts, facts_of
from evaluator.fresh.pages import cell_text, measure_head, notes_of, pages

SEED, COPIES, CELLS = "kdoc sample", 2, 8  # pages of each category, tests of cells of each page


def main() -> None:
    tables = filter(_is_plain_table, (facts_of(SEED, number, "a") for number in count()))
    with new_folder(Path(sys.argv[1])) as folder:
        (folder / "images").mkdir()
        rows = [
            _row(folder, f"page-{n:02}", facts, category)
            for n, (category, facts) in enumerate(zip(list(CATEGORIES) * COPIES, tables, strict=False), 1)
        ]
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / "items.jsonl").write_text("".join(lines), encoding="utf-8")


def _is_plain_table(facts: Facts) -> bool:
    return facts.layout == "table" and facts.style % 4 != 0  # every fourth style has hanja, which are no sound output


def _row(folder: Path, name: str, facts: Facts, category: str) -> dict[str, Any]:
    (page,) = pages(facts)
    (folder / f"images/{name}.png").write_bytes(page)
    checks = [
        {"pdf": f"{name}.pdf", "page": 1, "id": f"{name}-{n}", **check} for n, check in enumerate(_checks(facts), 1)
    ]
    return {
        "id": name,
        "images": [f"images/{name}.png"],
        "category": category,
        "checks": json.dumps(checks, ensure_ascii=False),
        "transcript": _transcript(facts),
    }


def _checks(facts: Facts) -> Iterator[dict[str, Any]]:
    for sentence in (facts.title, f"자료: {facts.source}", *notes_of(facts)):
        yield {"type": "present", "text": sentence, "max_diffs": len(sentence) // 10}
    yield {"type": "absent", "text": f"- {facts.number} -"}
    cells = list(product(facts.groups, facts.rows, facts.years, (0, 1)))
    for group, row, year, measure in random.Random(facts.number).sample(cells, CELLS):
        check = {"cell": cell_text(facts.value(group, row, year, measure))}
        check |= {"left_heading": _row_head(facts, row), "top_heading": _year_head(facts, year)}
        if year != facts.years[0]:
            before = facts.years[facts.years.index(year) - 1]
            check["left"] = cell_text(facts.value(group, row, before, measure))
        yield {"type": "table", **check}


def _row_head(facts: Facts, row: str) -> str:
    return f"{row}1)" if row == facts.excluded else row


def _year_head(facts: Facts, year: str) -> str:
    return f"{year}p)" if facts.provisional and year == facts.years[-1] else year


def _transcript(facts: Facts) -> str:
    """Return the page in Markdown with an HTML table."""
    years, units = len(facts.years), ", ".join(dict.fromkeys(measure.unit for measure in facts.topic.measures))
    heads = "".join(f'<th colspan="{years}">{measure_head(facts, measure)}</th>' for measure in (0, 1))
    lines = [f'<tr><th rowspan="2" colspan="2">구분</th>{heads}</tr>']
    lines.append(f"<tr>{''.join(f'<th>{_year_head(facts, year)}</th>' for year in facts.years * 2)}</tr>")
    for group in facts.groups:
        first = f'<th rowspan="{len(facts.rows) + 1}">{group}</th>'
        for row in (None, *facts.rows):
            values = (
                facts.value(group, row, year, measure) if row else facts.subtotal(group, year, measure)
                for measure, year in product((0, 1), facts.years)
            )
            cells = "".join(f"<td>{cell_text(value)}</td>" for value in values)
            lines.append(f"<tr>{first}<th>{_row_head(facts, row) if row else '소계'}</th>{cells}</tr>")
            first = ""
    table = "\n".join(["<table>", *lines, "</table>"])
    return "\n\n".join([f"# {facts.title}", f"(단위: {units})", table, *notes_of(facts), f"자료: {facts.source}"])


if __name__ == "__main__":
    main()
