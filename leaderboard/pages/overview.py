"""The overview: a table of all models, a summary of each benchmark, charts, and recent rank changes."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, get_args

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.chart_data import AGAINST, has_data
from leaderboard.data.column_heads import BINS
from leaderboard.data.finder import PRESETS, Finder, find_models, shown_ranks
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.models import ModelRow
from leaderboard.data.query import ROWS_PER_PAGE, page_size
from leaderboard.data.skills import known_skills
from leaderboard.data.view import View
from leaderboard.pages.page import Page, render_page
from leaderboard.views.location import Location
from leaderboard.views.render import render
from leaderboard.views.texts import text
from submissions.records.options import Inputs

FIRST_ROWS = 25  # models shown at first, so that the charts below are not far
MAX_CHANGES = 12
AXES = tuple(AGAINST)  # what scores can be plotted against: "size", "speed" or "cost", the values of the parameter `by`


def overview(board: LiveBoard, here: Location, version: str) -> str:
    """Write the overview, for the search and filters in its parameters."""
    params = dict(here.params)
    view = board.view()
    finder = Finder.from_params(params)
    shown = page_size(params.get("n"), FIRST_ROWS)
    models = find_models(view, finder)
    axis = next((one for one in AXES if one == params.get("by")), AXES[0])
    # By benchmark, the charts that have data if all rows are shown.
    charts_with_data = {name: table.charts for name, table in view.tables.items()}
    possible_charts = set(chain.from_iterable(charts_with_data.values()))
    offered_axes = [one for one in AXES if one == axis or one in possible_charts]
    plotted = {}  # whether each benchmark's chart against the chosen axis has data of the models that match
    for name, charts in charts_with_data.items():
        cells = (model.cells[name] for model in models if name in model.cells)
        plotted[name] = axis in charts and has_data(axis, cells)
    return render_page(
        board,
        here,
        version,
        "overview.html",
        title=text("overview_title", here.language),
        description=text("tagline", here.language, **view.counts),
        skills=known_skills(view.models, view.tables),
        axes=offered_axes,
        axis=axis,
        plotted=plotted,
        presets=PRESETS,
        counted=view.counted_models,
        changes=board.changes()[:MAX_CHANGES],
        other_benchmarks=_changed_averages(board, view),
        shown_after_more=shown + ROWS_PER_PAGE,
        **_table(view, finder, models, shown),
    )


def overview_rows(board: LiveBoard, here: Location) -> str:
    """Return the HTML of the whole table, which a page of the static edition loads when a visitor searches or sorts."""
    view = board.view()
    return render(
        "overview_table.html", here.language, here=here, **_table(view, Finder(), view.models, len(view.models))
    )


def _changed_averages(board: LiveBoard, view: View) -> list[tuple[str, str, str]]:
    """Return the groups, "image" or "page", whose overall score is averaged over other benchmarks than a week ago.

    Only the score from measurements counts. Each group comes with the titles of its benchmarks then and now:
    `[("image", "KO-VQA, InfoChartQA", "KO-VQA, InfoChartQA, KO-VDC")]`
    """
    found: list[tuple[str, str, str]] = []
    for group, names in view.shared_benchmarks["verified"].items():
        before = board.shared_before.get(group, ())
        if before and before != names:
            found.append((group, _titles(before), _titles(names)))
    return found


def _titles(names: Iterable[str]) -> str:
    return ", ".join(BENCHMARKS[name].card.title for name in names)


def _table(view: View, finder: Finder, models: Sequence[ModelRow], shown: int) -> dict[str, Any]:
    """Return what `overview_table.html` needs to list the first `shown` models."""
    groups = {group for by_group in view.shared_benchmarks.values() for group in by_group}  # of any kind of results
    skill = finder.skill
    return {
        "benchmarks": BENCHMARKS,
        "finder": finder,
        "skill_benchmarks": view.skill_benchmarks[skill] if skill else (),
        "skill_scores": view.skill_scores(skill) if skill else {},
        "models": models[:shown],
        "shared": view.shared_benchmarks,
        "overall_groups": sorted(groups, key=get_args(Inputs).index),
        "heads": view.heads.of(models),
        "bins": BINS,
        "shown_ranks": shown_ranks(view, finder, models[:shown]),
        "families": view.families,
        "found": len(models),
    }


PAGE = Page(
    overview,
    ("q", "sort", "weights", "commercial", "size", "memory", "language_model", "vision_encoder", "family", "by", "n"),
)
