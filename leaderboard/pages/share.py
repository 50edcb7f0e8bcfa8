"""What other sites show of the board: preview pictures, badges, and tables to paste into texts."""

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.ranking import RankedRow, standing_rows
from leaderboard.data.view import View
from leaderboard.pages.compare import model_names
from leaderboard.views.cards import MAX_BARS, Bar, draw_card
from leaderboard.views.render import render
from leaderboard.views.texts import headline_title

TABLE_ROWS = 10  # of a table to paste


def model_card(view: View, name: str) -> bytes | None:
    """Return the preview picture of a model: its score and rank on each benchmark."""
    model = view.models_by_name.get(name)
    if model is None:
        return None
    cells = {BENCHMARKS[benchmark].card.title: cell for benchmark, cell in model.cells.items() if cell.rank}
    bars = tuple(Bar(title, cell.row.score or 0.0, _note(cell)) for title, cell in cells.items())
    return draw_card(name, bars, model.organisation or "")


def benchmark_card(view: View, name: str) -> bytes:
    """Return the preview picture of a benchmark: its first models."""
    rows = [r for r in standing_rows(view.boards[name]) if r.rank][:MAX_BARS]
    bars = tuple(Bar(r.row.model.rpartition("/")[2], r.row.score or 0.0, _note(r)) for r in rows)
    return draw_card(BENCHMARKS[name].card.title, bars, headline_title(BENCHMARKS[name], "en"))


def overview_card(view: View) -> bytes:
    """Return the preview picture of the board: the best score on each benchmark."""
    leaders = {name: summary.leader for name, summary in view.summaries.items() if summary.leader}
    bars = tuple(Bar(BENCHMARKS[name].card.title, one.row.score or 0.0, _kind(one)) for name, one in leaders.items())
    return draw_card("Which models read Korean best?", bars, "Best score on each benchmark")


def comparison_card(view: View, listed: str | None) -> bytes:
    """Return the preview picture of a comparison: the models on the first benchmark that most of them have a rank on."""
    models = [view.models_by_name[name] for name in model_names(listed) if name in view.models_by_name][:MAX_BARS]
    if not models:
        return overview_card(view)
    ranked = {name: [m for m in models if name in m.cells and m.cells[name].rank] for name in BENCHMARKS}
    name = max(ranked, key=lambda name: len(ranked[name]))
    cells = [(m.model.rpartition("/")[2], m.cells[name]) for m in ranked[name]]
    bars = tuple(Bar(short, cell.row.score or 0.0, _kind(cell)) for short, cell in cells)
    return draw_card(" vs. ".join(m.model.rpartition("/")[2] for m in models), bars, BENCHMARKS[name].card.title)


def badge(view: View, name: str, benchmark: str) -> bytes | None:
    """Return an SVG badge with a model's score and rank on a benchmark, or None if it has none."""
    model = view.models_by_name.get(name)
    cell = model.cells.get(benchmark) if model else None
    if cell is None or cell.row.score is None:
        return None
    value = f"{cell.row.score:.1f} {_note(cell)}".strip()
    return render("badge.svg", "en", label=f"Hannun {BENCHMARKS[benchmark].card.title}", value=value).encode()


def _note(ranked: RankedRow) -> str:
    """Return a row's rank and, if a maker reports its score, that word: the picture stands alone elsewhere."""
    return f"{_kind(ranked)} #{ranked.rank}".strip() if ranked.rank else _kind(ranked)


def _kind(ranked: RankedRow) -> str:
    return "reported" if ranked.row.kind == "reported" else ""
