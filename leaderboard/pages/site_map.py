"""List which page is at which address. A new page is added here."""

from evaluator.benchmarks import BENCHMARKS
from leaderboard.pages import (
    about,
    benchmark,
    compare,
    errata,
    explorer,
    lineage,
    model,
    overview,
    queue,
    record,
    register,
    unseen,
)
from leaderboard.pages.page import Page


def pages() -> dict[str, Page]:
    """Return the pages with fixed addresses by their path without language: "" is the overview, "ko-vqa" a benchmark."""
    return {
        "": overview.PAGE,
        **dict.fromkeys(BENCHMARKS, benchmark.PAGE),
        **{f"{explorer.FOLDER}{name}": explorer.PAGE for name in BENCHMARKS},
        "models": model.MODELS,
        "compare": compare.PAGE,
        "record": record.PAGE,
        errata.PATH: errata.PAGE,
        lineage.PATH: lineage.PAGE,
        unseen.PATH: unseen.PAGE,
        register.PATH: register.REGISTER,
        **dict.fromkeys(register.slug_pages(), register.SET),
        "about": about.PAGE,
        "queue": queue.QUEUE,
    }


# Pages of one model or request each, by the beginning of the path: models/OWNER/NAME, requests/KEY.
FOLDERS: dict[str, Page] = {model.FOLDER: model.MODEL, queue.FOLDER: queue.REQUEST}
