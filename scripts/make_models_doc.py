"""`python -m scripts.make_models_doc`: write the table of docs/published-models.md and the models of the Space's front matter.

How each model gets through the queue stands in `assets/published_models.json`, which people keep; what the pinned
transformers runs is read from `assets/architectures.json`. A row without a way, or a native one that transformers does
not have, is an error.
"""

import json
import sys

import yaml

from evaluator.benchmarks import BENCHMARKS
from submissions.config.paths import PUBLISHED, ROOT
from submissions.hub_models.architectures import architectures
from submissions.records.result import EvalResult

DOC = ROOT / "docs/published-models.md"
MODELS = ROOT / "assets/published_models.json"
README = ROOT / "README.md"
DATASETS = ["Jietson/InfoChartQA", "KorQuAD/squad_kor_v2"]  # public ones that the board's benchmarks are drawn from
TABLES = ("ko-vqa", "ko-vdc", "infochartqa")
MARK = "<!-- made by scripts.make_models_doc -->\n"
WAYS = {
    "native": "native",
    "custom code": "custom code, approved",
    "api": "API",
    "server": "API of the operator's server",
}


def table() -> str:
    """Raises ValueError for a row without a way."""
    known = json.loads(MODELS.read_text(encoding="utf-8"))
    lines = [
        "| published as | benchmarks | repository or API model | type | how it gets its row | |",
        "|---|---|---|---|---|---|",
    ]
    for name, benchmarks in sorted(published().items(), key=lambda pair: pair[0].casefold()):
        if name not in known:
            raise ValueError(f"{name}: {MODELS.name} does not say how it gets through the queue")
        own = known[name]
        if own["way"] == "native" and own["model_type"] not in architectures()["image"]:
            raise ValueError(f"{name}: transformers does not run {own['model_type']}")
        titles = ", ".join(BENCHMARKS[b].card.title for b in TABLES if b in benchmarks)
        kind = f"`{own['model_type']}`" if own["model_type"] else "–"
        lines.append(f"| {name} | {titles} | `{own['model_id']}` | {kind} | {WAYS[own['way']]} | {own['note']} |")
    return "\n".join(lines) + "\n"


def published() -> dict[str, set[str]]:
    """The models of the published tables, people and baselines left out, and the benchmarks each stands in."""
    found: dict[str, set[str]] = {}
    for benchmark in TABLES:
        for path in (PUBLISHED / benchmark).glob("*.json"):
            result = EvalResult.model_validate_json(path.read_bytes())
            if result.config.role == "model":
                found.setdefault(result.config.published_as or result.config.model_name, set()).add(benchmark)
    return found


def front_matter(readme: str) -> str:
    """Return the Space's README with the Hub models and datasets on the board, whose pages then link to it."""
    known = json.loads(MODELS.read_text(encoding="utf-8"))
    models = {entry["model_id"] for name, entry in known.items() if entry["way"] != "api" and name in published()}
    lists = [("models", sorted(models, key=str.casefold)), ("datasets", DATASETS)]
    head, own, rest = readme.split("---\n", 2)
    kept = own.partition("models:\n")[0]
    return f"{head}---\n{kept}{yaml.safe_dump(dict(lists), sort_keys=False)}---\n{rest}"


def main() -> int:
    README.write_text(front_matter(README.read_text(encoding="utf-8")), encoding="utf-8")
    head = DOC.read_text(encoding="utf-8").partition(MARK)[0]
    try:
        DOC.write_text(f"{head}{MARK}{table()}", encoding="utf-8")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
