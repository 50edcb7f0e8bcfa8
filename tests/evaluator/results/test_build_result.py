"""Test the numbers of a result, from answers with known scores and times."""

import random
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Answer, Item
from evaluator.datasets.source import Source
from evaluator.job.folder import Job
from evaluator.results.build_result import build_result, round_measures
from evaluator.results.score_answers import ScoredAnswers
from evaluator.results.task import Task, options_of
from scripts.support.records import Make
from submissions.records.index_rows import board_row
from submissions.records.result import BatchInvariance, Dataset, EvalResult

SECONDS = [0.1, 0.2, 0.3, 0.4, 2.0]  # per answer of the whole run
SINGLE = [0.5, 0.6, 1.0, 0.7]  # per answer of the questions asked one at a time


def result_of(
    make_request: Make,
    folder: Path,
    benchmark: str,
    items: list[Item],
    texts: list[str],
    single: list[float],
    revision: str = "main",
    invariance: BatchInvariance | None = None,
) -> EvalResult:
    request = make_request(benchmark=benchmark, engine="chat", requested_revision=revision)
    bench = BENCHMARKS[benchmark]
    options = options_of(request, folder / "model", bench)
    (folder / "model").mkdir(parents=True)
    task = Task(request, options, bench, Source(folder, "x", "test"))
    prompts = [prompt for item in items for prompt in bench.prompts(item)]
    job = Job.prepare(folder / "job", options, prompts, {p.id for p in prompts[: len(single)]})
    answers = [Answer(job.ids[p.id], t, "ok", s) for p, t, s in zip(prompts, texts, cycle(SECONDS), strict=False)]
    alone = [Answer(job.ids[p.id], t, "ok", s) for p, t, s in zip(prompts, texts, single, strict=False)]
    job.latency_file.write_text("".join(map(job.row, alone)), encoding="utf-8")
    job.write_environment({"hardware": "abacus", "calibration_ms": 2.5, "batch_size": 4, "params": 7, "python": "3.11"})
    scores = bench.score(items, [[answer] for answer in answers])
    dataset = Dataset(id="x", revision=None, split="test", n=len(items))
    scored = ScoredAnswers({a.id: a for a in answers}, job.latency_answers(), scores, None)
    return build_result(task, items, scored, dataset, job.environment(), invariance, None)


def vqa_items() -> list[Item]:
    return [
        Item(str(n), "얼마?", f"{n + 10}억", buckets={"domain": "가" if n < 2 else "나"}, cluster=str(n))
        for n in range(5)
    ]


@pytest.mark.parametrize(("asked", "recorded"), [("main", None), ("v1.0", "v1.0")])
def test_result_records_requested_revision(
    make_request: Make, tmp_path: Path, asked: str, recorded: str | None
) -> None:
    result = result_of(make_request, tmp_path, "ko-vqa", vqa_items(), ["10억"] * 5, SINGLE, asked)
    assert result.config.requested_revision == recorded


def test_result_has_scores_latency_and_breakdown(make_request: Make, tmp_path: Path) -> None:
    texts = ["10억", "99억", "12억", "13억", "98억"]
    result = result_of(make_request, tmp_path, "ko-vqa", vqa_items(), texts, SINGLE)
    scores = result.results["ko-vqa"]
    assert scores["em"] == 60.0 and scores["f1"] == 60.0 and scores["em_strict"] == 60.0
    # The sample's standard deviation of 1, 0, 1, 1, 0 over the root of 5.
    assert result.standard_errors["em"] == pytest.approx(100 * 0.3**0.5 / 5**0.5, abs=1e-4)
    assert result.intervals["em"] == pytest.approx((23.07, 88.24), abs=0.01)  # Wilson, 3 of 5
    domains = {k: (b.n, b.scores["em"]) for k, b in result.breakdown["domain"].items()}
    assert domains == {"가": (2, 50.0), "나": (3, 66.6667)}
    assert result.total_evaluation_time_seconds == 3.0
    latency = result.latency
    assert latency and (latency.protocol, latency.n, latency.hardware) == ("one at a time", 4, "abacus")
    assert (latency.mean_ms, latency.p50_ms, latency.p95_ms, latency.calibration_ms) == (700.0, 650.0, 1000.0, 2.5)
    assert result.answers and result.answers.ok == 5
    assert result.environment == {"python": "3.11"}, "a remote engine reports no local library"
    assert (result.config.params, result.config.batch_size, result.config.max_new_tokens) == (7, 4, 1024)


def test_latency_without_samples_uses_whole_run(make_request: Make, tmp_path: Path) -> None:
    result = result_of(make_request, tmp_path, "ko-vqa", vqa_items(), ["x"] * 5, [])
    assert result.latency and (result.latency.protocol, result.latency.n) == ("total/questions", 5)
    assert (result.latency.mean_ms, result.latency.p50_ms, result.latency.p95_ms) == (600.0, 300.0, 2000.0)


def test_latency_of_korquad_is_total_by_questions(make_request: Make, tmp_path: Path) -> None:
    items = [
        Item(str(n), "?", "답", page="<p>답</p>", buckets={"length": "short", "form": "table"}, cluster="p")
        for n in range(5)
    ]
    result = result_of(make_request, tmp_path, "korquad-2", items, ["답", "답", "x", "답", ""], SINGLE)
    latency = result.latency
    assert latency and (latency.protocol, latency.mean_ms) == ("total/questions", 600.0), "KorQuAD has a different rule"
    assert (latency.p50_ms, latency.p95_ms, latency.n) == (650.0, 1000.0, 4), (
        "percentiles are of the questions asked one at a time"
    )
    assert result.results["korquad-2"]["em"] == 60.0


def test_infochartqa_f1_scores_parts(make_request: Make, tmp_path: Path) -> None:
    golds = [(1, "287"), (41, "Gaon,Nuri"), (60, "North line"), (202, "B,D"), (71, "A1,B2,C3")]
    items = [
        Item(str(n), "?", gold, extra={"question_type_id": kind}, buckets={"question_type": str(kind)}, cluster=str(n))
        for n, (kind, gold) in enumerate(golds)
    ]
    texts = ["287", "Gaon,Dasom", "South", "B,C", "A1,B2"]
    result = result_of(make_request, tmp_path, "infochartqa", items, texts, SINGLE)
    assert {kind: (b.scores["em"], b.scores["f1"]) for kind, b in result.breakdown["question_type"].items()} == {
        "1": (100.0, 100.0),
        "41": (0.0, 50.0),  # one of two parts
        "60": (0.0, 0.0),
        "202": (0.0, 50.0),
        "71": (100.0, 100.0),  # EM compares up to the shorter list's end; F1 is at least EM
    }


def test_cost_leaves_out_questions_that_were_asked_again(make_request: Make, tmp_path: Path) -> None:
    items = vqa_items()
    once = result_of(make_request, tmp_path / "once", "ko-vqa", items, ["x"] * len(items), [])
    with_latency_sample = result_of(make_request, tmp_path / "again", "ko-vqa", items, ["x"] * len(items), SINGLE)
    assert with_latency_sample.cost == once.cost
    assert once.cost and once.cost.items == len(items)


def test_cost_of_an_item_stays_when_an_item_is_withdrawn(make_request: Make, tmp_path: Path) -> None:
    result = result_of(make_request, tmp_path, "ko-vqa", vqa_items(), ["x"] * 5, SINGLE)
    assert result.cost
    priced = result.evolve(cost={**result.cost.model_dump(), "completion_tokens": 50, "total": 0.01})
    withdrawn = priced.evolve(dataset={**result.dataset.model_dump(), "n": 4})
    for one in (priced, withdrawn):
        row = board_row(one, one.path, "0" * 40)
        assert (row.usd_per_1000, row.tokens_per_answer) == (2.0, 10.0)


def test_coarse_rounds_measures_of_custom_code(make_request: Make, tmp_path: Path) -> None:
    """Check rounding: custom code runs in the measured process and could hide a message in exact digits."""
    result = result_of(make_request, tmp_path, "ko-vqa", vqa_items(), ["x"] * 5, SINGLE)
    assert result.latency and result.cost
    exact = result.evolve(
        latency={**result.latency.model_dump(), "mean_ms": 123.456, "p50_ms": 0.98765, "p95_ms": 123456.789},
        cost={**result.cost.model_dump(), "prompt_tokens": 123456, "completion_tokens": 7, "device_seconds": 98.76},
        total_evaluation_time_seconds=98.765,
    )
    rough = round_measures(exact)
    assert rough.latency and (rough.latency.mean_ms, rough.latency.p50_ms, rough.latency.p95_ms) == (120, 0.99, 120000)
    assert rough.cost and (rough.cost.prompt_tokens, rough.cost.completion_tokens) == (120000, 7)
    assert (rough.cost.device_seconds, rough.total_evaluation_time_seconds, rough.inputs) == (99, 99, None)
    assert rough.results == exact.results and rough.intervals == exact.intervals


def _guesses(count: int) -> tuple[list[Item], list[str]]:
    """Guess with j other quantities for an F1 of 2 / (2 + j) each: an exact sum would reveal which items are right."""
    rng = random.Random(4)
    items = [Item(str(n), "값은?", f"{n + 1000}원", buckets={"domain": str(n // 100)}) for n in range(count)]
    texts: list[str] = []
    for n in range(count):
        others = n % 100
        if others > 11:
            texts.append("")
        else:
            first = n + 1000 if rng.random() < 0.5 else 7
            texts.append(f"{first}원 " + " ".join(f"{k + 50}원" for k in range(others)))
    return items, texts


def test_result_scores_are_in_steps_of_one_item(
    make_request: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = BENCHMARKS["ko-vqa"]
    monkeypatch.setattr(type(benchmark), "card", replace(benchmark.card, coarse=None))
    result = result_of(make_request, tmp_path, "ko-vqa", *_guesses(200), [])
    shares = [value for value in result.results["ko-vqa"].values() if value is not None]
    shares += [end for interval in result.intervals.values() for end in interval]
    assert all(round(share * 200 / 100, 6).is_integer() for share in shares)
    buckets = [bucket for axis in result.breakdown.values() for bucket in axis.values()]
    assert len(buckets) == 2
    assert all(round(value, 6).is_integer() for bucket in buckets for value in bucket.scores.values())


@pytest.mark.parametrize(("count", "parts"), [(200, 0), (600, 6)])
def test_results_of_guessable_set_are_coarse(make_request: Make, tmp_path: Path, count: int, parts: int) -> None:
    result = result_of(make_request, tmp_path, "ko-vqa", *_guesses(count), [])
    totals = result.results["ko-vqa"]
    language = {"in_korean"}  # it does not depend on the gold answers
    assert {*totals} == {"em_strict", "em", "f1", *language}
    assert totals["f1"] and totals["em"] is not None and totals["f1"] % 1 == 0 and totals["em"] % 1 == 0
    assert {*result.intervals} - language == {*result.standard_errors} - language == {"em_strict"}
    assert all(end % 1 == 0 for end in result.intervals["em_strict"])
    shown = [{*bucket.scores} - language for bucket in result.breakdown.get("domain", {}).values()]
    assert sum(map(len, shown)) == parts and all(names <= {"em_strict"} for names in shown)
    buckets = [bucket.scores.get("em_strict", 0.0) for bucket in result.breakdown.get("domain", {}).values()]
    assert all(score % 10 == 0 for score in buckets)


def test_changed_scores_of_guessable_set_are_not_published(make_request: Make, tmp_path: Path) -> None:
    """A model could answer a sample in one way in a batch and in another way alone."""
    changed = BatchInvariance(n=20, answers_changed=20, scores_changed=13)
    for count, published in ((99, 13), (200, None)):
        result = result_of(make_request, tmp_path / str(count), "ko-vqa", *_guesses(count), [], invariance=changed)
        assert result.batch_invariance == changed.evolve(scores_changed=published)
