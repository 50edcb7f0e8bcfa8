"""Draw the charts of ko-fresh with matplotlib. Values are read from axes and areas; only maps print some of them.

`Facts.style`, 0 to 7, varies the charts. Its remainder when divided by 4 chooses the palette, of which the last is grey and
hatched. Odd styles turn the bars of the layout "bar" and make rings of pies. Styles from 4 on have dashed lines and fewer
labels on their scales, and styles from 6 on have hatches in colours, too.
"""

import itertools
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager
from matplotlib.patches import Patch, Polygon, Wedge
from PIL import Image
from scipy.spatial import Voronoi

from evaluator.fresh.facts import CLASSES, Axis, Facts, Layout, icon_value, random_of
from evaluator.fresh.fonts import font_files
from evaluator.fresh.korean import printed

PPI = 110  # pixels per inch of all pages
WIDTH = 6.3  # inches of a chart
PALETTES = (
    ("#1f4e79", "#c55a11", "#548235", "#a48a2a", "#7030a0", "#a61c28"),
    ("#4c78a8", "#f2a33a", "#72a55a", "#d1605e", "#9a86b8", "#5b6573"),
    ("#264653", "#2a9d8f", "#e9c46a", "#e76f51", "#8d6a9f", "#577590"),
    ("#2b2b2b", "#8f8f8f", "#d9d9d9", "#5e5e5e", "#b5b5b5", "#eeeeee"),  # greys, told apart by hatches
)
HATCHES = ("", "///", "...", "xxx", "---", "\\\\\\")
MARKERS = "os^Dv"
DASHES = ("-", "--", ":", "-.", "-")
INK, GRID = "#222222", "#c9c9c9"
NO_DATA: dict[str, Any] = {"facecolor": "white", "hatch": "////"}
MAP_COLOURS = ("#eef3f8", "#c6d7ea", "#8fb4d6", "#4a84b8", "#174a7c")


def chart(facts: Facts, layout: Layout | None = None, measure: int = 0, height: float = 3.9) -> Image.Image:
    """Return the chart of a statistic, WIDTH × `height` inches.

    `layout` replaces the layout of the figure, because pages are drawn as charts too. It is a key of _CHARTS; tables and cards
    have no chart. `measure` is the index of the measure that is drawn, 0 or 1; layouts with a single measure (map) or both
    (dual) ignore it.
    """
    with mpl.rc_context():
        mpl.rcdefaults()  # ignore the user's matplotlibrc
        mpl.rc("font", family=_font_name(), size=9.5)
        mpl.rc("axes", unicode_minus=False, edgecolor="#777777")
        mpl.rc("hatch", linewidth=0.7)
        figure = Figure(figsize=(WIDTH, height), dpi=PPI, facecolor="white", layout="constrained")
        _CHARTS[layout or facts.layout](figure, facts, measure)
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
        return Image.frombytes("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba())).convert("RGB")


def _font_name() -> str:
    """Return the name of the regular font, the first of the pinned ones, after adding all of them to matplotlib's."""
    files = font_files()
    for file in files:
        fontManager.addfont(str(file))
    return FontProperties(fname=str(files[0])).get_name()


def _paint(facts: Facts, number: int) -> dict[str, Any]:
    """Return the colour and pattern of a row."""
    return {
        "facecolor": _palette(facts)[number],
        "hatch": HATCHES[number] if _is_grey(facts) or facts.style >= 6 else "",
        "edgecolor": "#333333" if _is_grey(facts) else "white",
        "linewidth": 0.6,
    }


def _palette(facts: Facts) -> tuple[str, ...]:
    """Return the colours of a figure's rows."""
    return PALETTES[facts.style % 4]


def _is_grey(facts: Facts) -> bool:
    """Return whether the palette of a figure is the grey one, the last."""
    return facts.style % 4 == 3


def _value_axis(axes: Any, scale: Axis, *, horizontal: bool = False, sparse: bool = False) -> None:
    """Draw a linear scale with grid lines. If `sparse`, only every second tick has a label."""
    ticks = [scale.low + scale.step * n for n in range(int((scale.high - scale.low) / scale.step) + 1)]
    every = 2 if sparse and len(ticks) > 4 else 1
    labels = ["" if n % every else printed(_plain(tick)) for n, tick in enumerate(ticks)]
    axis = axes.xaxis if horizontal else axes.yaxis
    axis.set_ticks([float(tick) for tick in ticks], labels)
    (axes.set_xlim if horizontal else axes.set_ylim)(float(scale.low), float(scale.high))
    axis.grid(visible=True, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _plain(value: Decimal) -> Decimal:
    """Return a value without an exponent or trailing zeros: 50 for 5E+1, 2.5 for 2.50."""
    return value.quantize(Decimal(1)) if value == int(value) else value.normalize()


def _legend(figure: Figure, handles: list[Any], names: list[str], *, right: bool = False) -> None:
    columns = 1 if right else min(5, len(names))
    figure.legend(
        handles, names, loc="outside right center" if right else "outside lower center", ncols=columns, frameon=False
    )


def _heights(facts: Facts, row: str, measure: int) -> list[float]:
    """Return the values of a row by year. Unknown ones are NaN, for which nothing is drawn."""
    found = (facts.value(facts.groups[0], row, year, measure) for year in facts.years)
    return [float("nan") if value is None else float(value) for value in found]


def _year_labels(facts: Facts) -> list[str]:
    return [year if year in facts.marked_years else "" for year in facts.years]


def _bar(figure: Figure, facts: Facts, measure: int) -> None:
    axes = figure.add_subplot()
    values = [_heights(facts, row, measure)[0] for row in facts.rows]
    horizontal = facts.style % 2 == 1
    draw = axes.barh if horizontal else axes.bar
    draw(facts.rows, values, 0.55, color=_palette(facts)[0])
    if horizontal:
        axes.invert_yaxis()
    _value_axis(axes, facts.axes[measure], horizontal=horizontal, sparse=facts.style >= 4)


def _grouped(figure: Figure, facts: Facts, measure: int) -> None:
    axes = figure.add_subplot()
    width = 0.8 / len(facts.rows)
    bars = []
    for number, row in enumerate(facts.rows):
        places = [year + (number - (len(facts.rows) - 1) / 2) * width for year in range(len(facts.years))]
        bars.append(axes.bar(places, _heights(facts, row, measure), width * 0.9, **_paint(facts, number)))
    axes.set_xticks(range(len(facts.years)), facts.years)
    _value_axis(axes, facts.axes[measure], sparse=facts.style >= 4)
    _legend(figure, bars, list(facts.rows))


def _stacked(figure: Figure, facts: Facts, measure: int) -> None:
    axes = figure.add_subplot()
    bottoms = np.zeros(len(facts.years))
    bars = []
    for number, row in enumerate(facts.rows):
        heights = np.array(_heights(facts, row, measure))
        bars.append(axes.bar(facts.years, heights, 0.55, bottom=bottoms, **_paint(facts, number)))
        bottoms = bottoms + heights
    _value_axis(axes, facts.axes[measure], sparse=facts.style >= 4)
    _legend(figure, bars, list(facts.rows))


def _area(figure: Figure, facts: Facts, measure: int) -> None:
    axes = figure.add_subplot()
    heights = [_heights(facts, row, measure) for row in facts.rows]
    # Not the greys: areas have no hatches.
    drawn = axes.stackplot(range(len(facts.years)), heights, colors=PALETTES[facts.style % 3])
    axes.set_xticks(range(len(facts.years)), _year_labels(facts))
    axes.margins(x=0)
    _value_axis(axes, facts.axes[measure], sparse=facts.style >= 4)
    _legend(figure, drawn, list(facts.rows))


def _line(figure: Figure, facts: Facts, measure: int) -> None:
    axes = figure.add_subplot()
    lines = []
    for number, row in enumerate(facts.rows):
        heights = _heights(facts, row, measure)
        colour = "#333333" if _is_grey(facts) else _palette(facts)[number]
        dash = DASHES[number] if facts.style >= 4 else "-"
        places = range(len(facts.years))
        lines += axes.plot(places, heights, color=colour, marker=MARKERS[number], linestyle=dash, linewidth=1.8)
    axes.set_xticks(range(len(facts.years)), _year_labels(facts))
    _value_axis(axes, facts.axes[measure], sparse=facts.style >= 4)
    _legend(figure, lines, list(facts.rows))


def _dual(figure: Figure, facts: Facts, measure: int) -> None:
    left = figure.add_subplot()
    first, second = facts.topic.measures
    (row,) = facts.rows
    places = range(len(facts.years))
    bars = left.bar(places, _heights(facts, row, 0), 0.5, color="#9db8d2")
    left.set_xticks(places, _year_labels(facts))
    _value_axis(left, facts.axes[0])
    right = left.twinx()
    (line,) = right.plot(places, _heights(facts, row, 1), color="#a33b20", marker="o", linewidth=1.8)
    _value_axis(right, facts.axes[1])
    right.grid(visible=False)
    right.spines["right"].set_visible(True)
    left.set_ylabel(f"{first.name} ({first.unit})")
    right.set_ylabel(f"{second.name} ({second.unit})")
    _legend(figure, [bars, line], [f"{first.name}(왼쪽)", f"{second.name}(오른쪽)"])


def _log(figure: Figure, facts: Facts, measure: int) -> None:
    axes = figure.add_subplot()
    values = [float(facts.values[facts.groups[0], row, facts.years[0], measure]) for row in facts.rows]
    axes.set_yscale("log")
    axes.plot(facts.rows, values, linestyle="", marker="o", markersize=9, color=_palette(facts)[0])
    low = np.floor(np.log10(min(values)))
    high = np.ceil(np.log10(max(values)) + 0.05)  # 0.05 keeps the largest value off the upper edge
    axes.set_ylim(10**low, 10**high)
    powers = np.arange(low, high + 1)
    axes.set_yticks([10**n for n in powers], [printed(Decimal(10) ** int(n)) for n in powers])
    axes.yaxis.grid(visible=True, which="both", color=GRID, linewidth=0.5)
    axes.yaxis.set_minor_formatter("")
    axes.set_axisbelow(True)
    axes.margins(x=0.12)


def _pie(figure: Figure, facts: Facts, measure: int) -> None:
    axes = figure.add_subplot()
    values = [float(facts.values[facts.groups[0], row, facts.years[0], measure]) for row in facts.rows]
    start, wedges = 90.0, []
    for number, value in enumerate(values):
        end = start - 360 * value / sum(values)
        ring = {"width": 0.45} if facts.style % 2 else {}
        wedges.append(axes.add_patch(Wedge((0, 0), 1, end, start, **ring, **_paint(facts, number))))
        start = end
    for tick in range(20):  # a scale of 5 % around the pie
        angle = np.pi / 2 - tick * np.pi / 10
        inner = 1.03
        outer = 1.07 if tick % 2 else 1.1
        axes.plot(
            [inner * np.cos(angle), outer * np.cos(angle)],
            [inner * np.sin(angle), outer * np.sin(angle)],
            color="#777777",
            linewidth=0.8,
        )
        if tick % 5 == 0:
            axes.text(1.22 * np.cos(angle), 1.2 * np.sin(angle), f"{5 * tick}%", ha="center", va="center", fontsize=9)
    axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal")
    axes.axis("off")
    _legend(figure, wedges, list(facts.rows), right=True)


def _pictogram(figure: Figure, facts: Facts, measure: int) -> None:
    axes = figure.add_subplot()
    for number, row in enumerate(facts.rows):
        icons = facts.values[facts.groups[0], row, facts.years[0], measure] / icon_value(facts.topic)
        for n in range(int(icons)):
            axes.add_patch(Wedge((n + 0.5, -number), 0.36, 0, 360, facecolor=_palette(facts)[0]))
        if icons % 1:  # half an icon
            axes.add_patch(Wedge((int(icons) + 0.5, -number), 0.36, 90, 270, facecolor=_palette(facts)[0]))
    axes.set_yticks([-n for n in range(len(facts.rows))], facts.rows)
    axes.set(xlim=(0, 10), ylim=(-len(facts.rows) + 0.4, 0.6), aspect="equal")
    axes.set_xticks([])
    axes.tick_params(length=0)
    for side in ("top", "right", "bottom", "left"):
        axes.spines[side].set_visible(False)


def _map(figure: Figure, facts: Facts, measure: int) -> None:
    """Draw districts as the cells of a Voronoi diagram, shaded by class."""
    axes = figure.add_subplot()
    places = district_places(facts)
    # The places are mirrored at the four edges of the field, so that the cells end there: x becomes -x at the edge 0, and
    # 8 - x at the edge 4.
    with_mirrored = [
        places,
        *(places * [-1, 1] + [x, 0] for x in (0, 8)),
        *(places * [1, -1] + [0, y] for y in (0, 6)),
    ]
    cells = Voronoi(np.concatenate(with_mirrored))
    for number, group in enumerate(facts.groups):
        corners = cells.vertices[cells.regions[cells.point_region[number]]]
        level = class_of(facts, group)
        label = group
        if level is None:
            paint = NO_DATA
            ink = INK
            backing = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}  # keeps the name off the hatches
        else:
            paint = {"facecolor": MAP_COLOURS[level]}
            ink = "white" if level > 2 else INK
            backing = None
            if group in facts.labelled:
                label = f"{group}\n{printed(facts.values[group, facts.rows[0], facts.years[0], 0])}"
        axes.add_patch(Polygon(corners, edgecolor="#555555", linewidth=0.9, **paint))
        x, y = places[number]
        axes.text(x, y, label, ha="center", va="center", fontsize=9, color=ink, bbox=backing)
    axes.set(xlim=(-0.05, 4.05), ylim=(-0.05, 3.05), aspect="equal")
    axes.axis("off")
    shades = [Patch(facecolor=MAP_COLOURS[n], edgecolor="#555555") for n in range(CLASSES)]
    shades.append(Patch(edgecolor="#555555", **NO_DATA))
    _legend(figure, shades, [*class_names(facts), "자료 없음"], right=True)


def district_places(facts: Facts) -> Any:
    """Return the centres of twelve districts on a field of 4 × 3, shape (12, 2). A figure and its twin have the same."""
    shifts = random_of(facts.body, *facts.groups)
    grid = [(x + 0.5, y + 0.5) for y in range(3) for x in range(4)]
    return np.array([(x + shifts.uniform(-0.2, 0.2), y + shifts.uniform(-0.22, 0.22)) for x, y in grid])


def class_bounds(facts: Facts) -> list[Decimal]:
    """Return the lower bounds of all classes of a map but the first."""
    step = facts.axes[0].step
    return [step * n for n in range(1, CLASSES)]


def class_of(facts: Facts, group: str) -> int | None:
    """Return the class of a district of a map, or None if it has no data."""
    value = facts.value(group, facts.rows[0], facts.years[0])
    return None if value is None else sum(value >= bound for bound in class_bounds(facts))


def class_names(facts: Facts) -> list[str]:
    """Return the classes of a map as its legend shows them, from low to high."""
    bounds = [printed(_plain(bound)) for bound in class_bounds(facts)]
    between = [f"{low} 이상 {high} 미만" for low, high in itertools.pairwise(bounds)]
    return [f"{bounds[0]} 미만", *between, f"{bounds[-1]} 이상"]


_CHARTS: dict[Layout, Callable[[Figure, Facts, int], None]] = {
    "bar": _bar,
    "grouped": _grouped,
    "stacked": _stacked,
    "area": _area,
    "line": _line,
    "dual": _dual,
    "log": _log,
    "pie": _pie,
    "pictogram": _pictogram,
    "map": _map,
}
