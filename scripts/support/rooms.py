"""The rooms of the packages, in the order in which they may import each other, and what their docstrings say."""

import ast
import re

from submissions.config.paths import ROOT

PACKAGES = ("leaderboard", "evaluator", "submissions")
# Programs (app.py, `__main__`) are above all packages: they pass the registry of benchmarks and engines down.
ALLOWED = {
    "submissions": ("submissions",),
    "evaluator": ("evaluator", "submissions"),
    "leaderboard": (
        "leaderboard",
        "evaluator.benchmarks",
        "evaluator.core",
        "evaluator.engines.registry",
        "evaluator.formats",
        "evaluator.job.limited_process",
        "evaluator.quarters.books",
        "evaluator.results.answer_rows",
        "evaluator.statistics",
        "submissions",
    ),
}
# In order: a room may import itself and the rooms before it.
ROOMS = {
    "submissions": [
        "texts",
        "records",
        "config",
        "store",
        "queue",
        "hub_models",
        "checks",
        "operator",
        "setup",
        "commands",
    ],
    "evaluator": [
        "core",
        "statistics",
        "fresh",
        "benchmarks",
        "formats",
        "sandbox",
        "engines",
        "datasets",
        "job",
        "results",
        "publication",
        "errata",
        "quarters",
        "worker",
        "doctor",
        "commands",
    ],
    "leaderboard": ["facts", "data", "views", "pages", "edition", "web"],
}

# Its files are hashed for the quarter, so that its docstring cannot be written before the next one.
_UNSAID = {
    "fresh": """Draws the KO-FRESH test set from a seed: `topics` → `facts` → `charts`, `pages` → `questions`, `claims` → `pairs`,
    `memory` → `degrade` → `draw`.

    Go there to change KO-FRESH figures and questions.""",
}
_DOCSTRING = re.compile(r"(?P<does>.+?)\.\s+Go there to change (?P<change>.+?)\.", re.DOTALL)


def described(package: str, room: str) -> tuple[str, str]:
    """Return what a room does and what one goes there to change. Raises ValueError if its docstring does not say so."""
    code = (ROOT / package / room / "__init__.py").read_text(encoding="utf-8")
    found = _DOCSTRING.match(ast.get_docstring(ast.parse(code)) or _UNSAID.get(room, ""))
    if found is None:
        raise ValueError(f"{package}/{room}/__init__.py does not say: WHAT IT DOES. Go there to change WHAT.")
    return " ".join(found["does"].split()), " ".join(found["change"].split())
