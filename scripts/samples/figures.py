"""Figures of Korean public documents as HTML: tables, charts (Plotly) and infographic tiles."""

from dataclasses import dataclass

import plotly.graph_objects as go
from markupsafe import Markup

PALETTE = ["#1f4e79", "#c55a11", "#548235", "#7f6000", "#7030a0"]

CHART = Markup("<div id=chart></div>")


@dataclass(frozen=True)
class Figure:
    title: str
    unit: str
    source: str
    body: Markup = CHART
    is_table: bool = False
    chart: str = ""  # Plotly's JSON, drawn into #chart


def table(title: str, unit: str, columns: list[str], rows: list[list[str]], source: str) -> Figure:
    head = Markup("").join(Markup("<th>{}</th>").format(c) for c in columns)
    lines = Markup("").join(
        Markup("<tr><th>{}</th>{}</tr>").format(
            row[0], Markup("").join(Markup("<td>{}</td>").format(v) for v in row[1:])
        )
        for row in rows
    )
    return Figure(title, unit, source, Markup("<table><tr>{}</tr>{}</table>").format(head, lines), is_table=True)


def bar(title: str, unit: str, values: dict[str, float], source: str) -> Figure:
    figure = go.Figure(
        go.Bar(
            x=list(values),
            y=list(values.values()),
            text=_labels(list(values.values())),
            textposition="outside",
            marker_color=PALETTE[0],
            width=0.55,
        )
    )
    return Figure(title, unit, source, chart=_chart(figure))


def line(title: str, unit: str, x: list[str], series: dict[str, list[float]], source: str) -> Figure:
    figure = go.Figure()
    lowest = min(series.values(), key=sum)
    crowded = max(lowest) > 0.25 * max(max(y) for y in series.values())  # else its labels would meet the axis
    for (name, y), colour in zip(series.items(), PALETTE, strict=False):
        figure.add_scatter(
            x=x,
            y=y,
            name=name,
            mode="lines+markers+text",
            text=_labels(y),
            textposition="bottom center" if y is lowest and crowded else "top center",
            line={"color": colour, "width": 3},
            marker={"size": 8},
        )
    return Figure(title, unit, source, chart=_chart(figure))


def stacked(title: str, unit: str, x: list[str], series: dict[str, list[float]], source: str) -> Figure:
    figure = go.Figure()
    for (name, y), colour in zip(series.items(), PALETTE, strict=False):
        figure.add_bar(
            x=x,
            y=y,
            name=name,
            text=_labels(y),
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            constraintext="none",
            marker_color=colour,
            width=0.5,
        )
    figure.update_layout(barmode="stack")
    return Figure(title, unit, source, chart=_chart(figure))


def pie(title: str, unit: str, shares: dict[str, float], source: str) -> Figure:
    figure = go.Figure(
        go.Pie(
            labels=list(shares),
            values=list(shares.values()),
            text=[f"{k}<br>{v}%" for k, v in shares.items()],
            textinfo="text",
            textposition="outside",
            marker={"colors": PALETTE, "line": {"color": "#fff", "width": 2}},
            sort=False,
            hole=0.35,
        )
    )
    figure.update_layout(showlegend=False)
    return Figure(title, unit, source, chart=_chart(figure))


def infographic(title: str, tiles: dict[str, str], source: str) -> Figure:
    body = Markup("").join(
        Markup("<div class=tile><span>{}</span><b>{}</b></div>").format(k, v) for k, v in tiles.items()
    )
    return Figure(title, "", source, Markup("<div class=tiles>{}</div>").format(body))


def page(
    figure: Figure, number: str, domain: str, paragraphs: int = 0, press: bool = False, english: bool = False
) -> str:
    """A document page in HTML. `paragraphs` whited-out blocks stand where a document's text was removed."""
    table, chart, unit, source, tail = (
        ("Table", "Figure", "unit", "Source", "Section {}")
        if english
        else ("표", "그림", "단위", "자료", "{} 현황 분석")
    )
    blanks = Markup("<div class=blank></div>") * paragraphs
    shown_unit = Markup("<div class=unit>({}: {})</div>").format(unit, figure.unit) if figure.unit else ""
    return str(
        Markup(
            "<!doctype html><style>{}</style><main class='{}'><header><b>{}</b><span>{}</span></header>{}"
            "<h2>[{} {}] {}</h2>{}{}<p class=source>{}: {}</p>{}</main>"
        ).format(
            CSS,
            "press" if press else "report",
            "보도자료" if press else domain,
            "배포 즉시 보도 가능" if press else tail.format(number),
            blanks,
            table if figure.is_table else chart,
            number,
            figure.title,
            shown_unit,
            figure.body,
            source,
            figure.source,
            blanks,
        )
    )


def _labels(values: list[float]) -> list[str]:
    return [f"{v:,}" for v in values]


def _chart(figure: go.Figure) -> str:
    figure.update_layout(
        template="simple_white",
        width=680,
        height=340,
        margin={"l": 56, "r": 24, "t": 28, "b": 40},
        font={"family": "Noto Sans CJK KR", "size": 14, "color": "#222"},
        legend={"orientation": "h", "y": 1.14},
        yaxis={"showgrid": True, "gridcolor": "#e4e4e4", "tickformat": ",", "rangemode": "tozero"},
    )
    for kind in ("bar", "scatter"):
        figure.update_traces(cliponaxis=False, selector={"type": kind})
    return str(figure.to_json())


CSS = Markup("""
* { box-sizing: border-box } body { margin: 0; background: #fff }
main { width: 760px; padding: 28px 40px 24px; font-family: 'Noto Sans CJK KR', sans-serif; color: #222 }
header { display: flex; justify-content: space-between; align-items: end; border-bottom: 3px solid #1f4e79;
  padding-bottom: 8px; margin-bottom: 20px; font-size: 14px; color: #555 }
header b { color: #1f4e79; font-size: 20px }
.press header { border-bottom: 0; background: #1f4e79; color: #dfe8f2; padding: 12px 16px }
.press header b { color: #fff; font-size: 24px; letter-spacing: 6px }
h2 { font-size: 17px; margin: 0 0 6px; font-weight: 700 }
.unit { text-align: right; font-size: 13px; color: #444; margin-bottom: 4px }
table { width: 100%; border-collapse: collapse; font-size: 15px; border-top: 2px solid #1f4e79;
  border-bottom: 2px solid #1f4e79 }
th, td { border: 1px solid #bbb; padding: 7px 10px; text-align: right; font-weight: 400 }
tr:first-child th { background: #dde7f1; text-align: center; font-weight: 700 }
th:first-child { text-align: center; background: #f4f7fa; border-left: 0 } td:last-child, th:last-child { border-right: 0 }
.tiles { display: grid; grid-template-columns: 1fr 1fr; gap: 14px; margin: 8px 0 }
.tile { background: #eef4f9; border-left: 6px solid #c55a11; padding: 22px 20px; border-radius: 4px }
.tile span { display: block; font-size: 15px; color: #444 } .tile b { font-size: 36px; color: #1f4e79 }
.source { font-size: 13px; color: #555; margin: 8px 0 0 }
#chart { height: 340px }
.blank { height: 64px; margin: 14px 0; background: #fff }
""")
