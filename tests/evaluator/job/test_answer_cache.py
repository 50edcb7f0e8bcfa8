"""Test the answer cache, keyed by all that an answer depends on, and the check for batch-dependent scores."""

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Answer, Prompt
from evaluator.datasets.source import Source
from evaluator.engines.options import EngineOptions
from evaluator.job.answer_cache import AnswerCache
from evaluator.job.folder import Job
from evaluator.results.evaluate import evaluate
from evaluator.results.score_answers import batch_invariance
from evaluator.results.task import Task, evenly_spaced, load_items, options_of
from scripts.support.engines import BatchVariantEngine, use_engine
from scripts.support.records import Make
from submissions.config.api_options import ApiOptions
from submissions.config.paths import SAMPLES

OPTIONS = EngineOptions(Path("m"), "float32", 16, revision="0" * 40)


def keep(cache: AnswerCache, job: Job) -> None:
    cache.keep(job, job.answers().values())


def fill(cache: AnswerCache, job: Job) -> int:
    return cache.fill(job, job.answers())


def _answered(job: Job, text: str = "답") -> Job:
    answers = (Answer(answer_id, f"{text} {prompt}", "ok", 0.5) for prompt, answer_id in job.ids.items())
    job.answers_file.write_text("".join(map(job.row, answers)), encoding="utf-8")
    return job


def _prompts(image: Path) -> list[Prompt]:
    return [Prompt(str(n), f"질문 {n}", (image,)) for n in range(4)]


@pytest.fixture
def image(tmp_path: Path) -> Path:
    Image.new("RGB", (9, 9)).save(tmp_path / "a.png")
    return tmp_path / "a.png"


def filled(folder: Path, prompts: list[Prompt]) -> AnswerCache:
    """Return a cache with answers to these prompts."""
    cache = AnswerCache(folder / "answers")
    keep(cache, _answered(Job.prepare(folder / "one", OPTIONS, prompts)))
    return cache


def test_cache_fills_later_job(tmp_path: Path, image: Path) -> None:
    cache = filled(tmp_path, _prompts(image))
    keep(cache, Job(tmp_path / "one"))
    (file,) = (tmp_path / "answers").glob("*.jsonl")
    assert file.read_text().count("\n") == 4
    more = [*_prompts(image), Prompt("new", "새 질문", (image,))]
    job = Job.prepare(tmp_path / "two", replace(OPTIONS, batch_size=3), [replace(p, id=f"other {p.id}") for p in more])
    assert fill(cache, job) == 4
    assert {k: a.text for k, a in job.answers().items()} == {job.ids[f"other {n}"]: f"답 {n}" for n in range(4)}
    assert fill(cache, job) == 0, "answers that the job has are not filled again"


@pytest.mark.parametrize(
    "change",
    [
        {"engine": "api"},
        {"revision": "1" * 40},
        {"precision": "float16"},
        {"max_new_tokens": 17},
        {"max_pixels": 1000},
        {"api": ApiOptions(base_url="https://a.example")},
    ],
)
def test_cache_misses_on_other_settings(tmp_path: Path, image: Path, change: dict[str, object]) -> None:
    cache = filled(tmp_path, _prompts(image))
    assert fill(cache, Job.prepare(tmp_path / "two", replace(OPTIONS, **change), _prompts(image))) == 0  # type: ignore[arg-type]


def test_job_keeps_answers_if_budget_changes(tmp_path: Path, image: Path) -> None:
    spec = replace(OPTIONS, api=ApiOptions(base_url="https://a.example", max_requests=5))
    _answered(Job.prepare(tmp_path / "one", spec, _prompts(image)))
    more = replace(spec, api=ApiOptions(base_url="https://a.example", max_requests=50))
    assert len(Job.prepare(tmp_path / "one", more, _prompts(image)).answers()) == 4


def test_cache_misses_on_changed_image_or_text(tmp_path: Path, image: Path) -> None:
    before = _prompts(image)
    cache = filled(tmp_path, before)
    Image.new("RGB", (9, 9), "red").save(image)
    assert fill(cache, Job.prepare(tmp_path / "two", OPTIONS, _prompts(image))) == 0
    Image.new("RGB", (9, 9)).save(image)
    reworded = [replace(p, text=p.text + "?") if p.id == "2" else p for p in before]
    assert fill(cache, Job.prepare(tmp_path / "three", OPTIONS, reworded)) == 3


def test_cache_repairs_torn_line(tmp_path: Path, image: Path) -> None:
    cache = filled(tmp_path, _prompts(image)[:3])
    (file,) = (tmp_path / "answers").glob("*.jsonl")
    file.write_bytes(file.read_bytes()[:-5])
    job = Job.prepare(tmp_path / "two", OPTIONS, _prompts(image))
    assert fill(cache, job) == 2
    keep(cache, _answered(job))
    assert fill(cache, Job.prepare(tmp_path / "three", OPTIONS, _prompts(image))) == 4


def test_cache_skips_infrastructure_failures(tmp_path: Path, image: Path) -> None:
    cache = AnswerCache(tmp_path / "answers")
    job = Job.prepare(tmp_path / "one", OPTIONS, _prompts(image)[:1])
    job.answers_file.write_text(job.row(Answer(job.ids["0"], "", "infra_error", 0.1)))
    keep(cache, job)
    assert fill(cache, Job.prepare(tmp_path / "two", OPTIONS, _prompts(image))) == 0


def test_batch_invariance_leaves_out_infrastructure_failures() -> None:
    """An answer that a server failed to give is no effect of batching, by which all answers would be asked again."""
    benchmark = BENCHMARKS["ko-vqa"]
    items = benchmark.load(SAMPLES / "ko-vqa")[:3]
    samples = [(item, [item.id]) for item in items]
    right = {item.id: Answer(item.id, item.answer, "ok", 0.1) for item in items}
    failed = {items[0].id: Answer(items[0].id, "", "infra_error", 0.1)}
    for in_batches, alone in ((right, right | failed), (right | failed, right)):
        outcome = batch_invariance(benchmark, samples, in_batches, alone)
        assert outcome and (outcome.n, outcome.scores_changed) == (2, 0)


def test_batch_invariance_counts_changed_scores() -> None:
    benchmark = BENCHMARKS["ko-vqa"]
    items = evenly_spaced(benchmark.load(SAMPLES / "ko-vqa"), 40)
    right = {item.id: Answer(item.id, item.answer, "ok", 0.1) for item in items}
    alone = right | {item.id: Answer(item.id, "모름", "ok", 0.1) for item in items[:2]}
    alone[items[-1].id] = Answer(items[-1].id, f"{items[-1].answer} ", "ok", 0.1)  # different text, same score
    outcome = batch_invariance(benchmark, [(item, [item.id]) for item in items], right, alone)
    assert outcome
    assert (outcome.n, outcome.answers_changed, outcome.scores_changed) == (40, 3, 2)


@pytest.mark.slow
@pytest.mark.integration
def test_evaluate_reduces_batch_size_if_scores_depend_on_it(
    make_request: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_engine(monkeypatch, BatchVariantEngine, "extractive")
    benchmark = BENCHMARKS["korquad-2"]
    source = Source(SAMPLES / "korquad-2", "x", "test")
    request = make_request(benchmark="korquad-2")
    (tmp_path / "model").mkdir()
    options = options_of(request, tmp_path / "model", benchmark)
    task = Task(request, options, benchmark, source, limit=12, sandbox=False, cache=tmp_path / "cache")
    items, dataset = load_items(task)
    result = evaluate(task, items, dataset, tmp_path / "job").result
    assert result.batch_invariance and result.batch_invariance.batches_tried == [64, 8]
    assert (result.config.batch_size, result.batch_invariance.scores_changed) == (1, 0)
    assert (result.results["korquad-2"]["f1"] or 0) > 0, "the answers of the batched passes were discarded"
    again = evaluate(task, items, dataset, tmp_path / "again").result
    assert again.results == result.results, "discarded answers are not cached for other runs"


def test_evenly_spaced_covers_all_items(image: Path) -> None:
    items = BENCHMARKS["ko-vqa"].load(SAMPLES / "ko-vqa")
    assert [items.index(item) for item in evenly_spaced(items, 5)] == [0, 9, 18, 27, 36]
    assert evenly_spaced(items, 100) == items and evenly_spaced(items, 0) == []
