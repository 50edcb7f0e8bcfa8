"""The register of published numbers: which sets it has, and for each set the scores of models by reporter.

The numbers were collected from papers, model cards and other leaderboards (`leaderboard/facts/register.py`). They are not
results of this board.
"""

from leaderboard.data.live_board import LiveBoard
from leaderboard.facts.register import AGREEMENT, Entry, Number, contradictions, entries, numbers, numbers_of_set
from leaderboard.facts.register_sets import BY_SLUG, SETS, PublishedSet
from leaderboard.pages.page import Page, render_page, report_form
from leaderboard.views.location import Location
from leaderboard.views.texts import text

PATH = "register"
FOLDER = f"{PATH}/"  # of the pages, one for each set
MAX_CONTRADICTIONS = 40  # that the page lists
MATCHED = "matched by name"  # the basis of a Hub ID that was matched when the numbers were collected, not by the source


def register(board: LiveBoard, here: Location, version: str) -> str:
    """Write the page with all sets, and the contradictions between reporters."""
    return render_page(
        board,
        here,
        version,
        "register.html",
        title=text("register", here.language),
        description=text("register_description", here.language, n=len(numbers())),
        sets=[(published_set, numbers_of_set(title), entries(title)) for title, published_set in SETS.items()],
        contradictions=contradictions()[:MAX_CONTRADICTIONS],
        # Contradicted scores on parts of sets. They have no entries, so `contradictions` does not list them.
        of_parts=[number for number in numbers() if number.flag == "conflict" and not number.is_whole],
        set_of=SETS,
        agreement_limit=AGREEMENT,
        report=_report(board, ""),
    )


def set_page(board: LiveBoard, here: Location, version: str) -> str:
    """Write the page of one set: a row for each model, a column for each reporter, and numbered notes on the scores."""
    published_set = BY_SLUG[here.path.removeprefix(FOLDER)]
    title = published_set.title
    all_numbers = numbers_of_set(title)
    models = entries(title)
    reporters = {number.reporter for entry in models for number in entry.numbers}
    note_of = {number.identity: _note(entry, number) for entry in models for number in entry.numbers}
    notes = list(dict.fromkeys(note_of.values()))
    # The entries have the numbers of the whole set that may be compared. All others are in two lists below the table.
    parts = [number for number in all_numbers if number.is_compared and not number.is_whole]
    apart = [number for number in all_numbers if not number.is_compared]  # doubtful or not comparable
    return render_page(
        board,
        here,
        version,
        "register_set.html",
        title=text("register_title", here.language, name=title),
        description=text("register_set_description", here.language, name=title),
        published_set=published_set,
        entries=models,
        reporters=sorted(reporters),
        notes=notes,
        note_number={note: position for position, note in enumerate(notes, 1)},
        note_of=note_of,
        parts=parts,
        apart=apart,
        models=board.view().models_by_name,
        agreement_limit=AGREEMENT,
        others=list(SETS.values()),
        report=_report(board, title),
    )


def _note(entry: Entry, number: Number) -> tuple[str, ...]:
    """Return what a reader has to know about a number besides its value: conditions, metric, part, names and remarks.

    Numbers with equal notes share one footnote. Fields that do not apply are "".
    """
    printed_name = "" if number.model == entry.model else f"printed as {number.model}"
    matched_id = f"{number.hub_id} {number.hub_id_basis}" if number.hub_id_basis == MATCHED else ""
    return number.conditions, number.metric, number.variant, printed_name, matched_id, number.note


def _report(board: LiveBoard, title: str) -> str | None:
    """Return the address of a form for a number of a set, or of any if `title` is "", that is missing or wrong."""
    body = (
        f"Set: {title}\nModel (Hub id): \nValue: \nReporter: \nPart of the set and metric: \nConditions: \n"
        "Source (address, required): \nDate of the source: \n"
    )
    subject = "Published number missing or wrong"
    return report_form(board, f"{subject}: {title}" if title else subject, body)


def slug_pages() -> dict[str, PublishedSet]:
    """Return the sets by the path of their page."""
    return {f"{FOLDER}{slug}": published_set for slug, published_set in BY_SLUG.items()}


REGISTER = Page(register)
SET = Page(set_page)
