"""Put new scores into a result's public record, and into its stored answers."""

from collections.abc import Iterable, Sequence

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Item, Score
from evaluator.core.errors import Details
from evaluator.results.build_result import round_measures, scored_fields
from submissions.records.result import Earlier, EvalResult
from submissions.store.base import Store


def details_with_scores(details: Details, scores: Iterable[Score]) -> Details:
    """Return stored answers with their new scores. Items that have no score any more are left out."""
    by_id = {row["id"]: row for row in details}
    return [{**by_id[score.id], **score.values} for score in scores]


def result_with_scores(
    before: EvalResult,
    benchmark: Benchmark,
    items: Sequence[Item],
    scores: Sequence[Score],
    version: str,
    store: Store,  # only read for the time
) -> EvalResult:
    """Return a result with its new scores and without its comparisons. Its old scores are kept in `earlier`.

    A result that only gains a metric keeps its version, so nothing is added to `earlier`.
    """
    name = benchmark.name
    earlier = list(before.earlier)
    if before.versions[name] != version:
        earlier.append(Earlier(version=before.versions[name], scores=before.results[name], until=store.now()))
    asked = before.n_samples[name].get("original")
    after = before.evolve(
        **scored_fields(benchmark, items, scores),
        versions={name: version},
        dataset=before.dataset.evolve(n=len(items)).model_dump(),
        n_samples={name: {"original": asked, "effective": len(items)}},
        reasoning=_reasoning(before, benchmark, scores),
        earlier=[entry.model_dump() for entry in earlier],
        paired=[],  # of the old scores; `with_pairs` adds new ones
    )
    # Custom code could encode information in digits (`round_measures`), and the tokens per correct answer are new.
    return round_measures(after) if before.config.custom_code else after


def _reasoning(before: EvalResult, benchmark: Benchmark, scores: Sequence[Score]) -> dict[str, object] | None:
    """Return the lengths of reasoning with new tokens per correct answer, or None if the model does not reason.

    The tokens of single answers are not stored, so the tokens per correct answer are computed from their published mean per
    answer: mean × items / correct items. That is what `build_result` computes from the sum of all tokens, because the
    number of answers per item cancels out.
    """
    if before.reasoning is None:
        return None
    right = round(sum(score.values[benchmark.item_metric.name] for score in scores))
    per_right = round(before.reasoning.tokens_mean * len(scores) / right, 1) if right else None
    return before.reasoning.evolve(tokens_per_right=per_right).model_dump()
