"""Figures of Korean public documents, drawn by matplotlib in a pinned font: the same bytes wherever they are drawn."""

import hashlib
import io
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager
from matplotlib.patches import Rectangle
from PIL import Image

from evaluator.errors import DataError
from evaluator.fresh.facts import WITH_TOTAL, Facts, Layout, shown
from evaluator.fresh.questions import icon_value
from evaluator.fresh.topics import object_marker

FONTS = {  # Nanum Gothic (SIL OFL 1.1), and its sha256
    "NanumGothic.ttf": "48a28e97b34fc8e5b157657633670cd1b7de126cfc414da65ce9c3d5bc8be733",
    "NanumGothicBold.ttf": "454eb3f503f377782a99eb84fc4bb7dde22a0f075d41b47427737f2985053bc9",
}
PALETTES = (
    ("#1f4e79", "#c55a11", "#548235", "#7f6000", "#7030a0", "#a61c28"),
    ("#2f6f8f", "#e08e45", "#6a994e", "#bc4749", "#8a7fa8", "#4a4e69"),
    ("#264653", "#2a9d8f", "#e9a23b", "#d1603d", "#7a5c8e", "#577590"),
    ("#3d3d3d", "#8a5a2b", "#1f6f8b", "#b85c38", "#5c7f67", "#99627a"),
)
HEADS = ("#dfe7f1", "#eeeeee", "#e4efe4", "#f4e9dc")  # behind the heads of tables
RULE, INK, QUIET = "#8a93a0", "#16202e", "#4a5462"
BOLD = 600  # as matplotlib reads the weight of NanumGothicBold
DPI = 120


def draw(facts: Facts) -> Image.Image:
    """The figure as a page of a document has it. Raises DataError where the pinned font is missing."""
    canvas = drawn_canvas(facts)
    return Image.frombytes("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba())).convert("RGB")


def drawn_canvas(facts: Facts) -> Any:
    """The same as matplotlib has it: where each text stands, too."""
    with mpl.rc_context():
        mpl.rcdefaults()  # what a user's own matplotlibrc says is nobody's business here
        mpl.rcParams.update({"font.family": _font_name(), "axes.unicode_minus": False, "text.color": INK})
        figure = _PAGES.get(facts.layout, _chart_page)(facts)
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
        return canvas


def png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=6)
    return buffer.getvalue()


def font_files() -> list[Path]:
    """Raises DataError where one is missing, or another version of it is there."""
    spec = find_spec("koreanize_matplotlib")
    folder = Path((spec.submodule_search_locations or [""])[0]) if spec else Path()
    files = [folder / "fonts" / name for name in FONTS]
    for file in files:
        if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != FONTS[file.name]:
            raise DataError(
                f"the font that ko-fresh is drawn in is missing: pip install -r evaluator/requirements.lock ({file})"
            )
    return files


@cache
def _font_name() -> str:
    files = font_files()
    for file in files:
        fontManager.addfont(str(file))
    return FontProperties(fname=str(files[0])).get_name()


def _blank(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), dpi=DPI, facecolor="white")


def _frame(figure: Figure, facts: Facts, top: float = 0.93) -> None:
    """Title, unit, source and footnote around what is drawn."""
    kind = "표" if facts.layout in ("table", "merged") else "그림"
    figure.text(0.06, top, f"[{kind} {facts.number % 40 + 1}] {facts.title}", fontsize=15, weight=BOLD)
    figure.text(0.94, top - 0.06, f"(단위: {facts.topic.unit})", fontsize=10.5, ha="right", color=QUIET)
    notes = [f"자료: {facts.source}"] + ([f"주: {facts.footnote}"] if facts.footnote else [])
    for line, note in enumerate(notes):
        figure.text(0.06, 0.055 - 0.035 * line, note, fontsize=9.5, color=QUIET)


def _chart_page(facts: Facts) -> Figure:
    figure = _blank(9, 6)
    _frame(figure, facts)
    _plot(figure.add_axes((0.09, 0.17, 0.85, 0.64)), facts)
    return figure


def _plot(axes: Any, facts: Facts) -> None:
    _PLOTS[facts.layout if facts.layout in _PLOTS else "grouped"](axes, facts)


def _readable_on(colour: str) -> str:
    """White or ink, whichever stands out from it (luminance as in ITU-R BT.601)."""
    red, green, blue = (int(colour[n : n + 2], 16) for n in (1, 3, 5))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else INK


def _bare(axes: Any) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=10.5, length=0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def _bar(axes: Any, facts: Facts) -> None:
    colours = PALETTES[facts.style]
    values = [float(v) for v in facts.column(facts.years[0]).values()]
    if facts.style % 2:
        bars = axes.barh(facts.rows, values, color=colours[0], height=0.55)
        axes.invert_yaxis()
        axes.set_xticks([])
        for side in ("top", "right", "bottom"):
            axes.spines[side].set_visible(False)
        axes.tick_params(labelsize=10.5, length=0)
        axes.set_xlim(0, max(values) * 1.15)
    else:
        bars = axes.bar(facts.rows, values, color=colours[0], width=0.55)
        _bare(axes)
        axes.set_ylim(0, max(values) * 1.12)
    axes.bar_label(bars, [shown(v) for v in facts.column(facts.years[0]).values()], padding=4, fontsize=11)
    axes.set_title(facts.years[0], fontsize=11, color=QUIET, loc="left")


def _grouped(axes: Any, facts: Facts) -> None:
    colours, width = PALETTES[facts.style], 0.8 / len(facts.rows)
    largest = max(float(v) for row in facts.values for v in row)
    for number, row in enumerate(facts.rows):
        places = [year + (number - (len(facts.rows) - 1) / 2) * width for year in range(len(facts.years))]
        bars = axes.bar(places, [float(v) for v in facts.series(row).values()], width * 0.92, color=colours[number])
        axes.bar_label(
            bars,
            [shown(v) for v in facts.series(row).values()],
            padding=3,
            fontsize=9.5,
            rotation=90 if width < 0.24 else 0,
        )
    _bare(axes)
    axes.set_xticks(range(len(facts.years)), facts.years)
    axes.set_ylim(0, largest * 1.25)
    _legend(axes, facts, colours)


def _stacked(axes: Any, facts: Facts) -> None:
    colours, bottoms = PALETTES[facts.style], [0.0] * len(facts.years)
    for number, row in enumerate(facts.rows):
        values = [float(v) for v in facts.series(row).values()]
        bars = axes.bar(facts.years, values, 0.5, bottom=bottoms, color=colours[number])
        axes.bar_label(
            bars,
            [shown(v) for v in facts.series(row).values()],
            label_type="center",
            fontsize=9,
            color=_readable_on(colours[number]),
        )
        bottoms = [bottom + value for bottom, value in zip(bottoms, values, strict=True)]
    _bare(axes)
    axes.set_ylim(0, max(bottoms) * 1.05)
    _legend(axes, facts, colours)


def _line(axes: Any, facts: Facts) -> None:
    colours, marks = PALETTES[facts.style], "os^D"
    flat = [float(v) for row in facts.values for v in row]
    room = (max(flat) - min(flat)) * 0.14
    for number, row in enumerate(facts.rows):
        values = [float(v) for v in facts.series(row).values()]
        axes.plot(facts.years, values, color=colours[number], marker=marks[number], linewidth=2.2)
        for year, value in enumerate(values):
            others = [abs(float(own[year]) - value) for n, own in enumerate(facts.values) if n != number]
            below = any(
                float(own[year]) > value and gap < room
                for own, gap in zip((own for n, own in enumerate(facts.values) if n != number), others, strict=True)
            )
            offset = (0, -15) if below else (0, 8)
            axes.annotate(
                shown(facts.values[number][year]), (year, value), offset, textcoords="offset points",
                ha="center", fontsize=9.5, color=colours[number], weight=BOLD,
            )  # fmt: skip
    _bare(axes)
    axes.set_ylim(min(flat) - 2 * room, max(flat) + 2 * room)
    axes.margins(x=0.08)
    _legend(axes, facts, colours, lines=True)


def _pie(axes: Any, facts: Facts) -> None:
    values = facts.column(facts.years[0])
    labels = [f"{row}\n{shown(value)}" for row, value in values.items()]
    axes.pie(
        [float(v) for v in values.values()],
        labels=labels,
        colors=PALETTES[facts.style][: len(values)],
        labeldistance=1.16,
        startangle=90,
        counterclock=False,
        wedgeprops={"linewidth": 2, "edgecolor": "white", "width": 0.42 if facts.style % 2 else 1.0},
        textprops={"fontsize": 11},
    )
    axes.set_title(facts.years[0], fontsize=11, color=QUIET, loc="left")


def _pictogram(axes: Any, facts: Facts) -> None:
    colours, mark = PALETTES[facts.style], "osD^"[facts.style]
    for number, (row, value) in enumerate(facts.column(facts.years[0]).items()):
        axes.scatter(
            [1.6 + 0.8 * n for n in range(int(value))], [-number] * int(value), s=260, marker=mark, color=colours[0]
        )
        axes.text(1.1, -number, row, ha="right", va="center", fontsize=12)
    axes.set_xlim(-1.4, 10)
    axes.set_ylim(-len(facts.rows) + 0.4, 0.6)
    axes.axis("off")
    axes.set_title(
        f"{facts.years[0]}     표식 1개 = {icon_value(facts):,} {facts.topic.unit}",
        fontsize=12,
        color=QUIET,
        loc="left",
    )


def _cards(axes: Any, facts: Facts) -> None:
    colours = PALETTES[facts.style]
    axes.axis("off")
    axes.set_xlim(0, 3)
    rows = -(-len(facts.rows) // 3)
    axes.set_ylim(-rows, 0)
    for number, (row, value) in enumerate(facts.column(facts.years[0]).items()):
        x, y = number % 3, -(number // 3) - 1
        axes.add_patch(Rectangle((x + 0.04, y + 0.06), 0.92, 0.88, color=colours[number], alpha=0.14))
        axes.text(x + 0.5, y + 0.72, row, ha="center", va="center", fontsize=13, color=QUIET)
        axes.text(
            x + 0.5, y + 0.42, shown(value), ha="center", va="center", fontsize=25, weight=BOLD, color=colours[number]
        )
        axes.text(x + 0.5, y + 0.17, facts.topic.unit, ha="center", va="center", fontsize=10.5, color=QUIET)
    axes.set_title(facts.years[0], fontsize=11, color=QUIET, loc="left")


def _table_page(facts: Facts) -> Figure:
    figure = _blank(9, 1.9 + 0.42 * (len(facts.rows) + 3))
    _frame(figure, facts, top=0.9)
    _table(figure.add_axes((0.06, 0.16, 0.88, 0.62)), facts)
    return figure


def _table(axes: Any, facts: Facts) -> None:
    """Years above, rows beside, a total below; merged heads where the layout has them."""
    axes.axis("off")
    merged = facts.layout == "merged"
    head = 2 if merged else 1
    height, width = len(facts.rows) + head + (facts.layout in WITH_TOTAL), len(facts.years) + 1
    axes.set_xlim(0, width)
    axes.set_ylim(-height, 0)

    def cell(
        x: float, y: float, text: str, w: float = 1, h: float = 1, *, tinted: bool = False, right: bool = False
    ) -> None:
        colour = HEADS[facts.style] if tinted else "white"
        axes.add_patch(Rectangle((x, -y - h), w, h, facecolor=colour, edgecolor=RULE, linewidth=0.8, clip_on=False))
        place = x + w - 0.08 if right else x + w / 2
        axes.text(place, -y - h / 2, text, ha="right" if right else "center", va="center", fontsize=11)

    cell(0, 0, "구분", h=head, tinted=True)
    if merged:
        cell(1, 0, facts.topic.measure, w=len(facts.years), tinted=True)
    for column, year in enumerate(facts.years, 1):
        cell(column, head - 1, year, tinted=True)
    lines = [(row, list(facts.series(row).values())) for row in facts.rows]
    if facts.layout in WITH_TOTAL:
        totals = ("합계", [facts.total(year) for year in facts.years])
        lines = [totals, *lines] if facts.style % 2 else [*lines, totals]
    for line, (name, values) in enumerate(lines, head):
        cell(0, line, name, tinted=True)
        for column, value in enumerate(values, 1):
            cell(column, line, shown(value), right=True)


def _dense_page(facts: Facts) -> Figure:
    """A page of a report: text, its table, and a chart of the newest year beside more text."""
    figure = _blank(8.3, 11)
    figure.text(0.08, 0.95, f"{facts.number % 7 + 1}. {facts.title} 현황", fontsize=17, weight=BOLD)
    measure, last = facts.topic.measure, facts.years[-1]
    paragraphs = [
        f"○ {facts.body}의 {measure}{object_marker(measure)} {facts.years[0]}부터 {last}까지 항목별로 조사한 결과를 아래 표에 정리함.",
        f"○ 조사 대상은 {', '.join(facts.rows)} 등 {len(facts.rows)}개 항목임.",
        "○ 세부 산출 방법과 전년도 수정 내역은 부록을 참고하기 바람.",
    ]
    for line, text in enumerate(paragraphs):
        figure.text(0.09, 0.905 - 0.027 * line, text, fontsize=10.5)
    figure.text(0.08, 0.8, f"<표> 연도별 {measure}", fontsize=12, weight=BOLD)
    figure.text(0.92, 0.8, f"(단위: {facts.topic.unit})", fontsize=10, ha="right", color=QUIET)
    _table(figure.add_axes((0.08, 0.52, 0.84, 0.265)), facts)
    figure.text(0.08, 0.475, f"<그림> 연도별 {measure} 추이", fontsize=12, weight=BOLD)
    _grouped(figure.add_axes((0.1, 0.14, 0.8, 0.31)), facts)
    figure.text(0.08, 0.075, f"자료: {facts.source}", fontsize=9.5, color=QUIET)
    if facts.footnote:
        figure.text(0.08, 0.055, f"주: {facts.footnote}", fontsize=9.5, color=QUIET)
    figure.text(0.5, 0.025, f"- {facts.number % 180 + 3} -", fontsize=9.5, ha="center", color=QUIET)
    return figure


def _legend(axes: Any, facts: Facts, colours: tuple[str, ...], *, lines: bool = False) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D(
            [], [], color=colours[n], marker="os^D"[n] if lines else "s", linestyle="-" if lines else "", markersize=8
        )
        for n in range(len(facts.rows))
    ]
    axes.legend(
        marks,
        facts.rows,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.07),
        ncols=len(facts.rows),
        frameon=False,
        fontsize=10.5,
    )


_PLOTS: dict[Layout, Callable[[Any, Facts], None]] = {
    "bar": _bar,
    "grouped": _grouped,
    "stacked": _stacked,
    "line": _line,
    "pie": _pie,
    "pictogram": _pictogram,
    "cards": _cards,
}
_PAGES: dict[Layout, Callable[[Facts], Figure]] = {"table": _table_page, "merged": _table_page, "page": _dense_page}
