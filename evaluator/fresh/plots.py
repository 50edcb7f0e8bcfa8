"""Draw the charts of ko-fresh with matplotlib. Every value is printed next to its mark."""

from collections.abc import Callable
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from evaluator.fresh.facts import Facts, Layout, format_value
from evaluator.fresh.questions import icon_value

PALETTES = (
    ("#1f4e79", "#c55a11", "#548235", "#7f6000", "#7030a0", "#a61c28"),
    ("#2f6f8f", "#e08e45", "#6a994e", "#bc4749", "#8a7fa8", "#4a4e69"),
    ("#264653", "#2a9d8f", "#e9a23b", "#d1603d", "#7a5c8e", "#577590"),
    ("#3d3d3d", "#8a5a2b", "#1f6f8b", "#b85c38", "#5c7f67", "#99627a"),
)
INK, MUTED = "#16202e", "#4a5462"
BOLD = 600  # the weight that matplotlib reads from NanumGothicBold


def plot(axes: Any, facts: Facts) -> None:
    """Draw a statistic into axes as the chart of its layout, by default grouped bars."""
    _PLOTS[facts.layout if facts.layout in _PLOTS else "grouped"](axes, facts)


def _readable_on(colour: str) -> str:
    """Return the text colour, white or INK, that is readable on a colour (luminance as in ITU-R BT.601)."""
    red, green, blue = (int(colour[n : n + 2], 16) for n in (1, 3, 5))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else INK


def _hide_value_axis(axes: Any) -> None:
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
        _hide_value_axis(axes)
        axes.set_ylim(0, max(values) * 1.12)
    axes.bar_label(bars, [format_value(v) for v in facts.column(facts.years[0]).values()], padding=4, fontsize=11)
    axes.set_title(facts.years[0], fontsize=11, color=MUTED, loc="left")


def _grouped(axes: Any, facts: Facts) -> None:
    colours, width = PALETTES[facts.style], 0.8 / len(facts.rows)
    largest = max(float(v) for row in facts.values for v in row)
    for number, row in enumerate(facts.rows):
        places = [year + (number - (len(facts.rows) - 1) / 2) * width for year in range(len(facts.years))]
        bars = axes.bar(places, [float(v) for v in facts.series(row).values()], width * 0.92, color=colours[number])
        axes.bar_label(
            bars,
            [format_value(v) for v in facts.series(row).values()],
            padding=3,
            fontsize=9.5,
            rotation=90 if width < 0.24 else 0,
        )
    _hide_value_axis(axes)
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
            [format_value(v) for v in facts.series(row).values()],
            label_type="center",
            fontsize=9,
            color=_readable_on(colours[number]),
        )
        bottoms = [bottom + value for bottom, value in zip(bottoms, values, strict=True)]
    _hide_value_axis(axes)
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
                format_value(facts.values[number][year]), (year, value), offset, textcoords="offset points",
                ha="center", fontsize=9.5, color=colours[number], weight=BOLD,
            )  # fmt: skip
    _hide_value_axis(axes)
    axes.set_ylim(min(flat) - 2 * room, max(flat) + 2 * room)
    axes.margins(x=0.08)
    _legend(axes, facts, colours, lines=True)


def _pie(axes: Any, facts: Facts) -> None:
    values = facts.column(facts.years[0])
    labels = [f"{row}\n{format_value(value)}" for row, value in values.items()]
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
    axes.set_title(facts.years[0], fontsize=11, color=MUTED, loc="left")


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
        color=MUTED,
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
        axes.text(x + 0.5, y + 0.72, row, ha="center", va="center", fontsize=13, color=MUTED)
        axes.text(
            x + 0.5,
            y + 0.42,
            format_value(value),
            ha="center",
            va="center",
            fontsize=25,
            weight=BOLD,
            color=colours[number],
        )
        axes.text(x + 0.5, y + 0.17, facts.topic.unit, ha="center", va="center", fontsize=10.5, color=MUTED)
    axes.set_title(facts.years[0], fontsize=11, color=MUTED, loc="left")


def _legend(axes: Any, facts: Facts, colours: tuple[str, ...], *, lines: bool = False) -> None:
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
