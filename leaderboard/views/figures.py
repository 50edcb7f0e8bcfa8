"""Drawings of the charts, as Plotly's own JSON (https://plotly.com/javascript/reference/): the browser has the library.

Text and grid have no colours here but the page's own, by its style sheet, so that they are read in the dark too.
"""

import math
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from leaderboard.data.chart_data import Data, Kind
from leaderboard.views.texts import Language, text

ACCENT, OTHER, FRONT = "#3b74e8", "#8a94a3", "#d97706"  # seen on white and on black alike
BARS = (ACCENT, FRONT, "#2a9d6f", "#a35bc9", OTHER)
PATTERNS = ("", "/", ".", "x", "-")  # for who does not tell the colours apart
DRAWN = 1000  # points at most: the best
APART = 0.25  # of the axis, between two points of a front that are named
TICKS = {
    "params": {n * 1e9: f"{n:g}B" for n in (0.1, 0.2, 0.5, 1, 2, 4, 8, 16, 32, 70, 150, 400, 1000)},
    "latency_ms": {10.0: "10 ms", 30.0: "30 ms", 100.0: "0.1 s", 300.0: "0.3 s", 1e3: "1 s", 3e3: "3 s"}
    | {1e4: "10 s", 3e4: "30 s", 1e5: "100 s", 3e5: "300 s"},
}
Drawing = dict[str, Any]


def drawing(kind: Kind, data: Data, language: Language) -> Drawing:
    """Data, layout and configuration."""
    if not data:
        note = {"text": text("chart_empty", language), "showarrow": False, "xref": "paper", "yref": "paper"}
        hidden = {"visible": False}
        return _drawing([], {"height": 120, "annotations": [note], "xaxis": hidden, "yaxis": hidden})
    return _DRAWINGS[kind](data, language)


def _against(cost: str) -> Callable[[Data, Language], Drawing]:
    def drawn(data: Data, language: Language) -> Drawing:
        points = sorted(data, key=lambda p: -p["score"])[:DRAWN]
        front = sorted((p for p in points if p["front"]), key=lambda p: p[cost])
        traces = [_line([p[cost] for p in front], [p["score"] for p in front], text("front", language))]
        for weights, symbol, color in (("open", "circle", ACCENT), ("closed", "diamond", OTHER), (None, "x", OTHER)):
            if own := [p for p in points if p["weights"] == weights]:
                name = text(f"weights_{weights or 'unknown'}", language)
                traces.append(_markers(own, cost, name, "%{text}<br>%{y:.2f} · %{x:.3s}<br>%{customdata}") | {
                    "marker": {"size": 10, "symbol": symbol, "color": color},
                    "customdata": [_plain(p.get("hardware") or "") for p in own],
                })  # fmt: skip
        for n, p in enumerate(_apart(front, cost)):
            name = _plain(p["model"].partition(" (")[0].rpartition("/")[2])
            traces.append(
                {
                    **{"type": "scatter", "mode": "text", "x": [p[cost]], "y": [p["score"]], "showlegend": False},
                    "text": [f"\u2002{name}\u2002"],  # beside its point, not on it
                    "textposition": "bottom right" if n else "top left",  # the dearest stands at the right edge
                    "hoverinfo": "skip",
                }
            )
        ticks = TICKS[cost]
        axis = {
            **{"type": "log", "title": {"text": text(f"axis_{cost}", language)}, "zeroline": False},
            **{"tickvals": list(ticks), "ticktext": list(ticks.values())},
        }
        return _drawing(traces, {"xaxis": axis, "yaxis": _scores(language)})

    return drawn


def _apart(front: Data, cost: str) -> Data:
    """The dearest points of a front, as far as their names have room beside each other."""
    if not front:
        return []
    places = {id(p): math.log(p[cost]) for p in front}
    width = max(places.values()) - min(places.values()) or 1.0
    named: Data = []
    for p in reversed(front):
        if all(abs(places[id(p)] - places[id(other)]) >= APART * width for other in named):
            named.append(p)
    return named


def _heat(data: Data, language: Language) -> Drawing:
    models = list(dict.fromkeys(p["model"] for p in data))
    buckets = list(dict.fromkeys((p["axis"], p["bucket"]) for p in data))
    known = {(p["model"], p["axis"], p["bucket"]): p["score"] for p in data}
    trace = {
        "type": "heatmap",
        "z": [[known.get((model, *bucket)) for bucket in buckets] for model in models],
        "x": [_plain(bucket) for _, bucket in buckets],
        "y": [_plain(model if len(model) <= 24 else f"{model[:23]}…") for model in models],
        "colorscale": [[0, "rgba(59,116,232,0.06)"], [1, "rgba(59,116,232,1)"]],
        **{"zmin": 0, "zmax": 100, "xgap": 2, "ygap": 2, "colorbar": {"thickness": 10, "outlinewidth": 0}},
        "hovertemplate": "%{y}<br>%{x}: %{z:.2f}<extra></extra>",
    }
    columns = {"tickangle": -40, "automargin": True, "type": "category"}
    rows = {"autorange": "reversed", "automargin": True, "type": "category"}
    return _drawing([trace], {"height": 140 + 26 * len(models), "xaxis": columns, "yaxis": rows})


def _timeline(data: Data, language: Language) -> Drawing:
    data = data[-DRAWN:]
    best = _line(
        [p["date"] for p in data], [p["state_of_the_art"] for p in data], text("state_of_the_art", language), "hv"
    )
    models = _markers(data, "date", text("model", language), "%{text}<br>%{x}: %{y:.2f}")
    axis: dict[str, Any] = {"type": "date", "tickformat": "%Y-%m", "hoverformat": "%Y-%m-%d", "nticks": 6}
    if data[0]["date"] == data[-1]["date"]:  # else the axis would be one of milliseconds
        day = date.fromisoformat(data[0]["date"])
        axis["range"] = [(day + timedelta(days=days)).isoformat() for days in (-60, 60)]
    return _drawing([best, models], {"xaxis": axis, "yaxis": _scores(language)})


def _letters(data: Data, language: Language) -> Drawing:
    traces = []
    for n, model in enumerate(dict.fromkeys(p["model"] for p in data)):
        own = [p for p in data if p["model"] == model]
        traces.append(
            {
                **{"type": "bar", "x": [p["letter"] for p in own], "y": [p["percent"] for p in own]},
                **{"name": _plain(model), "hovertemplate": "%{x}: %{y:.1f} %<extra></extra>"},
                "marker": {"color": BARS[n], "pattern": {"shape": PATTERNS[n]}},
            }
        )
    line = {"color": FRONT, "dash": "dot", "width": 2}
    chance = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 25, "y1": 25, "line": line}
    axis = {"title": {"text": text("axis_percent", language)}, "zeroline": False}
    return _drawing(traces, {"shapes": [chance], "yaxis": axis, "xaxis": {"type": "category"}, "barmode": "group"})


def _line(x: list[Any], y: list[float], name: str, shape: str = "linear") -> dict[str, Any]:
    style = {"color": FRONT, "width": 2, "dash": "dot", "shape": shape}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "name": name, "line": style, "hoverinfo": "skip"}


def _markers(points: Data, x: str, name: str, hover: str) -> dict[str, Any]:
    return {
        **{"type": "scatter", "mode": "markers", "name": name, "marker": {"size": 9, "color": ACCENT}},
        **{"x": [p[x] for p in points], "y": [p["score"] for p in points]},
        **{"text": [_plain(p["model"]) for p in points], "hovertemplate": f"{hover}<extra></extra>"},
    }


def _scores(language: Language) -> dict[str, Any]:
    return {"title": {"text": text("axis_score", language)}, "zeroline": False}


def _drawing(traces: list[dict[str, Any]], layout: dict[str, Any]) -> Drawing:
    usual = {
        "height": 380,
        "margin": {"l": 52, "r": 16, "t": 28, "b": 52},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "inherit", "size": 12},
        "legend": {"orientation": "h", "y": 1.12, "x": 0},
        "dragmode": False,  # a finger on a chart scrolls the page
    }
    return {"data": traces, "layout": usual | layout, "config": {"displayModeBar": False}}


def _plain(name: str) -> str:
    """A name in which the drawing library finds no markup."""
    return name.replace("&", "&amp;").replace("<", "&lt;")


_DRAWINGS: dict[Kind, Callable[[Data, Language], Drawing]] = {
    "size": _against("params"),
    "speed": _against("latency_ms"),
    "parts": _heat,
    "time": _timeline,
    "letters": _letters,
}
