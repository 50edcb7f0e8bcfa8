"""Draw the charts as Plotly figures (https://plotly.com/python/). Plotly is imported when the first chart is drawn.

`leaderboard/web/table_routes.py` and the static edition call `figure_json` with the rows of
`leaderboard/data/chart_data.py`, whose COLUMNS list the fields of each kind of chart. The page gets the figure as JSON, and
plotly.js draws it. The page's style sheet sets the colours of text and grid, so that they are readable in dark mode too.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from itertools import product
from typing import Any, get_args

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from leaderboard.data.chart_data import AGAINST, Data, Kind
from leaderboard.views.texts import Language, headline_title, mode_suffix, text, translate
from submissions.records.options import ResultKind

# Blue, grey and orange that are visible on white and on black.
ACCENT, OTHER, FRONT = "#3b74e8", "#8a94a3", "#d97706"
# Colours of the models in one chart of bars or lines, which has at most MAX_HISTOGRAM_MODELS or MAX_LADDER_MODELS.
BARS = (ACCENT, FRONT, "#2a9d6f", "#a35bc9", OTHER)
PATTERNS = ("", "/", ".", "x", "-")  # fillings of bars, for visitors who cannot distinguish the colours
SYMBOLS = (("open", "circle", ACCENT), ("closed", "diamond", OTHER), (None, "x", OTHER))  # weights, marker, colour
MAX_PRINTED_PARTS = 24  # columns of a heat map whose values are printed; with more of them they overlap
MAX_POINTS = 1000  # of a chart: those of the best results or, on the timeline, of the newest
LABEL_DISTANCE = 0.25  # smallest distance between two labels on a front, as a share of the axis
# Labels of the ticks on logarithmic axes, by field and value.
TICKS = {
    "params": {n * 1e9: f"{n:g}B" for n in (0.1, 0.2, 0.5, 1, 2, 4, 8, 16, 32, 70, 150, 400, 1000)},
    "latency_ms": {10.0: "10 ms", 30.0: "30 ms", 100.0: "0.1 s", 300.0: "0.3 s", 1e3: "1 s", 3e3: "3 s"}
    | {1e4: "10 s", 3e4: "30 s", 1e5: "100 s", 3e5: "300 s"},
    "usd_per_1000": {n: f"${n:g}" for n in (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)},
}
# The style of a heat map of scores. Values are printed, because plotly.js styles a colour bar by inline styles, which the
# content security policy forbids.
SCORES = {
    "colorscale": [[0, "rgba(59,116,232,0.04)"], [1, "rgba(59,116,232,0.7)"]],
    "showscale": False,
    "texttemplate": "%{z:.0f}",
    "zmin": 0,
    "zmax": 100,
    "xgap": 2,
    "ygap": 2,
    "hovertemplate": "%{y}<br>%{x}: %{z:.2f}<extra></extra>",
}
MARKS = {"ahead": ("▲", 1), "same": ("=", 0), "behind": ("▼", -1)}  # verdict in the win matrix → sign, colour


def figure_json(kind: Kind, data: Data, benchmark: Benchmark | None, language: Language) -> bytes:
    """Return the Plotly figure of a chart as JSON, or `null` if there is nothing to draw."""
    if not data:
        return b"null"
    content: str = figure(kind, data, benchmark, language).to_json()
    return content.encode()


def figure(kind: Kind, data: Data, benchmark: Benchmark | None, language: Language) -> Any:
    """Return the plotly.graph_objects.Figure of a chart. `data` are rows of `chart_data`, at least one.

    `benchmark` is None for the kind OVERVIEW only, which is about all benchmarks.
    """
    import plotly.graph_objects as go

    fig = go.Figure(layout={"template": "none"})
    fig.update_layout(
        height=380,
        margin={"l": 52, "r": 16, "t": 28, "b": 52},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "inherit", "size": 12},
        legend={"orientation": "h", "y": 1.12, "x": 0},
        dragmode=False,  # a finger on a chart scrolls the page
    )
    if benchmark is None:
        _overview(fig, data)
    else:
        _FIGURES[kind](fig, data, benchmark, language)
    return fig


def _scatter(cost: str) -> Callable[[Any, Data, Benchmark, Language], None]:
    """Return a function that draws scores against a cost, with the Pareto front: the models better than all cheaper ones.

    `cost` is the field on the x axis: "params", "latency_ms" or "usd_per_1000".
    """

    def draw(fig: Any, data: Data, benchmark: Benchmark, language: Language) -> None:
        points = sorted(data, key=lambda row: -row["score"])[:MAX_POINTS]
        front = sorted((row for row in _compared_points(points) if row["front"]), key=lambda row: row[cost])
        _add_stairs(fig, [row[cost] for row in front], [row["score"] for row in front], text("pareto_front", language))
        labels = _labels(points, language)
        for (weights, symbol, color), kind in product(SYMBOLS, get_args(ResultKind)):
            own = [row for row in points if row["weights"] == weights and row["kind"] == kind]
            if not own:
                continue
            name = text(f"weights_{weights or 'unknown'}", language)
            if kind == "reported":  # drawn as an outline
                name = f"{name} · {text('reported', language)}"
                symbol = f"{symbol}-open"
            hover = "%{text}<br>%{y:.2f} · %{x:.3s}<br>%{customdata}"
            hardware = [_escape(row.get("hardware") or "") for row in own]
            marker = {"size": 10, "symbol": symbol, "color": color}
            _add_markers(fig, own, labels, cost, name, hover, marker=marker, customdata=hardware)
        logs = [math.log(row[cost]) for row in points]
        middle = (min(logs) + max(logs)) / 2 if logs else 0.0  # of the axis
        for point in _labelled_points(front, cost):
            fig.add_scatter(
                mode="text",
                x=[point[cost]],
                y=[point["score"]],
                text=[f"\u2002{labels[point['key']]}\u2002"],  # spaces keep the text off its point
                # Labels of the left half are to the right of their points, so that none is cut off at an edge.
                textposition="bottom right" if math.log(point[cost]) < middle else "top left",
                showlegend=False,
                hoverinfo="skip",
            )
        ticks = TICKS[cost]
        title = text(f"axis_{cost}", language)
        fig.update_xaxes(type="log", title=title, zeroline=False, tickvals=list(ticks), ticktext=list(ticks.values()))
        fig.update_yaxes(title=f"{headline_title(benchmark, language)} (%)", zeroline=False)

    return draw


def _labelled_points(front: Data, cost: str) -> Data:
    """Return the points of a front to label: the most expensive first, if their labels do not overlap."""
    if not front:
        return []
    logs = [math.log(row[cost]) for row in front]
    width = max(logs) - min(logs) or 1.0
    labelled: Data = []
    labelled_logs: list[float] = []
    for point, log in zip(reversed(front), reversed(logs), strict=True):
        if all(abs(log - other) >= LABEL_DISTANCE * width for other in labelled_logs):
            labelled.append(point)
            labelled_logs.append(log)
    return labelled


def _parts(fig: Any, data: Data, benchmark: Benchmark, language: Language) -> None:
    """Draw the score of each result on each part of the benchmark, such as a category of questions."""
    labels = _labels(data, language)
    parts = list(dict.fromkeys((row["axis"], row["bucket"]) for row in data))
    score_of = {(row["key"], row["axis"], row["bucket"]): row["score"] for row in data}
    scores = [[score_of.get((key, axis, bucket)) for axis, bucket in parts] for key in labels]
    titles = [_escape(translate(benchmark.card.bucket_title(bucket), language)) for _, bucket in parts]
    style = SCORES if len(parts) <= MAX_PRINTED_PARTS else SCORES | {"texttemplate": ""}
    fig.add_heatmap(z=scores, x=titles, y=list(labels.values()), **style)
    _use_names_as_axes(fig, len(labels))


def _wins(fig: Any, data: Data, benchmark: Benchmark, language: Language) -> None:
    """Draw the win matrix: whether the result of a row is significantly ahead of the result of a column."""
    labels = _labels(data, language)
    marks = {(row["key"], row["other_key"]): MARKS[row["verdict"]] for row in data}
    names = list(labels.values())
    no_mark = ("", None)  # pairs that cannot be compared, and a result with itself
    signs = [[marks.get((own, other), no_mark)[0] for other in labels] for own in labels]
    colours = [[marks.get((own, other), no_mark)[1] for other in labels] for own in labels]
    fig.add_heatmap(
        z=colours,
        text=signs,
        x=names,
        y=names,
        colorscale=[[0, "rgba(217,119,6,0.55)"], [0.5, "rgba(138,148,163,0.15)"], [1, "rgba(59,116,232,0.6)"]],
        showscale=False,
        zmin=-1,
        zmax=1,
        xgap=2,
        ygap=2,
        texttemplate="%{text}",
        hovertemplate="%{y} %{text} %{x}<extra></extra>",
    )
    _use_names_as_axes(fig, len(labels))


def _overview(fig: Any, data: Data) -> None:
    """Draw the score of each model on each benchmark."""
    models = list(dict.fromkeys(row["model"] for row in data))
    plotted = {row["benchmark"] for row in data}
    names = [name for name in BENCHMARKS if name in plotted]
    score_of: dict[tuple[str, str], float] = {}
    text_of: dict[tuple[str, str], str] = {}
    for row in data:
        cell = (row["model"], row["benchmark"])
        rounded = f"{row['score']:.0f}"
        score_of[cell] = row["score"]
        text_of[cell] = f"({rounded})" if row["kind"] == "reported" else rounded  # in brackets, as ranks in the table
    scores = [[score_of.get((model, name)) for name in names] for model in models]
    texts = [[text_of.get((model, name), "") for name in names] for model in models]
    fig.add_heatmap(
        z=scores,
        text=texts,
        x=[BENCHMARKS[name].card.title for name in names],
        y=list(map(_escape, _distinct(list(map(_short, models)), models))),
        **SCORES | {"texttemplate": "%{text}"},
    )
    _use_names_as_axes(fig, len(models))


def _use_names_as_axes(fig: Any, rows: int) -> None:
    """Show names on both axes of a heat map, the first row at the top, and make it high enough for its rows."""
    fig.update_layout(height=220 + 26 * rows)
    fig.update_xaxes(type="category", tickangle=-40, automargin=True)
    fig.update_yaxes(type="category", autorange="reversed", automargin=True)


def _compared_points(points: Data) -> Data:
    """Return the measured points, or the reported ones if nothing was measured: only points of one kind are compared."""
    return [row for row in points if row["kind"] == "verified"] or points


def _labels(data: Data, language: Language) -> dict[str, str]:
    """Return a short label for each result by key. Labels are distinct: Plotly would draw results with equal ones as one.

    A label is the model's name with its reasoning mode, `Qwen3-VL-8B (reasoning on)`. Where several are the same, it has the
    owner too, and where that is not enough, the first digits of the result's key.
    """
    results = list({row["key"]: row for row in data}.values())
    modes = [mode_suffix(row["mode"], language) for row in results]
    short = [_short(row["model"]) + mode for row, mode in zip(results, modes, strict=True)]
    long = [row["model"] + mode for row, mode in zip(results, modes, strict=True)]
    keyed = [f"{name} {row['key'][:6]}" for row, name in zip(results, long, strict=True)]
    names = _distinct(_distinct(short, long), keyed)
    return {row["key"]: _escape(name) for row, name in zip(results, names, strict=True)}


def _short(model: str) -> str:
    """Return a model's name without its owner, at most 24 characters long."""
    name = model.rpartition("/")[2]
    return name if len(name) <= 24 else f"{name[:23]}…"


def _distinct(names: Sequence[str], longer: Sequence[str]) -> list[str]:
    """Return the names, with the longer name in place of each that occurs several times."""
    counts = Counter(names)
    return [name if counts[name] == 1 else other for name, other in zip(names, longer, strict=True)]


def _timeline(fig: Any, data: Data, benchmark: Benchmark, language: Language) -> None:
    """Draw scores by date, oldest first, with a line for the best score up to each day."""
    data = data[-MAX_POINTS:]
    compared = _compared_points(data)
    best = [row["state_of_the_art"] for row in compared]
    _add_stairs(fig, [row["date"] for row in compared], best, text("state_of_the_art", language))
    labels = _labels(data, language)
    for kind in get_args(ResultKind):
        own = [row for row in data if row["kind"] == kind]
        if own:
            marker = {"size": 9, "color": ACCENT, "symbol": "circle" if kind == "verified" else "circle-open"}
            _add_markers(fig, own, labels, "date", text(kind, language), "%{text}<br>%{x}: %{y:.2f}", marker=marker)
    fig.update_xaxes(type="date", tickformat="%Y-%m", hoverformat="%Y-%m-%d", nticks=6)
    if data[0]["date"] == data[-1]["date"]:  # otherwise the axis would show milliseconds
        day = date.fromisoformat(data[0]["date"])
        fig.update_xaxes(range=[(day + timedelta(days=days)).isoformat() for days in (-60, 60)])
    fig.update_yaxes(title=f"{headline_title(benchmark, language)} (%)", zeroline=False)


def _histogram(fig: Any, data: Data, benchmark: Benchmark, language: Language) -> None:
    """Draw how often each model chose each letter of multiple-choice questions, and the share by chance."""
    for number, (key, label) in enumerate(_labels(data, language).items()):
        own = [row for row in data if row["key"] == key]
        fig.add_bar(
            x=[row["letter"] for row in own],
            y=[row["percent"] for row in own],
            name=label,
            hovertemplate="%{x}: %{y:.1f} %<extra></extra>",
            marker={"color": BARS[number], "pattern": {"shape": PATTERNS[number]}},
        )
    if benchmark.card.chance is not None:
        fig.add_hline(y=benchmark.card.chance, line={"color": FRONT, "dash": "dot", "width": 2})
    fig.update_layout(barmode="group")
    fig.update_xaxes(type="category")
    fig.update_yaxes(title=text("axis_percent", language), zeroline=False)


def _ladder(fig: Any, data: Data, benchmark: Benchmark, language: Language) -> None:
    """Draw each model's score on the steps of the degradation ladder: the same images, worse at each step.

    The legend shows the rank on the images as they are, and that of the mean over all other steps. A point shows the rank on
    its step, and what the model has lost.
    """
    for number, (key, label) in enumerate(_labels(data, language).items()):
        own = [row for row in data if row["key"] == key]
        notes = [text("ladder_rank", language, n=row["rank"]) for row in own]
        for step, row in enumerate(own):
            if row["lost"] is not None:
                lost = text("ladder_lost", language)
                notes[step] += f"<br>{lost} {row['lost']:.1f} ({row['low']:.1f}–{row['high']:.1f})"
        fig.add_scatter(
            mode="lines+markers",
            name=f"{label} ({own[0]['rank']} → {own[0]['degraded_rank']})",
            x=[translate(benchmark.card.bucket_title(row["step"]), language) for row in own],
            y=[row["score"] for row in own],
            customdata=notes,
            hovertemplate="%{x}: %{y:.1f}<br>%{customdata}<extra></extra>",
            line={"color": BARS[number]},
        )
    fig.update_xaxes(type="category")
    fig.update_yaxes(title=f"{headline_title(benchmark, language)} (%)", zeroline=False)


def _add_stairs(fig: Any, x: list[Any], y: list[float], name: str) -> None:
    """Add a dotted line of steps: horizontal from each point to the next one, then vertical."""
    line = {"color": FRONT, "width": 2, "dash": "dot", "shape": "hv"}
    fig.add_scatter(mode="lines", x=x, y=y, name=name, line=line, hoverinfo="skip")


def _add_markers(
    fig: Any, points: Data, labels: Mapping[str, str], x: str, name: str, hover: str, **others: Any
) -> None:
    """Add points. `x` is the field on the x axis, `name` is shown in the legend, `hover` at the point under the pointer."""
    names = [labels[row["key"]] for row in points]
    fig.add_scatter(
        mode="markers",
        name=name,
        x=[row[x] for row in points],
        y=[row["score"] for row in points],
        text=names,
        hovertemplate=f"{hover}<extra></extra>",
        **others,
    )


def _escape(name: str) -> str:
    """Escape a name so that Plotly finds no markup in it."""
    return name.replace("&", "&amp;").replace("<", "&lt;")


_FIGURES: dict[Kind, Callable[[Any, Data, Benchmark, Language], None]] = {
    **{kind: _scatter(field) for kind, field in AGAINST.items()},
    "wins": _wins,
    "parts": _parts,
    "time": _timeline,
    "letters": _histogram,
    "ladder": _ladder,
}
