"""Draw the charts as Plotly figures (https://plotly.com/python/). Plotly is imported when the first chart is drawn.

The page's style sheet sets the colours of text and grid, so that they are readable in dark mode too.
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

ACCENT, OTHER, FRONT = "#3b74e8", "#8a94a3", "#d97706"  # visible on white and on black
BARS = (ACCENT, FRONT, "#2a9d6f", "#a35bc9", OTHER)
PATTERNS = ("", "/", ".", "x", "-")  # for visitors who cannot distinguish the colours
SYMBOLS = (("open", "circle", ACCENT), ("closed", "diamond", OTHER), (None, "x", OTHER))  # by weights
MAX_PRINTED_PARTS = 24  # columns of a heat map whose values are printed; with more of them they overlap
MAX_POINTS = 1000  # only the best models are drawn
LABEL_DISTANCE = 0.25  # smallest distance between two labels on a front, as a share of the axis
TICKS = {
    "params": {n * 1e9: f"{n:g}B" for n in (0.1, 0.2, 0.5, 1, 2, 4, 8, 16, 32, 70, 150, 400, 1000)},
    "latency_ms": {10.0: "10 ms", 30.0: "30 ms", 100.0: "0.1 s", 300.0: "0.3 s", 1e3: "1 s", 3e3: "3 s"}
    | {1e4: "10 s", 3e4: "30 s", 1e5: "100 s", 3e5: "300 s"},
    "usd_per_1000": {n: f"${n:g}" for n in (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)},
}
# Cells of a heat map of scores. The values are printed: plotly.js styles a colour bar in a way that the security policy forbids.
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
MARKS = {"ahead": ("▲", 1), "same": ("=", 0), "behind": ("▼", -1)}  # verdicts in the win matrix


def figure_json(kind: Kind, data: Data, benchmark: Benchmark | None, language: Language) -> bytes:
    """Return the Plotly figure of a chart as JSON, or `null` if there is nothing to draw."""
    if not data:
        return b"null"
    content: str = figure(kind, data, benchmark, language).to_json()
    return content.encode()


def figure(kind: Kind, data: Data, benchmark: Benchmark | None, language: Language) -> Any:
    """Return the plotly.graph_objects.Figure of a chart. `data` must not be empty; only OVERVIEW has no benchmark."""
    import plotly.graph_objects as go

    made = go.Figure(layout={"template": "none"})
    made.update_layout(
        height=380,
        margin={"l": 52, "r": 16, "t": 28, "b": 52},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "inherit", "size": 12},
        legend={"orientation": "h", "y": 1.12, "x": 0},
        dragmode=False,  # a finger on a chart scrolls the page
    )
    if benchmark is None:
        _overview(made, data)
    else:
        _FIGURES[kind](made, data, benchmark, language)
    return made


def _scatter(cost: str) -> Callable[[Any, Data, Benchmark, Language], None]:
    """Return a function that draws scores against a cost, with the Pareto front."""

    def draw(made: Any, data: Data, benchmark: Benchmark, language: Language) -> None:
        points = sorted(data, key=lambda p: -p["score"])[:MAX_POINTS]
        front = sorted((p for p in _ranking_kind(points) if p["front"]), key=lambda p: p[cost])
        _add_line(made, [p[cost] for p in front], [p["score"] for p in front], text("pareto_front", language), "hv")
        labels = _labels(points, language)
        for (weights, symbol, color), kind in product(SYMBOLS, get_args(ResultKind)):
            own = [p for p in points if p["weights"] == weights and p["kind"] == kind]
            if not own:
                continue
            name = text(f"weights_{weights or 'unknown'}", language)
            if kind == "reported":  # drawn as an outline
                name = f"{name} · {text('reported', language)}"
                symbol = f"{symbol}-open"
            hover = "%{text}<br>%{y:.2f} · %{x:.3s}<br>%{customdata}"
            hardware = [_escape(p.get("hardware") or "") for p in own]
            marker = {"size": 10, "symbol": symbol, "color": color}
            _add_markers(made, own, labels, cost, name, hover, marker=marker, customdata=hardware)
        logs = [math.log(p[cost]) for p in points]
        middle = (min(logs) + max(logs)) / 2 if logs else 0.0
        for point in _labelled_points(front, cost):
            made.add_scatter(
                mode="text",
                x=[point[cost]],
                y=[point["score"]],
                text=[f"\u2002{labels[point['key']]}\u2002"],  # spaces keep the text off its point
                textposition="bottom right" if math.log(point[cost]) < middle else "top left",  # inside of the edges
                showlegend=False,
                hoverinfo="skip",
            )
        ticks = TICKS[cost]
        title = text(f"axis_{cost}", language)
        made.update_xaxes(type="log", title=title, zeroline=False, tickvals=list(ticks), ticktext=list(ticks.values()))
        made.update_yaxes(title=f"{headline_title(benchmark, language)} (%)", zeroline=False)

    return draw


def _labelled_points(front: Data, cost: str) -> Data:
    """Return the points of a front to label: the most expensive first, if their labels do not overlap."""
    if not front:
        return []
    places = {id(p): math.log(p[cost]) for p in front}
    width = max(places.values()) - min(places.values()) or 1.0
    labelled: Data = []
    for point in reversed(front):
        if all(abs(places[id(point)] - places[id(other)]) >= LABEL_DISTANCE * width for other in labelled):
            labelled.append(point)
    return labelled


def _heatmap(made: Any, data: Data, benchmark: Benchmark, language: Language) -> None:
    labels = _labels(data, language)
    buckets = list(dict.fromkeys((p["axis"], p["bucket"]) for p in data))
    known = {(p["key"], p["axis"], p["bucket"]): p["score"] for p in data}
    scores = [[known.get((key, *bucket)) for bucket in buckets] for key in labels]
    titles = [_escape(translate(benchmark.card.bucket_title(bucket), language)) for _, bucket in buckets]
    style = SCORES if len(buckets) <= MAX_PRINTED_PARTS else SCORES | {"texttemplate": ""}
    made.add_heatmap(z=scores, x=titles, y=list(labels.values()), **style)
    _use_names_as_axes(made, len(labels))


def _wins(made: Any, data: Data, benchmark: Benchmark, language: Language) -> None:
    """Draw which result of a row is significantly ahead of which result of a column."""
    labels = _labels(data, language)
    verdicts = {(p["key"], p["other_key"]): MARKS[p["verdict"]] for p in data}
    names = list(labels.values())
    colours = [[verdicts.get((a, b), (None, None))[1] for b in labels] for a in labels]
    signs = [[verdicts.get((a, b), ("", None))[0] for b in labels] for a in labels]
    made.add_heatmap(
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
    _use_names_as_axes(made, len(labels))


def _overview(made: Any, data: Data) -> None:
    models = list(dict.fromkeys(p["model"] for p in data))
    plotted = {p["benchmark"] for p in data}
    names = [name for name in BENCHMARKS if name in plotted]
    known = {(p["model"], p["benchmark"]): p["score"] for p in data}
    # Reported scores are in brackets, as their ranks are in the table.
    shown = {
        (p["model"], p["benchmark"]): f"({p['score']:.0f})" if p["kind"] == "reported" else f"{p['score']:.0f}"
        for p in data
    }
    scores = [[known.get((model, name)) for name in names] for model in models]
    texts = [[shown.get((model, name), "") for name in names] for model in models]
    made.add_heatmap(
        z=scores,
        text=texts,
        x=[BENCHMARKS[name].card.title for name in names],
        y=list(map(_escape, _distinct(list(map(_short, models)), models))),
        **SCORES | {"texttemplate": "%{text}"},
    )
    _use_names_as_axes(made, len(models))


def _use_names_as_axes(made: Any, rows: int) -> None:
    made.update_layout(height=220 + 26 * rows)
    made.update_xaxes(type="category", tickangle=-40, automargin=True)
    made.update_yaxes(type="category", autorange="reversed", automargin=True)


def _ranking_kind(points: Data) -> Data:
    """Return the measured points, or the reported ones if nothing was measured: only points of one kind are compared."""
    return [p for p in points if p["kind"] == "verified"] or points


def _labels(data: Data, language: Language) -> dict[str, str]:
    """Return a short and distinct label for each result by key: results with equal ones would be drawn as one."""
    results = list({p["key"]: p for p in data}.values())
    modes = [mode_suffix(p["mode"], language) for p in results]
    short = [_short(p["model"]) + mode for p, mode in zip(results, modes, strict=True)]
    long = [p["model"] + mode for p, mode in zip(results, modes, strict=True)]
    keyed = [f"{name} {p['key'][:6]}" for p, name in zip(results, long, strict=True)]
    names = _distinct(_distinct(short, long), keyed)
    return {p["key"]: _escape(name) for p, name in zip(results, names, strict=True)}


def _short(model: str) -> str:
    name = model.rpartition("/")[2]
    return name if len(name) <= 24 else f"{name[:23]}…"


def _distinct(names: Sequence[str], longer: Sequence[str]) -> list[str]:
    """Return the names, and the longer name where several are the same."""
    given = Counter(names)
    return [name if given[name] == 1 else other for name, other in zip(names, longer, strict=True)]


def _timeline(made: Any, data: Data, benchmark: Benchmark, language: Language) -> None:
    data = data[-MAX_POINTS:]
    line = _ranking_kind(data)
    best = [p["state_of_the_art"] for p in line]
    _add_line(made, [p["date"] for p in line], best, text("state_of_the_art", language), "hv")
    labels = _labels(data, language)
    for kind in get_args(ResultKind):
        own = [p for p in data if p["kind"] == kind]
        if own:
            marker = {"size": 9, "color": ACCENT, "symbol": "circle" if kind == "verified" else "circle-open"}
            _add_markers(made, own, labels, "date", text(kind, language), "%{text}<br>%{x}: %{y:.2f}", marker=marker)
    made.update_xaxes(type="date", tickformat="%Y-%m", hoverformat="%Y-%m-%d", nticks=6)
    if data[0]["date"] == data[-1]["date"]:  # otherwise the axis would show milliseconds
        day = date.fromisoformat(data[0]["date"])
        made.update_xaxes(range=[(day + timedelta(days=days)).isoformat() for days in (-60, 60)])
    made.update_yaxes(title=f"{headline_title(benchmark, language)} (%)", zeroline=False)


def _histogram(made: Any, data: Data, benchmark: Benchmark, language: Language) -> None:
    for number, (key, label) in enumerate(_labels(data, language).items()):
        own = [p for p in data if p["key"] == key]
        made.add_bar(
            x=[p["letter"] for p in own],
            y=[p["percent"] for p in own],
            name=label,
            hovertemplate="%{x}: %{y:.1f} %<extra></extra>",
            marker={"color": BARS[number], "pattern": {"shape": PATTERNS[number]}},
        )
    if benchmark.card.chance is not None:
        made.add_hline(y=benchmark.card.chance, line={"color": FRONT, "dash": "dot", "width": 2})
    made.update_layout(barmode="group")
    made.update_xaxes(type="category")
    made.update_yaxes(title=text("axis_percent", language), zeroline=False)


def _ladder(made: Any, data: Data, benchmark: Benchmark, language: Language) -> None:
    for number, (key, label) in enumerate(_labels(data, language).items()):
        own = [p for p in data if p["key"] == key]
        notes = [text("ladder_rank", language, n=p["rank"]) for p in own]
        for place, p in enumerate(own):
            if p["lost"] is not None:
                lost = text("ladder_lost", language)
                notes[place] += f"<br>{lost} {p['lost']:.1f} ({p['low']:.1f}–{p['high']:.1f})"
        made.add_scatter(
            mode="lines+markers",
            name=f"{label} ({own[0]['rank']} → {own[0]['degraded_rank']})",
            x=[translate(benchmark.card.bucket_title(p["step"]), language) for p in own],
            y=[p["score"] for p in own],
            customdata=notes,
            hovertemplate="%{x}: %{y:.1f}<br>%{customdata}<extra></extra>",
            line={"color": BARS[number]},
        )
    made.update_xaxes(type="category")
    made.update_yaxes(title=f"{headline_title(benchmark, language)} (%)", zeroline=False)


def _add_line(made: Any, x: list[Any], y: list[float], name: str, shape: str = "linear") -> None:
    line = {"color": FRONT, "width": 2, "dash": "dot", "shape": shape}
    made.add_scatter(mode="lines", x=x, y=y, name=name, line=line, hoverinfo="skip")


def _add_markers(
    made: Any, points: Data, labels: Mapping[str, str], x: str, name: str, hover: str, **others: Any
) -> None:
    names = [labels[p["key"]] for p in points]
    made.add_scatter(
        mode="markers",
        name=name,
        x=[p[x] for p in points],
        y=[p["score"] for p in points],
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
    "parts": _heatmap,
    "time": _timeline,
    "letters": _histogram,
    "ladder": _ladder,
}
