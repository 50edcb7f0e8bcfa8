"""What other sites show of the board: preview pictures and badges.

They are seen without the page, so a score that others reported is marked as "reported". Pictures are in English if the host
has no Korean font.
"""

from collections import Counter

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.ranking import RankedRow, without_reported_if_measured
from leaderboard.data.view import View
from leaderboard.pages.compare import model_names
from leaderboard.views.cards import MAX_BARS, Bar, draw_card, drawable
from leaderboard.views.render import render
from leaderboard.views.texts import Language, headline_title, mode_suffix, text
from leaderboard.views.verdict import in_brief, verdict


def model_card(view: View, name: str, language: Language = "ko") -> bytes | None:
    """Return the picture of a model: the first lines of its page and a bar for each benchmark, or None if it is unknown."""
    language = drawable(language)
    profile = view.profile(name)
    if profile is None:
        return None
    bars = tuple(_benchmark_bar(standing.ranked, language) for standing in profile.standings)
    return draw_card(
        title=name,
        subtitle=verdict(profile, language),
        remark=in_brief(profile, language),
        bars=bars,
        language=language,
    )


def _benchmark_bar(ranked: RankedRow, language: Language) -> Bar:
    """Return the bar of one of a model's results, with the name of the benchmark."""
    row = ranked.row
    title = BENCHMARKS[row.benchmark].card.title + mode_suffix(row.thinking, language)
    return Bar(title, row.score or 0.0, _note(ranked, language))


def benchmark_card(view: View, name: str, language: Language = "ko") -> bytes:
    """Return the preview picture of a benchmark: its first models."""
    language = drawable(language)
    rows = [ranked for ranked in without_reported_if_measured(view.boards[name]) if ranked.rank][:MAX_BARS]
    bars = tuple(Bar(_name(ranked, language), ranked.row.score or 0.0, _note(ranked, language)) for ranked in rows)
    benchmark = BENCHMARKS[name]
    return draw_card(
        title=benchmark.card.title, subtitle=headline_title(benchmark, language), bars=bars, language=language
    )


def overview_card(view: View, language: Language = "ko") -> bytes:
    """Return the preview picture of the board: the best score on each benchmark."""
    language = drawable(language)
    leaders = {name: summary.leader for name, summary in view.summaries.items() if summary.leader}
    bars = tuple(
        Bar(BENCHMARKS[name].card.title, leader.row.score or 0.0, _kind(leader, language))
        for name, leader in leaders.items()
    )
    return draw_card(
        title=text("overview_title", language), subtitle=text("card_overview", language), bars=bars, language=language
    )


def comparison_card(view: View, listed: str | None, language: Language = "ko") -> bytes:
    """Return the preview picture of a comparison: the scores of the models on one benchmark.

    It is the benchmark on which the largest number of them has a rank, or the first of several. `listed` are names separated
    by commas. Without a known model, it is the picture of the overview.
    """
    language = drawable(language)
    models = [view.models_by_name[name] for name in model_names(listed) if name in view.models_by_name][:MAX_BARS]
    if not models:
        return overview_card(view, language)
    counts: Counter[str] = Counter()
    for model in models:
        counts.update(name for name, cell in model.cells.items() if cell.rank)
    name = max(BENCHMARKS, key=lambda name: counts[name])
    bars: list[Bar] = []
    for model in models:
        cell = model.cells.get(name)
        if cell and cell.rank:
            bars.append(Bar(_short_name(model.model), cell.row.score or 0.0, _kind(cell, language)))
    title = " vs. ".join(_short_name(model.model) for model in models)
    return draw_card(title=title, subtitle=BENCHMARKS[name].card.title, bars=tuple(bars), language=language)


def badge(view: View, name: str, benchmark: str) -> bytes | None:
    """Return an SVG badge with a model's score and rank on a benchmark, or None if it has none."""
    model = view.models_by_name.get(name)
    cell = model.cells.get(benchmark) if model else None
    if cell is None or cell.row.score is None:
        return None
    value = f"{cell.row.score:.1f} {_note(cell, 'en')}".strip()
    return render("badge.svg", "en", label=f"Hannun {BENCHMARKS[benchmark].card.title}", value=value).encode()


def _note(ranked: RankedRow, language: Language) -> str:
    """Return a row's rank or range of ranks, "#3" or "#1–4", after the word "reported" if others reported its score."""
    rank = f"#{ranked.rank}" if ranked.rank else ""
    if ranked.rank and ranked.best and ranked.worst and ranked.best < ranked.worst:
        rank = f"#{ranked.best}–{ranked.worst}"
    return f"{_kind(ranked, language)} {rank}".strip()


def _name(ranked: RankedRow, language: Language) -> str:
    """Return the name of a row's model without its owner, with its reasoning mode."""
    return _short_name(ranked.row.model) + mode_suffix(ranked.row.thinking, language)


def _short_name(model: str) -> str:
    return model.rpartition("/")[2]


def _kind(ranked: RankedRow, language: Language) -> str:
    """Return the word "reported" if others reported a row's score, or "" if it was measured here."""
    return text("reported", language) if ranked.row.kind == "reported" else ""
