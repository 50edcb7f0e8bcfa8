"""What other sites show of the board: preview pictures, badges, and tables to paste into texts."""

from collections import Counter

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.ranking import RankedRow, without_superseded_claims
from leaderboard.data.view import View
from leaderboard.pages.compare import model_names
from leaderboard.views.cards import MAX_BARS, Bar, draw_card, drawable
from leaderboard.views.render import render
from leaderboard.views.texts import Language, headline_title, mode_suffix, text
from leaderboard.views.verdict import in_brief, verdict

TABLE_ROWS = 10  # of a table to paste


def model_card(view: View, name: str, language: Language = "ko") -> bytes | None:
    """Return the preview picture of a model: what the first screen of its page shows."""
    language = drawable(language)
    shown = view.profile(name)
    if shown is None:
        return None
    bars = tuple(_bar(one.ranked, language) for one in shown.standings)
    return draw_card(name, bars, verdict(shown, language), language, in_brief(shown, language))


def _bar(ranked: RankedRow, language: Language) -> Bar:
    row = ranked.row
    title = BENCHMARKS[row.benchmark].card.title + mode_suffix(row.thinking, language)
    return Bar(title, row.score or 0.0, _note(ranked, language))


def benchmark_card(view: View, name: str, language: Language = "ko") -> bytes:
    """Return the preview picture of a benchmark: its first models."""
    language = drawable(language)
    rows = [r for r in without_superseded_claims(view.boards[name]) if r.rank][:MAX_BARS]
    bars = tuple(Bar(_name(r, language), r.row.score or 0.0, _note(r, language)) for r in rows)
    return draw_card(BENCHMARKS[name].card.title, bars, headline_title(BENCHMARKS[name], language), language)


def overview_card(view: View, language: Language = "ko") -> bytes:
    """Return the preview picture of the board: the best score on each benchmark."""
    language = drawable(language)
    leaders = {name: summary.leader for name, summary in view.summaries.items() if summary.leader}
    bars = tuple(
        Bar(BENCHMARKS[name].card.title, one.row.score or 0.0, _kind(one, language)) for name, one in leaders.items()
    )
    return draw_card(text("overview_title", language), bars, text("card_overview", language), language)


def comparison_card(view: View, listed: str | None, language: Language = "ko") -> bytes:
    """Return the preview picture of a comparison: the models on the first benchmark that most of them have a rank on."""
    language = drawable(language)
    models = [view.models_by_name[name] for name in model_names(listed) if name in view.models_by_name][:MAX_BARS]
    if not models:
        return overview_card(view, language)
    counts: Counter[str] = Counter()
    for model in models:
        counts.update(name for name, cell in model.cells.items() if cell.rank)
    name = max(BENCHMARKS, key=lambda name: counts[name])
    cells = [(m.model.rpartition("/")[2], m.cells[name]) for m in models if name in m.cells and m.cells[name].rank]
    bars = tuple(Bar(short, cell.row.score or 0.0, _kind(cell, language)) for short, cell in cells)
    return draw_card(
        " vs. ".join(m.model.rpartition("/")[2] for m in models), bars, BENCHMARKS[name].card.title, language
    )


def badge(view: View, name: str, benchmark: str) -> bytes | None:
    """Return an SVG badge with a model's score and rank on a benchmark, or None if it has none."""
    model = view.models_by_name.get(name)
    cell = model.cells.get(benchmark) if model else None
    if cell is None or cell.row.score is None:
        return None
    value = f"{cell.row.score:.1f} {_note(cell, 'en')}".strip()
    return render("badge.svg", "en", label=f"Hannun {BENCHMARKS[benchmark].card.title}", value=value).encode()


def _note(ranked: RankedRow, language: Language) -> str:
    """Return a row's rank and, if a maker reports its score, that word: the picture stands alone elsewhere."""
    rank = f"#{ranked.rank}" if ranked.rank else ""
    if ranked.rank and ranked.best and ranked.worst and ranked.best < ranked.worst:
        rank = f"#{ranked.best}–{ranked.worst}"
    return f"{_kind(ranked, language)} {rank}".strip()


def _name(ranked: RankedRow, language: Language) -> str:
    return ranked.row.model.rpartition("/")[2] + mode_suffix(ranked.row.thinking, language)


def _kind(ranked: RankedRow, language: Language) -> str:
    return text("reported", language) if ranked.row.kind == "reported" else ""
