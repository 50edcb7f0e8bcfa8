"""Write assets/published from the CSV files of published numbers: `python -m scripts.make_published FOLDER`.

`published_results.csv` has one row per number, `korquad2_leaderboard.csv` is KorQuAD's own board (main and latency), and
`published_korean_vlm.csv` has numbers of many sets by reporter, of which those flagged `ok` are taken. Rows of
other benchmarks are left out; out-of-memory and missing values are kept as such. The repository, licence and release date of a
model come from `assets/published_models.json`, which is maintained by hand.
"""

import csv
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from evaluator.benchmarks import BENCHMARKS
from evaluator.results.latency import TOTAL_PROTOCOL
from evaluator.statistics.intervals import wilson
from submissions.config.paths import ASSETS, PUBLISHED
from submissions.records.options import Thinking
from submissions.records.result import Bucket, Dataset, EvalResult, Latency, Provenance, ResultConfig

NAMES = {"KO-VQA": "ko-vqa", "KO-VDC": "ko-vdc", "InfoChartQA": "infochartqa"}
SPLITS = {"KorQuAD 2.0 test": "test", "KorQuAD 2.0 dev": "dev", "KorQuAD 2.1 dev": "dev-2.1"}
IDENTITIES: dict[str, dict[str, Any]] = json.loads((ASSETS / "published_models.json").read_text(encoding="utf-8"))
THINKING: dict[Thinking, str] = {"on": "(w/ thinking)", "off": "(w/o thinking)"}
ROUNDING = 0.0001  # maximum rounding error of a share printed as a percentage with two decimals
TABLE_4 = "KorQuAD 2.0 (split not stated in table 4; text says test)"
ACCURACY = ("accuracy (%)", "(accuracy in the benchmark paper)")  # endings of metrics that are EM in percent
OTHER_PROMPTS = ("four choices; English and Korean prompt",)  # conditions that are not those of the benchmark
# Numbers of a part of the questions: name of the set and of the part → axis and bucket.
PARTS = {
    ("K-Viscuit", "type 1"): ("question_type", "recognition"),
    ("K-Viscuit", "type 2"): ("question_type", "reasoning"),
}
FORMS = {"text": "paragraph", "table": "table", "list": "list"}
# Number of questions behind a score if it differs from the card's n. InfoChartQA does not state how many it asked.
QUESTION_COUNTS = {("korquad-2", "dev"): 10165, ("korquad-2", "dev-2.1"): None, ("infochartqa", "text"): None}


def main(folder: str) -> None:
    published = _rows(Path(folder) / "published_results.csv")
    board = _rows(Path(folder) / "korquad2_leaderboard.csv")
    shutil.rmtree(PUBLISHED, ignore_errors=True)
    for result in [
        *_accuracies(published),
        *_infochartqa(published),
        *_ko_ocrag(published),
        *_korquad_papers(published),
        *_korquad(board, published),
        *_register(_rows(Path(folder) / "published_korean_vlm.csv")),
    ]:
        target = PUBLISHED / result.benchmark / f"{result.request_key}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(result.to_bytes())
    for benchmark in sorted(PUBLISHED.iterdir()):
        print(f"{benchmark.name}: {len(list(benchmark.iterdir()))} records")


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def _accuracies(rows: list[dict[str, str]]) -> Iterator[EvalResult]:
    for row in rows:
        if row["metric"] == "accuracy" and row["benchmark"] in NAMES:
            yield _result(NAMES[row["benchmark"]], row["model"], {"em": row["value"]}, row["source"])


def _infochartqa(rows: list[dict[str, str]]) -> Iterator[EvalResult]:
    for model, own in _by_model(rows, "InfoChartQA").items():
        values = {row["metric"]: row["value"] for row in own}
        subsets = ("text_infographic", "text_plain", "visual_basic", "visual_metaphor")
        yield _result(
            "infochartqa",
            model,
            {"em": values["text_infographic"], "visual_avg": values["visual_avg"], "delta": values["delta"]},
            own[0]["source"],
            breakdown={"subset": {name: Bucket(scores={"em": float(values[name])}) for name in subsets}},
            role="human" if model == "Human" else "model",
        )


def _ko_ocrag(rows: list[dict[str, str]]) -> Iterator[EvalResult]:
    """Yield the results of KO-OCRAG. Its README calls our metrics by other names, for example 1-WER for wer."""
    names = {
        "average": "average",
        "1-WER": "wer",
        "1-CER": "cer",
        "sentence_bert": "embedding",
        "rouge1_recall": "rouge1",
    }
    for model, own in _by_model(rows, "KO-OCRAG").items():
        values = {names[row["metric"]]: row["value"] for row in own}
        yield _result("ko-ocrag", model, values, own[0]["source"])


def _korquad_papers(rows: list[dict[str, str]]) -> Iterator[EvalResult]:
    """Yield the results in papers and repositories that are missing on KorQuAD's own board."""
    for benchmark, split in SPLITS.items():
        for model, own in _by_model(rows, benchmark).items():
            if "_layouts/home.html" in own[0]["source"] or (
                split == "test" and model.startswith(("Human", "Baseline"))
            ):
                continue
            values = {row["metric"]: row["value"] for row in own}
            scores = {"em": values["EM"], "f1": values["F1"]}
            if model.startswith("Baseline"):
                role = "baseline"
            elif model == "Human":
                role = "human"
            else:
                role = "model"
            latency = values.get("latency_ms")
            yield _result("korquad-2", model, scores, own[0]["source"], split, None, role, latency_ms=latency)


def _register(rows: list[dict[str, str]]) -> Iterator[EvalResult]:
    """Yield the accuracies that anybody reported, one result a model, reporter and setting."""
    titles = {benchmark.card.title: name for name, benchmark in BENCHMARKS.items()}
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        of_board = row["benchmark"] in titles and row["metric"].endswith(ACCURACY)
        if of_board and row["flag"] == "ok" and row["conditions"] not in OTHER_PROMPTS:
            setting = (row["benchmark"], row["model"], row["reporter"], row["conditions"], row["source"])
            groups.setdefault(setting, []).append(row)
    for (title, model, reporter, conditions, url), own in groups.items():
        breakdown: dict[str, dict[str, Bucket]] = {}
        whole: list[dict[str, str]] = []
        for row in own:
            if part := PARTS.get((title, row["variant"])):
                axis, bucket = part
                breakdown.setdefault(axis, {})[bucket] = Bucket(scores={"em": float(row["value"])})
            else:
                whole.append(row)
        for row in whole:
            result = _result(
                titles[title],
                model,
                {"em": row["value"]},
                f"{reporter}: {conditions}",
                breakdown=breakdown,
                role="human" if row["variant"] == "human study" else "model",
                hub_id=row["hub_id"] or None,
            )
            year, month, *day = map(int, row["source_date"].split("-"))
            dated = datetime(year, month, day[0] if day else 1, tzinfo=UTC).timestamp()
            yield result.evolve(date=dated, provenance=result.provenance.evolve(source_url=url))


def _table_4(rows: list[dict[str, str]]) -> dict[str, dict[str, Bucket]]:
    """Return the baseline's F1 by answer length and form, which only the paper reports."""
    by_metric = {
        row["metric"]: Bucket(scores={"f1": float(row["value"])}) for row in rows if row["benchmark"] == TABLE_4
    }
    cells = {
        (m[1].lower(), m[2]): b for name, b in by_metric.items() if (m := re.fullmatch(r"F1\[(\w+)/(\w+)\]", name))
    }
    return {
        "length": {length: bucket for (length, form), bucket in cells.items() if form == "all"},
        "length_form": {f"{length}/{FORMS[form]}": b for (length, form), b in cells.items() if form in FORMS},
    }


def _korquad(rows: list[dict[str, str]], papers: list[dict[str, str]]) -> Iterator[EvalResult]:
    latencies = {(r["model"], r["date"]): r["latency_ms"] for r in rows if r["board"] == "latency"}
    for row in rows:
        if row["board"] != "main":
            continue
        if row["rank"] != "-":
            role = "model"
        elif row["model"].startswith("Human"):
            role = "human"
        else:
            role = "baseline"
        yield _result(
            "korquad-2",
            row["model"],
            {"em": row["em"], "f1": row["f1"]},
            f"github:korquad/korquad.github.io _layouts/home.html @61d7d66 main board rank {row['rank']}",
            breakdown=_table_4(papers) if role == "baseline" else None,
            role=role,
            organisation=row["org"] or None,
            date=datetime.strptime(row["date"], "%Y.%m.%d").replace(tzinfo=UTC).timestamp(),
            latency_ms=latencies.get((row["model"], row["date"])),
        )


def _result(
    benchmark: str,
    model: str,
    scores: dict[str, str],
    source: str,
    split: str | None = None,
    breakdown: dict[str, dict[str, Bucket]] | None = None,
    role: Any = "model",
    organisation: str | None = None,
    date: float | None = None,
    latency_ms: str | None = None,
    hub_id: str | None = None,
) -> EvalResult:
    card = BENCHMARKS[benchmark].card
    split = split or card.split
    n = QUESTION_COUNTS.get((benchmark, split), card.n)
    if date is None and (stated := re.search(r"\d{4}-\d{2}-\d{2}", source)):
        date = datetime.fromisoformat(stated[0]).replace(tzinfo=UTC).timestamp()
    values = {name: None if value in ("OOM", "") else float(value) for name, value in scores.items()}
    headline = card.reported_headline or card.headline
    missing = "out_of_memory" if "OOM" in scores.values() else "not_reported"
    known = IDENTITIES.get(model, {})
    named = hub_id or (known["model_id"] if known.get("way", "api") != "api" else model)
    identity = "\0".join([benchmark, split, model, organisation or "", str(date), source])
    return EvalResult(
        request_key=hashlib.sha256(identity.encode()).hexdigest()[:32],
        config=ResultConfig(
            model_name=named,
            published_as=model if named != model else None,
            released=known.get("released"),
            license=known.get("license"),
            thinking=next((mode for mode, name in THINKING.items() if name in model), None),
            model_sha=None,
            model_dtype=None,
            organisation=organisation,
            params=known.get("params") or _params(model) or _params(named),
            weights=_weights(benchmark, model) if role == "model" else None,
            role=role,
        ),
        results={benchmark: values},
        headline=headline,
        versions={benchmark: "published"},
        n_samples={benchmark: {"original": n, "effective": n}},
        date=date,
        outcome="scored" if values.get(headline) is not None else missing,
        dataset=Dataset(id=benchmark, revision=None, split=split, n=n),
        intervals=_intervals(values, n),
        breakdown=breakdown or {},
        latency=Latency(protocol=TOTAL_PROTOCOL, mean_ms=float(latency_ms)) if latency_ms else None,
        provenance=Provenance(kind="reported", source=source, source_url=_url(source)),
    )


def _params(model: str) -> int | None:
    """Return the number of parameters in a model's name, such as Qwen2.5-VL-32B, or None."""
    named = re.search(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)[Bb](?![A-Za-z])", model)
    return int(float(named[1]) * 1e9) if named else None


def _weights(benchmark: str, model: str) -> Literal["open", "closed"] | None:
    """Return "closed" for models that only an API serves, else "open"; None for KorQuAD, which does not state it."""
    if benchmark == "korquad-2":
        return None
    return "closed" if model.startswith(("Gemini", "GPT", "Claude", "OpenAI")) else "open"


def _intervals(values: dict[str, float | None], n: int | None) -> dict[str, tuple[float, float]]:
    """Return Wilson intervals of EM and F1, the only intervals that can be computed from a published number.

    The result is empty if the number of questions is unknown, or if EM is not a whole number of right answers out of `n`,
    because then the score is of another set.
    """
    em = values.get("em")
    if not n or (em is not None and abs(em * n / 100 - round(em * n / 100)) > n * ROUNDING):
        return {}
    known = {
        name: wilson(value / 100, n) for name, value in values.items() if name in ("em", "f1") and value is not None
    }
    return {name: (round(100 * low, 4), round(100 * high, 4)) for name, (low, high) in known.items()}


def _url(source: str) -> str:
    named = re.match(r"github:([\w.-]+/[\w.-]+)", source)  # a few rows name KO-VQA's repository without its owner
    return f"https://github.com/{named[1] if named else 'Marker-Inc-Korea/KO-VQA-Benchmark'}"


def _by_model(rows: list[dict[str, str]], benchmark: str) -> dict[str, list[dict[str, str]]]:
    groups: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        if row["benchmark"] == benchmark:
            groups.setdefault(row["model"], []).append(row)
    return groups


if __name__ == "__main__":
    main(sys.argv[1])
