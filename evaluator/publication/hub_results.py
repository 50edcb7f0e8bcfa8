"""Offer a result to the model's repository on the Hub, if the model's owner submitted it and asked for that.

The offer is a pull request with `.eval_results/*.yaml` (https://huggingface.co/docs/hub/eval-results). If the owner merges
it, the model's page shows the scores.
"""

from datetime import UTC, datetime

import yaml
from huggingface_hub import CommitOperationAdd, EvalResultEntry, HfApi, eval_result_entries_to_yaml

from evaluator.benchmarks import BENCHMARKS
from evaluator.datasets.eval_yaml import hub_metrics
from submissions.config.settings import Settings
from submissions.queue.pseudonyms import Pseudonyms
from submissions.records.errata import version_without
from submissions.records.request import EvalRequest
from submissions.records.result import EvalResult
from submissions.store.hub_api import hub_endpoint


def offer_result(request: EvalRequest, result: EvalResult, settings: Settings) -> str | None:
    """Open a pull request with the result on the model's repository and return its URL.

    Return None if the submitter did not ask for it or does not belong to the model's owner, the result has no rank, or this
    installation cannot make such an offer: it needs a Hub token, a public store to link to, and the benchmark's dataset on
    the Hub (HANNUN_EVAL_DATASETS).
    Raises httpx2.HTTPError or StoreError if the Hub or the store fails.
    """
    dataset = settings.eval_datasets.get(request.benchmark)
    if not (request.share and dataset and settings.hub_token_value and settings.store.startswith("hf://")):
        return None
    if not has_rank(result) or not Pseudonyms(settings).belongs(request):
        return None
    name = "-".join(["hannun", request.benchmark, *variant(result)])  # hannun-ko-vqa-bfloat16-greedy
    path = f".eval_results/{name}.yaml"
    pull_request = HfApi(endpoint=hub_endpoint(), token=settings.hub_token_value).create_commit(
        request.model_id,
        [CommitOperationAdd(path, results_yaml(result, dataset, settings.store).encode())],
        commit_message=f"Add {request.benchmark} results measured by Hannun",
        create_pr=True,
    )
    return pull_request.pr_url


def has_rank(result: EvalResult) -> bool:
    """Return whether a measured result has a rank.

    It needs the ranked split, the current benchmark version, the headline metric and the standard decoding. The board
    decides the same for its rows (`leaderboard/data/ranking.py`), where a result may also be retired or a reference.
    """
    benchmark = BENCHMARKS[result.benchmark]
    generation = result.generation
    decoding = generation.decoding if generation else None
    answer_budget = generation.max_answer_tokens if generation else None
    reasoning_budget = generation.max_reasoning_tokens if generation else None
    return (
        benchmark.ranks(result.dataset.split, decoding, answer_budget, reasoning_budget)
        and version_without(result.versions[benchmark.name]) == benchmark.version
        and result.results[benchmark.name].get(benchmark.card.headline) is not None
    )


def variant(result: EvalResult) -> list[str]:
    """Return how a model was run: `["thinking-on", "bfloat16", "greedy"]`.

    Each way has a file of its own. A result of a newer revision replaces that of an older one.
    """
    config = result.config
    decoding = result.generation.decoding if result.generation else None
    thinking = f"thinking-{config.thinking}" if config.thinking else None
    return [option for option in (thinking, config.model_dtype, decoding) if option]


def results_yaml(result: EvalResult, dataset: str, store: str) -> str:
    """Return a result in the Hub's format, each value with a link to the record."""
    name = result.benchmark
    card = BENCHMARKS[result.benchmark].card
    repo = store.removeprefix("hf://").strip("/")
    entries = [
        EvalResultEntry(
            dataset_id=dataset,
            task_id=f"{card.hub_task}_{metric}",
            value=result.results[name][metric],
            date=datetime.fromtimestamp(result.date, UTC).isoformat() if result.date else None,
            source_url=f"{hub_endpoint()}/{repo}/blob/main/{result.path}",
            source_name="Hannun",
            notes=", ".join(variant(result)) or None,
        )
        for metric in hub_metrics(name)
        if result.results[name].get(metric) is not None
    ]
    text: str = yaml.safe_dump(eval_result_entries_to_yaml(entries), allow_unicode=True, sort_keys=False)
    return text
