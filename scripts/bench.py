"""`make bench`: compare this project with a plain implementation, in the same run on the same host."""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.ko_vdc import KoVDC
from evaluator.benchmarks.ko_vqa import KoVQA
from evaluator.benchmarks.korquad_2 import KorQuAD2
from evaluator.benchmarks.scoring import chart_answers, final_answer, strict_chart_answers
from evaluator.benchmarks.scoring.html_text import character_f1, normalize_many
from evaluator.benchmarks.scoring.letters import asserted_letter
from evaluator.statistics.intervals import mean_interval
from scripts.bench_board import board_rows
from scripts.bench_engines import Row, engine_rows
from scripts.bench_fresh import fresh_rows
from scripts.bench_memory import memory_rows
from scripts.bench_overhead import overhead_rows
from scripts.bench_sandbox import sandbox_cost
from scripts.bench_scale import scale_rows
from scripts.bench_statistics import statistics_rows
from scripts.big_store import MODELS
from scripts.support.measured import Measured
from scripts.support.oracles import korquad_mutants, korquad_normalize, korquad_scores
from submissions.config.paths import ROOT, SAMPLES
from submissions.records.result import Dataset, EvalResult, Provenance, ResultConfig
from submissions.store.base import Snapshot
from submissions.store.index import board_reader, reindexed
from submissions.store.open import open_store

ROUNDS = 3
MUTANTS = 100_000
END_TO_END = 100_000  # answers
RESULTS = 1000


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"any of {', '.join(PARTS)} (default: all)")
    for name in parser.parse_args().parts or PARTS:
        if name not in PARTS:
            parser.error(f"unknown part {name}; choose from {', '.join(PARTS)}")
        PARTS[name]()


def scoring() -> None:
    made = korquad_mutants(korquad_golds(), MUTANTS, seed=2)
    wrong = sum(
        a != korquad_normalize(b) for a, b in track(zip(normalize_many(made), made, strict=True), total=MUTANTS)
    )
    print(f"korquad-2: {wrong} differences from plain BeautifulSoup on {MUTANTS:,} malformed texts")
    rates = Table("what", "items/s", title="best of 3, one core")
    with tempfile.TemporaryDirectory() as folder:
        ends = [end_to_end(name, Path(folder)) for name in ("ko-vqa", "ko-vdc", "infochartqa")]
        for name, items, work in [*scoring_rates(), *ends]:
            rates.add_row(name, f"{items / _seconds(work):,.1f}" if items == 1 else f"{items / _seconds(work):,.0f}")
    Console().print(rates)


def engines() -> None:
    table = Table("what", "ours", "plain", "ratio", title="best of 3, same run")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        golds = korquad_golds()
        rows = [korquad_scoring(golds), korquad_command(golds, folder), *engine_rows(folder), board_reading(folder)]
        for name, ours, plain in rows:
            mine = _seconds(ours)
            other = _seconds(plain)
            table.add_row(name, f"{mine:.3f} s", f"{other:.3f} s", f"{other / mine:.1f}×")
    Console().print(table)


def overhead() -> None:
    table = Table("with an engine that answers at once", "ms an item", "peak memory", title="overhead")
    with tempfile.TemporaryDirectory() as folder:
        for row in overhead_rows(Path(folder)):
            table.add_row(row.what, f"{row.ms:.2f}", f"{row.peak_mb:,.0f} MB")
    Console().print(table)
    with tempfile.TemporaryDirectory() as folder:
        cost = sandbox_cost(Path(folder))
    print(f"an evaluation inside the sandbox against one without: {cost}")


def board() -> None:
    table = Table(
        "what",
        "ours",
        "plain gr.Dataframe",
        "aim",
        title=f"the board: {MODELS:,} models × {len(BENCHMARKS)} benchmarks",
    )
    try:
        with tempfile.TemporaryDirectory() as folder:
            for row in board_rows(Path(folder)):
                table.add_row(row.what, row.ours, row.plain, row.target)
    finally:
        Console().print(table)


def scale() -> None:
    table = Table("what", "ours", "plain", "ratio", "aim", title="scale")
    with tempfile.TemporaryDirectory() as folder:
        for what, ours, plain, aim in scale_rows(Path(folder)):
            table.add_row(what, f"{ours:.1f} s", f"{plain:.1f} s", f"{plain / ours:.2f}×", aim)
    Console().print(table)


def statistics() -> None:
    table = Table("what", "measured", "expected", title="paired tests on generated boards")
    for row in statistics_rows():
        table.add_row(*row)
    Console().print(table)


def fresh() -> None:
    _measured("KO-FRESH", fresh_rows)


def memory() -> None:
    _measured("the memory metric of KO-FRESH", memory_rows)


def _measured(title: str, rows: Callable[[Path], Iterator[Measured]]) -> None:
    table = Table("what", "measured", "aim", title=title)
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(Path(folder)):
            table.add_row(row.what, row.ours, row.target)
    Console().print(table)


def scoring_rates() -> Iterator[tuple[str, int, Callable[[], object]]]:
    """Yield name, number of items and work of each scoring rule on repeated sample answers, and of an interval."""
    published_vqa = KoVQA().published_match
    published_vdc = KoVDC().published_match
    vqa = [(i.question, i.answer) for i in BENCHMARKS["ko-vqa"].load(SAMPLES / "ko-vqa")] * 200
    charts = [
        (i.extra["question_type_id"], i.answer) for i in BENCHMARKS["infochartqa"].load(SAMPLES / "infochartqa")
    ] * 200
    letters = ["B", "B. 설명", "정답은 B", "(B)"] * 5000
    yield "ko-vqa, published rule", len(vqa), lambda: [published_vqa(a, a) for _, a in vqa]
    worked = [(q, a, f"표에서 1,234와 5,678을 찾습니다. 따라서 정답은 {a}") for q, a in vqa]
    yield "ko-vqa, strict rule, working shown", len(vqa), lambda: [final_answer.strict_match(*one) for one in worked]
    yield "ko-vdc, published rule", len(letters), lambda: [published_vdc("B", a) for a in letters]
    yield "ko-vdc, strict rule", len(letters), lambda: [asserted_letter(a) for a in letters]
    yield (
        "infochartqa, published rule",
        len(charts),
        lambda: [chart_answers.reference_match(k, a, a) for k, a in charts],
    )
    yield (
        "infochartqa, strict rule",
        len(charts),
        lambda: [strict_chart_answers.strict_match(k, a, a) for k, a in charts],
    )
    scores = [n % 7 / 7 for n in range(10_165)]
    pages = [str(n * 4736 // 10_165) for n in range(10_165)]
    yield "interval of 10,165 questions in 4,736 pages", 1, lambda: mean_interval(scores, pages)


def end_to_end(name: str, folder: Path) -> tuple[str, int, Callable[[], object]]:
    """Return name, number of items and work of the whole `score` command. Half of the answers are the gold answers."""
    items = folder / f"{name}-items.jsonl"
    answers = folder / f"{name}-answers.jsonl"
    rows = [json.loads(line) for line in (SAMPLES / name / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    with items.open("w", encoding="utf-8") as golds, answers.open("w", encoding="utf-8") as given:
        for number in range(END_TO_END):
            row = rows[number % len(rows)] | {"id": str(number)}
            row["answer"] = row.get("answer", "B")
            text = row["answer"] if number % 2 else f"정답은 {row['answer']}"
            golds.write(json.dumps(row, ensure_ascii=False) + "\n")
            given.write(json.dumps({"id": row["id"], "text": text}, ensure_ascii=False) + "\n")
    return f"{name}, `score` end to end", END_TO_END, lambda: score_command(name, items, answers)


def score_command(name: str, items: Path, answers: Path) -> object:
    words = ["-m", "evaluator", "score", name, "--items", str(items), "--answers", str(answers)]
    return subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, check=True)


def korquad_golds() -> list[str]:
    """Return all answers of the dev set if it is available, else repeated answers of the samples."""
    dev = ROOT.parent / "shared/data/korquad2_dev_answers.json"
    if dev.exists():
        return list(json.loads(dev.read_text(encoding="utf-8")).values())
    answers = [item.answer for item in KorQuAD2().load(SAMPLES / "korquad-2")]
    return [
        f"{answer}<b>{number}</b>" for number in range(230) for answer in answers
    ]  # all different, so that no result is cached


def korquad_scoring(golds: list[str]) -> Row:
    """Compare our scorer with a plain BeautifulSoup scorer."""
    # A third is right, a third is truncated, and a third lacks its first part.
    given = [(g, g[: max(1, len(g) // 2)], g[len(g) // 3 :])[n % 3] for n, g in enumerate(golds)]

    def ours() -> object:
        normalized = normalize_many(given + golds)
        mine = normalized[: len(golds)]
        wanted = normalized[len(golds) :]
        return [(a == b, f1) for a, b, f1 in zip(mine, wanted, character_f1(mine, wanted), strict=True)]

    def plain() -> object:
        return [korquad_scores(a, b) for a, b in zip(given, golds, strict=True)]

    return f"korquad-2, {len(golds):,} answers scored: ours / plain BeautifulSoup", ours, plain


def korquad_command(golds: list[str], folder: Path) -> Row:
    """Compare the whole `score` command with a plain loop over the same two files."""
    items = folder / "items.jsonl"
    answers = folder / "answers.jsonl"
    for target, name, texts in ((items, "answer", golds), (answers, "text", [g[: 1 + len(g) // 2] for g in golds])):
        lines = (json.dumps({"id": str(n), name: text}, ensure_ascii=False) for n, text in enumerate(texts))
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def plain() -> object:
        wanted, given = (
            [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in (items, answers)
        )
        return [korquad_scores(a["text"], w["answer"]) for a, w in zip(given, wanted, strict=True)]

    return (
        f"korquad-2, `score` of {len(golds):,} answers / a plain loop",
        lambda: score_command("korquad-2", items, answers),
        plain,
    )


def board_reading(folder: Path) -> Row:
    """Compare a cold start of the board from its index with reading every record."""
    store = open_store(str(folder / "bench.git"))
    store.commit({r.path: r.to_bytes() for r in map(_result, range(RESULTS))}, store.head(), "results")
    changes, _ = reindexed(store, store.snapshot())
    store.commit(changes, store.head(), "index")
    snapshot = store.snapshot()
    bare = Snapshot(snapshot.head, {p: b for p, b in snapshot.files.items() if not p.startswith("index/")})
    return (
        f"board, {RESULTS:,} results: from the index / from the records",
        lambda: board_reader(store).read(snapshot),
        lambda: board_reader(store).read(bare),
    )


def _result(number: int) -> EvalResult:
    return EvalResult(
        request_key=f"{number:032x}",
        config=ResultConfig(model_name=f"bench/model-{number}", model_sha=f"{number:040x}", model_dtype="float32"),
        results={"ko-vqa": {"em": number % 100, "f1": number % 100}},
        headline="em",
        versions={"ko-vqa": "1"},
        n_samples={"ko-vqa": {"original": 1500, "effective": 1500}},
        date=1_760_000_000 + 3600 * number,
        dataset=Dataset(id="ko-vqa", revision=None, split="test", n=1500),
        provenance=Provenance(kind="verified", worker="bench"),
    )


def _seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


PARTS: dict[str, Callable[[], None]] = {
    "scoring": scoring,
    "engines": engines,
    "overhead": overhead,
    "board": board,
    "scale": scale,
    "statistics": statistics,
    "fresh": fresh,
    "memory": memory,
}


if __name__ == "__main__":
    main()
