"""Draw figures of Korean public documents with matplotlib. The pinned font makes the bytes the same on every host."""

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

from evaluator.core.errors import DataError
from evaluator.fresh.facts import WITH_TOTAL, Facts, Layout, format_value
from evaluator.fresh.plots import BOLD, INK, MUTED, plot
from evaluator.fresh.topics import object_marker

FONTS = {  # Nanum Gothic (SIL OFL 1.1) → SHA-256
    "NanumGothic.ttf": "48a28e97b34fc8e5b157657633670cd1b7de126cfc414da65ce9c3d5bc8be733",
    "NanumGothicBold.ttf": "454eb3f503f377782a99eb84fc4bb7dde22a0f075d41b47427737f2985053bc9",
}
HEADER_COLOURS = ("#dfe7f1", "#eeeeee", "#e4efe4", "#f4e9dc")  # backgrounds of table headers
RULE = "#8a93a0"
DPI = 120


def draw(facts: Facts) -> Image.Image:
    """Return the figure as an image. Raises DataError if the pinned font is missing."""
    canvas = rendered_canvas(facts)
    return Image.frombytes("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba())).convert("RGB")


def rendered_canvas(facts: Facts) -> Any:
    """Return the figure as a matplotlib canvas, which also has the position of each text."""
    with mpl.rc_context():
        mpl.rcdefaults()  # ignore the user's matplotlibrc
        mpl.rcParams.update({"font.family": _font_name(), "axes.unicode_minus": False, "text.color": INK})
        figure = _PAGES.get(facts.layout, _chart_page)(facts)
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
        return canvas


def png(image: Image.Image) -> bytes:
    """Return an image as a PNG file."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=6)
    return buffer.getvalue()


def font_files() -> list[Path]:
    """Return the files of the pinned font. Raises DataError if one is missing or has another hash."""
    spec = find_spec("koreanize_matplotlib")
    folder = Path((spec.submodule_search_locations or [""])[0]) if spec else Path()
    files = [folder / "fonts" / name for name in FONTS]
    for file in files:
        if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != FONTS[file.name]:
            raise DataError(f"the font of ko-fresh is missing: pip install -r evaluator/requirements.lock ({file})")
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
    """Add title, unit, source and footnote to a figure."""
    kind = "표" if facts.layout in ("table", "merged") else "그림"
    figure.text(0.06, top, f"[{kind} {facts.number % 40 + 1}] {facts.title}", fontsize=15, weight=BOLD)
    figure.text(0.94, top - 0.06, f"(단위: {facts.topic.unit})", fontsize=10.5, ha="right", color=MUTED)
    notes = [f"자료: {facts.source}"] + ([f"주: {facts.footnote}"] if facts.footnote else [])
    for line, note in enumerate(notes):
        figure.text(0.06, 0.055 - 0.035 * line, note, fontsize=9.5, color=MUTED)


def _chart_page(facts: Facts) -> Figure:
    figure = _blank(9, 6)
    _frame(figure, facts)
    plot(figure.add_axes((0.09, 0.17, 0.85, 0.64)), facts)
    return figure


def _table_page(facts: Facts) -> Figure:
    figure = _blank(9, 1.9 + 0.42 * (len(facts.rows) + 3))
    _frame(figure, facts, top=0.9)
    _table(figure.add_axes((0.06, 0.16, 0.88, 0.62)), facts)
    return figure


def _table(axes: Any, facts: Facts) -> None:
    """Draw a table of rows and years. The layout decides on a row of totals and on merged header cells."""
    axes.axis("off")
    merged = facts.layout == "merged"
    head = 2 if merged else 1
    height, width = len(facts.rows) + head + (facts.layout in WITH_TOTAL), len(facts.years) + 1
    axes.set_xlim(0, width)
    axes.set_ylim(-height, 0)

    def cell(
        x: float, y: float, text: str, w: float = 1, h: float = 1, *, tinted: bool = False, right: bool = False
    ) -> None:
        colour = HEADER_COLOURS[facts.style] if tinted else "white"
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
            cell(column, line, format_value(value), right=True)


def _dense_page(facts: Facts) -> Figure:
    """Return a page of a report with text, a table, and a chart of the same values."""
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
    figure.text(0.92, 0.8, f"(단위: {facts.topic.unit})", fontsize=10, ha="right", color=MUTED)
    _table(figure.add_axes((0.08, 0.52, 0.84, 0.265)), facts)
    figure.text(0.08, 0.475, f"<그림> 연도별 {measure} 추이", fontsize=12, weight=BOLD)
    plot(figure.add_axes((0.1, 0.14, 0.8, 0.31)), facts)
    figure.text(0.08, 0.075, f"자료: {facts.source}", fontsize=9.5, color=MUTED)
    if facts.footnote:
        figure.text(0.08, 0.055, f"주: {facts.footnote}", fontsize=9.5, color=MUTED)
    figure.text(0.5, 0.025, f"- {facts.number % 180 + 3} -", fontsize=9.5, ha="center", color=MUTED)
    return figure


_PAGES: dict[Layout, Callable[[Facts], Figure]] = {"table": _table_page, "merged": _table_page, "page": _dense_page}
