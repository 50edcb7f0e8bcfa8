"""Set the pages of ko-fresh with typst: tables, reports and infographics, and frames around charts.

Each layout has a function that returns a tuple: typst source, and a picture or None. If there is a picture, the source gives
two sheets, and the picture is put between them. Fonts, colours and arrangement follow from `Facts.style`, 0 to 7.
"""

import io
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

from PIL import Image

from evaluator.fresh.charts import PPI, chart
from evaluator.fresh.degrade import png
from evaluator.fresh.facts import GAPPED, TABLES, Facts, Layout, icon_value
from evaluator.fresh.fonts import font_files
from evaluator.fresh.korean import printed, spoken, topic_marker
from evaluator.fresh.topics import HANJA

UNKNOWN = "…"
FACES = ("Noto Serif KR", "Noto Sans KR", "NanumGothic")
# Ends the sheet above a chart: new settings of the page begin another one. The margins between the sheets are small.
_BREAK = "#set page(margin: (x: 15mm, top: 2mm, bottom: 12mm))\n"
TINTS = ("#dfe7f1", "#ececec", "#e4efe4", "#f6ecdd")


def pages(facts: Facts) -> list[bytes]:
    """Return the pages of a figure as PNG files: two if a table continues, else one."""
    import typst  # imported here because only drawing needs it

    source, picture = _LAYOUTS.get(facts.layout, _chart_page)(facts)
    drawn = typst.compile(source.encode(), format="png", ppi=PPI, font_paths=_fonts())
    sheets = drawn if isinstance(drawn, list) else [drawn]
    return sheets if picture is None else [_stacked(sheets[0], picture, sheets[1])]


def _stacked(above: bytes, picture: Image.Image, below: bytes) -> bytes:
    """Return one page: the first sheet, a picture in the middle, and the second sheet."""
    parts = [Image.open(io.BytesIO(above)).convert("RGB"), picture, Image.open(io.BytesIO(below)).convert("RGB")]
    page = Image.new("RGB", (parts[0].width, sum(part.height for part in parts)), "white")
    top = 0
    for part in parts:
        page.paste(part, ((page.width - part.width) // 2, top))
        top += part.height
    return png(page)


@cache
def _fonts() -> Any:
    import typst

    folders = sorted({str(file.parent) for file in font_files()})
    return typst.Fonts(include_system_fonts=False, font_paths=folders)


def _quoted(text: str) -> str:
    """Return a text as a string of typst, which is written like one of JSON."""
    return json.dumps(text, ensure_ascii=False)


def _start(facts: Facts, width: str, bottom: str = "14mm", *, hanja: bool = False) -> str:
    """Return the settings of a page and its title."""
    face = FACES[facts.style % 3]
    title = facts.title
    if hanja and facts.style % 4 == 0:
        title = title.replace("현황", HANJA["현황"])
    return (
        f"#set page(width: {width}, height: auto, margin: (x: 15mm, top: 14mm, bottom: {bottom}))\n"
        f'#set text(font: ({_quoted(face)}, "Noto Sans KR"), size: 9.5pt, lang: "ko")\n'
        "#set par(leading: 0.7em)\n"
        f"#block(text(size: 14pt, weight: 600, {_quoted(_label(facts) + title)}))\n"
    )


def _label(facts: Facts) -> str:
    """Return what a title begins with, such as "<표 3> " or "그림 3. "."""
    number = facts.number % 40 + 1
    kind = "표" if facts.layout in TABLES else "그림"
    return (f"<{kind} {number}> ", f"[{kind} {number}] ", f"{kind} {number}. ")[facts.style % 3]


def notes_of(facts: Facts) -> list[str]:
    """Return the notes below a figure."""
    notes = []
    if facts.excluded:
        notes.append(f"1) {facts.excluded}{topic_marker(facts.excluded)} 소계에서 제외하였음.")
    if facts.provisional and facts.layout in (*TABLES, "page"):
        notes.append(f"p) {facts.years[-1]} 수치는 잠정치임.")
    if facts.layout == "page" or (facts.layout in TABLES and facts.blanks):
        notes.append(f"{UNKNOWN} 미상(자료 없음)")
    # Added even if no value is missing, so that it tells nothing about this figure. A map has a legend for it instead.
    if facts.layout in GAPPED and facts.layout != "map":
        notes.append("축과 범례에 있는데 표시가 없는 값은 자료가 없는 것임.")
    if facts.layout == "pictogram":
        notes.append("모든 값은 반 개의 배수임.")
    return notes


def _end(facts: Facts) -> str:
    notes = notes_of(facts)
    lines = [f"주: {' / '.join(notes)}"] if notes else []
    lines.append(f"자료: {facts.source}")
    return "".join(f"#text(size: 8.5pt)[#{_quoted(line)}]\\\n" for line in lines)


def _unit_line(facts: Facts, measures: Sequence[int] = (0, 1)) -> str:
    units = ", ".join(dict.fromkeys(facts.topic.measures[m].unit for m in measures))
    return f"#align(right, text(size: 8.5pt)[#{_quoted(f'(단위: {units})')}])\n"


def _table(facts: Facts, groups: Sequence[str], measures: Sequence[int]) -> str:
    """Return a table with nested heads: measures over years. Several groups have subtotals and span their rows."""
    has_groups = len(facts.groups) > 1
    label_columns = 2 if has_groups else 1
    value_columns = len(measures) * len(facts.years)
    tint = TINTS[facts.style % 4]
    heads = [f"table.cell(rowspan: 2, colspan: {label_columns})[구분]"]
    heads += [f"table.cell(colspan: {len(facts.years)})[#{_quoted(measure_head(facts, m))}]" for m in measures]
    heads += [_year_head(facts, year) for _ in measures for year in facts.years]
    cells = []
    for group in groups:
        if has_groups:
            cells.append(f"table.cell(rowspan: {len(facts.rows) + 1}, align: center + horizon)[#{_quoted(group)}]")
            totals = [cell_text(facts.subtotal(group, year, m)) for m in measures for year in facts.years]
            cells += [_quoted("소계"), *map(_quoted, totals)]
        for row in facts.rows:
            cells.append(_noted(row, "1)") if row == facts.excluded else _quoted(row))
            cells += [_quoted(cell_text(facts.value(group, row, year, m))) for m in measures for year in facts.years]
    rules = "(x: none, y: 0.5pt + gray)" if facts.style % 2 else "0.5pt + rgb(80, 80, 80)"
    return (
        f"#table(columns: ({'auto, ' * label_columns}{'1fr, ' * value_columns}), inset: (x: 4pt, y: 3.4pt), stroke: {rules},\n"
        f"  align: (x, y) => if x < {label_columns} or y < 2 {{ center + horizon }} else {{ right }},\n"
        f'  fill: (x, y) => if y < 2 {{ rgb("{tint}") }},\n'
        f"  table.header({', '.join(heads)}),\n  {', '.join(cells)})\n"
    )


def measure_head(facts: Facts, index: int) -> str:
    """Return the head of a measure in a table, with its unit if the two measures have different ones."""
    measure = facts.topic.measures[index]
    return (
        f"{measure.name}({measure.unit})"
        if facts.topic.measures[0].unit != facts.topic.measures[1].unit
        else measure.name
    )


def _year_head(facts: Facts, year: str) -> str:
    return _noted(year, "p)") if facts.provisional and year == facts.years[-1] else _quoted(year)


def _noted(text: str, mark: str) -> str:
    return f"[#{_quoted(text)}#super(typographic: false, {_quoted(mark)})]"


def cell_text(value: Decimal | None) -> str:
    """Return a value as a table prints it."""
    return UNKNOWN if value is None else printed(value)


def _table_page(facts: Facts) -> tuple[str, Image.Image | None]:
    body = _unit_line(facts) + _table(facts, facts.groups, (0, 1)) + _end(facts)
    return _start(facts, "200mm", hanja=True) + body, None


def _two_pages(facts: Facts) -> tuple[str, Image.Image | None]:
    half = len(facts.groups) // 2
    first = _unit_line(facts) + _table(facts, facts.groups[:half], (0, 1)) + "#align(right)[(다음 쪽에 계속)]\n"
    second = _unit_line(facts) + _table(facts, facts.groups[half:], (0, 1)) + _end(facts)
    again = f"#text(size: 12pt)[#{_quoted(_label(facts) + facts.title + ' (계속)')}]\n"
    return _start(facts, "200mm") + first + "#pagebreak()\n" + again + second, None


def punctual_share(facts: Facts) -> Decimal:
    """Return the share of offices that reported in time, which the text of a report gives, in percent, from 61.0 to 98.9.

    It follows from the values, so that nothing more has to be drawn for it.
    """
    total = sum(facts.values.values(), Decimal())
    return Decimal(610 + int(total * 10) % 380) / 10


def _report(facts: Facts) -> tuple[str, Image.Image | None]:
    """Return a page of a report: headings as in HWP documents, a table of one measure, and a chart of the other."""
    first, second = facts.topic.measures
    last = facts.years[-1]
    lines = [
        "□ 조사 개요",
        f"　○ (대상) {', '.join(facts.rows)} 등 {len(facts.rows)}개 {facts.topic.head}",
        f"　○ (기간) {facts.years[0]} ~ {last}, 연도별 집계",
        f"　○ (제출) 기한 내 자료를 제출한 부서 {punctual_share(facts)}%, 나머지는 추가 접수",
        "□ 주요 결과",
        f"　○ {facts.topic.head}별 {first.name}{topic_marker(first.name)} 아래 표, {second.name}{topic_marker(second.name)} 아래 그림과 같음",
        "　　- 세부 내용은 붙임 참고",
    ]
    text = "".join(f"#{_quoted(line)}\\\n" for line in lines)
    stamp = ""
    if facts.style >= 4:
        words = "사본" if facts.style % 2 else "시장 결재"
        stamp = f'#place(top + right, dx: -4mm, dy: 2mm, rotate(-8deg, box(stroke: 1.6pt + rgb("#b3202a"), inset: 5pt, radius: 3pt, text(fill: rgb("#b3202a"), size: 11pt)[{words}])))\n'
    table = (
        f"#text(weight: 600)[#{_quoted(f'<표> 연도별 {first.name}')}]\n"
        + _unit_line(facts, (0,))
        + _table(facts, facts.groups, (0,))
    )
    layout: Layout = "grouped" if facts.style % 2 else "line"
    caption = f"#v(4pt)\n#text(weight: 600)[#{_quoted(f'<그림> 연도별 {second.name} ({second.unit})')}]\n" + _BREAK
    footer = f'#align(center, text(size: 8.5pt, "- {facts.number % 180 + 3} -"))\n'
    source = _start(facts, "190mm", "2mm", hanja=True) + stamp + text + table + caption + _end(facts) + footer
    return source, chart(facts, layout, measure=1, height=3.2)


def _chart_page(facts: Facts) -> tuple[str, Image.Image | None]:
    measure = facts.topic.measures[0]
    parts = []  # of the line above the chart
    if len(facts.years) == 1:
        parts.append(facts.years[0])
    if facts.layout == "pie":
        total = sum((facts.values[facts.groups[0], row, facts.years[0], 0] for row in facts.rows), Decimal())
        parts.append(f"{measure.name} 합계: {spoken(total, measure.unit)}")
    elif facts.layout == "pictogram":
        parts.append(f"● 1개 = {spoken(Decimal(icon_value(facts.topic)), measure.unit)}, 반쪽은 그 절반")
    elif facts.layout == "map":
        parts.append(f"{facts.rows[0]} {measure.name}")
    elif facts.layout == "dual":
        parts.append(facts.rows[0])
    elif facts.layout == "log":
        parts.append(f"{measure.name}, 로그 눈금")
    elif facts.layout in ("stacked", "area"):
        parts.append(f"{measure.name} (누적)")
    else:
        parts.append(measure.name)
    names_unit_elsewhere = facts.layout in ("dual", "pictogram", "pie")  # at its axes or in `parts`
    unit = "" if names_unit_elsewhere else f"(단위: {measure.unit})"
    head = f"#grid(columns: (1fr, auto), [#{_quoted(' · '.join(parts))}], text(size: 8.5pt)[#{_quoted(unit)}])\n"
    return _start(facts, "180mm", "2mm") + head + _BREAK + _end(facts), chart(facts)


def growth(facts: Facts, row: str) -> Decimal:
    """Return the change from the year before that a card shows, in percent, from -18.0 to 18.0 and never 0.

    It follows from the second measure, which cards do not show, so that nothing more has to be drawn for it.
    """
    value = facts.values[facts.groups[0], row, facts.years[0], 1]
    return Decimal(int(value * 10) % 361 - 180) / 10 or Decimal("0.4")


def _cards(facts: Facts) -> tuple[str, Image.Image | None]:
    """Return an infographic: one card for each row, with the value in words and its change from the year before."""
    measure = facts.topic.measures[0]
    colour = ("#1f4e79", "#7a3e2b", "#2f6f4f", "#444444")[facts.style % 4]
    cards = []
    for row in facts.rows:
        value = facts.values[facts.groups[0], row, facts.years[0], 0]
        change = growth(facts, row)
        arrow = f"▲ {change:.1f}%" if change > 0 else f"▼ {-change:.1f}%"
        cards.append(
            f'block(fill: rgb("{colour}").lighten(86%), inset: 9pt, radius: 6pt, width: 100%)[#text(size: 10pt)[#{_quoted(row)}]\\\n'
            f'#text(size: 15pt, weight: 600, fill: rgb("{colour}"), box[#{_quoted(spoken(value, measure.unit))}])\\\n'
            f"#text(size: 9pt)[#{_quoted(f'전년 대비 {arrow}')}]]"
        )
    head = f"#{_quoted(f'{facts.years[0]} {measure.name}')}\n"
    grid = f"#grid(columns: (1fr, 1fr, 1fr), gutter: 8pt, {', '.join(cards)})\n"
    return _start(facts, "180mm") + head + grid + _end(facts), None


_LAYOUTS: dict[Layout, Callable[[Facts], tuple[str, Image.Image | None]]] = {
    "table": _table_page,
    "two_pages": _two_pages,
    "page": _report,
    "cards": _cards,
}
