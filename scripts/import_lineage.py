"""Write assets/lineage.json from a file of lineage facts: `python -m scripts.import_lineage FILE`.

A fact without a source is refused and named with its row; the model stays in the list without that fact. The exit status is
then 1. It can be run again, and prints what changed. Entries that their makers corrected (`corrected` has a day) and Korean
wordings are kept.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evaluator.core.files import replace_file
from leaderboard.facts.lineage import LINEAGE, SOURCE, Agreement, Encoder, Fact, Lineage, Origin
from scripts.support.importing import STAYS, loss_of, numbered_rows, row_of, run

COLUMNS = [
    "model_id",
    "maker",
    "vision",
    "parameters",
    "language_model_declared",
    "vision_encoder_declared",
    "config_or_code_shows",
    "declared_vs_shown",
    "licence",
    "commercial_use",
    "released",
    "source_language_model",
    "source_vision_encoder",
    "source_config",
    "source_licence",
    "source_release",
    "note",
]
# Facts of an entry, with the columns of text and source.
FACTS = {
    "language_model": ("language_model_declared", "source_language_model"),
    "vision_encoder": ("vision_encoder_declared", "source_vision_encoder"),
    "shown": ("config_or_code_shows", "source_config"),
    "licence": ("licence", "source_licence"),
}
OF_PROJECT = " (project document)"  # the source says so too
UNREAD = ("", "none", "text only")  # cells without a fact
NOT_KNOWN = re.compile(r"not read|(unknown|not known|n/a|none|no|\?)\s*(\(|;|,|$)", re.IGNORECASE)
_SECOND = re.compile(r" \(and (?P<others>[^)]+)\)$")  # "Qwen/Qwen3-VL-2B-Instruct (and Thinking)"


def main(file: str, target: Path = LINEAGE, *, may_lose: bool = False) -> int:
    before = {one["model"]: one for one in json.loads(target.read_bytes())} if target.exists() else {}
    try:
        accepted, refused = read(Path(file), before)
    except (OSError, ValueError) as error:
        print(f"import_lineage: {file}: {error}", file=sys.stderr)
        return 2
    for reason in refused:
        print(f"import_lineage: {file}: {reason}", file=sys.stderr)
    after = {one.model: one.model_dump(exclude_defaults=True) for one in accepted}
    loss = loss_of(before.keys(), after.keys())
    if loss and not (after and may_lose):
        print(f"import_lineage: {file}: {loss} models would be lost, {STAYS.format(target.name)}", file=sys.stderr)
        return 2
    content = json.dumps(list(after.values()), ensure_ascii=False, indent=1) + "\n"
    replace_file(target, content.encode())
    for model in [*after, *(before.keys() - after.keys())]:
        if model not in before:
            print(f"{model}: new")
        elif model not in after:
            print(f"{model}: no longer in the file")
        elif before[model] != after[model]:
            changed = [key for key in before[model] | after[model] if before[model].get(key) != after[model].get(key)]
            print(f"{model}: changed: {', '.join(changed)}")
    print(f"{len(after)} models in {target.name}, {len(refused)} facts or rows refused")
    return 1 if refused else 0


def read(file: Path, before: dict[str, Any]) -> tuple[list[Lineage], list[str]]:
    """Return the entries of a file by model, and why facts or rows were refused. Raises ValueError for other columns."""
    found: dict[str, tuple[int, Lineage]] = {}
    refused: list[str] = []
    with file.open(encoding="utf-8-sig", newline="") as lines:
        for number, cells in numbered_rows(lines, COLUMNS):
            try:
                entries = list(_entries(row_of(cells, COLUMNS), before))
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                refused.append(f"row {number}: {'.'.join(map(str, first['loc']))}: {first['msg']}")
                continue
            except ValueError as error:
                refused.append(f"row {number}: {error}")
                continue
            for entry, reasons in entries:
                refused += [f"row {number}: {reason}" for reason in reasons]
                known = found.get(entry.model.casefold())
                if known and known[1] != entry:
                    refused.append(f"row {number}: contradicts row {known[0]} about {entry.model}")
                elif not known:
                    found[entry.model.casefold()] = (number, entry)
    kept = [entry for _, entry in found.values()]
    return sorted(kept, key=lambda entry: entry.model.casefold()), refused


def _entries(row: dict[str, str], before: dict[str, Any]) -> Iterator[tuple[Lineage, list[str]]]:
    """Yield an entry for each model that a row names, with the reasons why facts were refused."""
    for model in _models(row["model_id"]):
        old = before.get(model, {})
        if old.get("corrected"):
            yield Lineage(**old), []
        else:
            yield _entry(model, row, old)


def _entry(model: str, row: dict[str, str], old: dict[str, Any]) -> tuple[Lineage, list[str]]:
    reasons: list[str] = []
    facts: dict[str, Fact | None] = {}
    for field, (text_column, source_column) in FACTS.items():
        text = row[text_column].removesuffix(OF_PROJECT)
        facts[field] = None
        if text in UNREAD or NOT_KNOWN.match(text):
            continue
        source = row[source_column]
        if not re.search(SOURCE, source):
            given = f"{source!r} is no address" if source else "has no source"
            reasons.append(f"{model}: {field} {text!r} {given}")
            continue
        known = old.get(field, {})
        korean = known.get("ko", "") if known.get("text") == text else ""
        facts[field] = Fact(text=text, source=source, ko=korean)
    verdict = row["declared_vs_shown"]
    reads_text_only = row["vision_encoder_declared"] == "none"
    entry = Lineage(
        model=model,
        maker=row["maker"],
        origin=_origin(facts["language_model"]),
        encoder="none" if reads_text_only else _encoder(facts["vision_encoder"]),
        **facts,
        agreement=_agreement(verdict, facts),
        agreement_note="" if verdict in ("agree", "not checked") else verdict,
        agreement_note_ko=old.get("agreement_note_ko", "") if old.get("agreement_note") == verdict else "",
        note=row["note"],
    )
    return entry, reasons


def _models(name: str) -> list[str]:
    """Return the models that a cell names: "Qwen3-VL-2B-Instruct (and Thinking)" are two."""
    found = _SECOND.search(name)
    if not found:
        return [name]
    first = name[: found.start()]
    others = [other.strip() for other in found["others"].split(",")]
    if others == ["Thinking"]:
        return [first, first.replace("Instruct", "Thinking")]
    size = re.search(r"\d+b", first, re.IGNORECASE)
    if not size:
        raise ValueError(f"model_id {name!r}: its first model names no size that the others could replace")
    return [first, *(first.replace(size[0], other.lower()) for other in others)]


def _origin(fact: Fact | None) -> Origin:
    if fact is None:
        return "unknown"
    text = fact.text.lower()
    if text.startswith("from scratch"):
        return "scratch"
    if "trained on text and images together" in text:
        return "unknown"  # it says how, not from what
    if "own)" in text or "own language model" in text or "(declared base)" in text:
        return "own"
    return "other"


def _encoder(fact: Fact | None) -> Encoder:
    if fact is None:
        return "unknown"
    if re.match(r"own\b", fact.text) or fact.text.endswith("(own)"):
        return "own"
    return "unknown" if fact.text.startswith("vision transformer") else "other"


def _agreement(verdict: str, facts: Mapping[str, Fact | None]) -> Agreement:
    if re.match(r"agree\b", verdict):
        both = facts["shown"] and (facts["language_model"] or facts["vision_encoder"])
        return "agree" if both else "not_checked"
    if verdict.startswith("code lineage only"):
        return "code_only"
    if verdict.startswith("same shape only"):
        return "shape_only"
    if verdict.startswith("differs"):
        return "differs"
    if verdict.startswith("not checked") or not verdict:
        return "not_checked"
    raise ValueError(f"declared_vs_shown {verdict!r} begins with none of the known words")


if __name__ == "__main__":
    run("import_lineage", main)
