"""The lineage of models: where their language model and vision encoder come from, and who says so."""

from leaderboard.data.live_board import LiveBoard
from leaderboard.facts.lineage import LINEAGE, Lineage, lineages
from leaderboard.pages.page import Page, render_page, report_form
from leaderboard.views.location import Location
from leaderboard.views.texts import text

PATH = "lineage"


def lineage(board: LiveBoard, here: Location, version: str) -> str:
    """Write the page of all models whose lineage is recorded: first those with facts, then by maker and name."""
    known = lineages()
    return render_page(
        board,
        here,
        version,
        "lineage.html",
        title=text("lineage", here.language),
        description=text("lineage_description", here.language, n=len(known)),
        entries=sorted(known, key=_order),
        models=board.view().models_by_name,
        report=correction_address(board, ""),
    )


def correction_address(board: LiveBoard, model: str) -> str | None:
    """Return the address of a form to correct what is known about a model, or about any if `model` is ""."""
    body = (
        f"Model: {model}\nFile: assets/{LINEAGE.name}\nLanguage model it was initialised from: \nVision encoder: \n"
        "Source (address, required): \n"
    )
    title = f"Lineage of {model}" if model else "Lineage"
    return report_form(board, title, body)


def _order(entry: Lineage) -> tuple[bool, str, str]:
    """Return the key that entries are sorted by."""
    has_facts = bool(entry.language_model or entry.vision_encoder or entry.shown)
    return not has_facts, entry.maker.casefold(), entry.model.casefold()


PAGE = Page(lineage)
