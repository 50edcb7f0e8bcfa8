"""`python -m scripts.make_models_doc`: write the table of docs/published-models.md and the models of the Space's front matter.

`assets/published_models.json` is maintained by hand and records how each model is evaluated; `assets/architectures.json` lists
what the pinned transformers runs. A model without an entry is an error, and so is one
for the built-in engine that transformers does not run.
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
DATASETS = ["Jietson/InfoChartQA", "KorQuAD/squad_kor_v2"]  # public datasets of the board's benchmarks
TABLES = ("ko-vqa", "ko-vdc", "infochartqa")
MARK = "<!-- made by scripts.make_models_doc -->\n"
WAYS = {
    "built-in": "built-in engine",
    "custom code": "custom code",
    "api": "API",
    "server": "operator's server",
}


def table() -> str:
    """Return the table as Markdown. Raises ValueError for a model without an entry or one that transformers does not run."""
    known = json.loads(MODELS.read_text(encoding="utf-8"))
    lines = [
        "| name in the published table | benchmarks | repository or API model | model type | how it is evaluated | note |",
        "|---|---|---|---|---|---|",
    ]
    for name, benchmarks in sorted(published().items(), key=lambda pair: pair[0].casefold()):
        if name not in known:
            raise ValueError(f"{name}: {MODELS.name} has no entry for it")
        entry = known[name]
        if entry["way"] == "built-in" and entry["model_type"] not in architectures()["image"]:
            raise ValueError(f"{name}: transformers does not run {entry['model_type']}")
        titles = ", ".join(BENCHMARKS[b].card.title for b in TABLES if b in benchmarks)
        kind = f"`{entry['model_type']}`" if entry["model_type"] else "–"
        lines.append(
            f"| {name} | {titles} | `{entry['model_id']}` | {kind} | {WAYS[entry['way']]} | {entry['note'] or '–'} |"
        )
    return "\n".join(lines) + "\n"


def published() -> dict[str, set[str]]:
    """Return the models in the published tables, without humans and baselines, and the benchmarks of each."""
    found: dict[str, set[str]] = {}
    for benchmark in TABLES:
        for path in (PUBLISHED / benchmark).glob("*.json"):
            result = EvalResult.from_json(path.read_bytes())
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
