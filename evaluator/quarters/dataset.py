"""Write the books of a revealed quarter as a dataset that other programs read, and upload it to the Hub.

`ko-fresh reveal` writes it, and `ko-fresh verify` writes it again to compare the files, so the same books must always give
the same files.

Besides the files of `evaluator.quarters.books` it has

- `README.md`: the dataset card, with each score as published and as recomputed from the answers,
- `data/items.parquet`: one row per item, with its pictures, prompt and answer, for the Hub's viewer and for `eval.yaml`,
- `eval.yaml`, with which `inspect eval hf/OWNER/NAME` runs (https://huggingface.co/docs/hub/eval-results),
- `croissant.json` (https://docs.mlcommons.org/croissant/),
- `every_eval_ever/`: each result and its answers as Every Eval Ever writes them,
- `inspect/KEY.json`: each result and its answers as a log of Inspect.
"""

import hashlib
import json
import uuid
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from httpx2 import HTTPError
from huggingface_hub.errors import HfHubHTTPError

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.ko_fresh import gold_answer
from evaluator.core.data_types import Item, Prompt, Score
from evaluator.core.errors import DataError
from evaluator.datasets.croissant import croissant, file_object, record_set
from evaluator.formats.every_eval_ever import instance_row, to_every_eval_ever
from evaluator.formats.inspect_log import sample, to_inspect
from evaluator.quarters.books import ANSWERS, SET, Books
from evaluator.quarters.card import dataset_card
from evaluator.results.answer_rows import AnswerRow
from submissions.records.result import EvalResult
from submissions.store.copy import HUB_FILE
from submissions.store.hub_api import HubApi, hub_endpoint
from submissions.texts.errors import StoreError

LICENSE_URL = "https://creativecommons.org/publicdomain/zero/1.0/"
ITEMS = "data/items.parquet"
# Finds the answer in the last line that begins with 정답, without Markdown's asterisks: "풀이…\n정답: **5건**" -> "5건".
# It is for Inspect's own scorers, which compare texts and know no units and tolerances. `(?s:.*)` is greedy, so that the
# last such line is found.
FINAL_LINE = r"(?s:.*)(?m:^)[ \t*]*정답\**\s*[:：][\s*]*([^\n]*?)[ \t*]*(?m:$)"


class _ItemAnswer(NamedTuple):
    """A model's answer to an item, with all that the formats of other programs show of it."""

    item: Item
    prompt: Prompt
    picture_urls: list[str]
    row: AnswerRow
    score: Score


def write_dataset(
    books: Books, folder: Path, dataset: str, on_progress: Callable[[int, int], None] = lambda *_: None
) -> None:
    """Write the books and everything else to a folder that exists and is empty.

    `dataset` is OWNER/NAME of the repository on the Hub, to which the files link. Raises DataError if the seed is not
    revealed or an answer is missing.
    """
    if books.commitment.revealed_at is None:
        raise DataError(f"{books.commitment.quarter} is not revealed yet")
    books.save(folder)
    (folder / "data").mkdir()
    prompts = [books.benchmark.prompts(item)[0] for item in books.items]  # each item of ko-fresh has one prompt
    picture_urls = [[_picture_url(dataset, image) for image in item.images] for item in books.items]
    _write_items(books, prompts, picture_urls, folder / ITEMS)
    description = _croissant(books, folder, dataset, books.commitment.revealed_at.date())
    (folder / "croissant.json").write_text(_json(description), encoding="utf-8")
    (folder / "eval.yaml").write_text(_eval_yaml(books), encoding="utf-8")
    for number, result in enumerate(books.results, 1):
        row_by_id = {row.id: row for row in books.answers[result.request_key]}
        scores = books.scores_of(result.request_key)
        answers = [
            _ItemAnswer(item, prompt, urls, row_by_id[item.id], score)
            for item, prompt, urls, score in zip(books.items, prompts, picture_urls, scores, strict=True)
        ]
        _write_every_eval_ever(result, answers, folder / "every_eval_ever")
        _write_inspect_log(books, result, answers, folder / "inspect")
        on_progress(number, len(books.results))
    (folder / "README.md").write_text(dataset_card(books, dataset, ITEMS), encoding="utf-8")


def create_dataset(dataset: str, token: str | None) -> None:
    """Create an empty public dataset on the Hub, or take one that an earlier try created.

    It is called before the seed is published, because that cannot be undone. Raises DataError if the dataset has files
    already, and StoreError if the token may not create it or the Hub fails.
    """
    api = HubApi(lambda: token)
    try:
        api.create_repo(dataset, repo_type="dataset", private=False, exist_ok=True)
        files = set(api.list_repo_files(dataset, repo_type="dataset")) - {HUB_FILE}
    except HfHubHTTPError as error:
        status = error.response.status_code
        raise StoreError(
            f"{dataset}: the Hub answers {status}, and nothing was revealed. Name a token in HANNUN_HUB_TOKEN that may create "
            "datasets there, or leave out --push"
        ) from error
    except HTTPError as error:
        raise StoreError(f"{dataset}: {type(error).__name__}, and nothing was revealed; try again later") from error
    if files:
        raise DataError(f"the dataset {dataset} exists already, and nothing in it was changed")


def upload(folder: Path, dataset: str, token: str | None) -> str:
    """Upload a folder to a dataset and return its URL. Raises StoreError, with the command to repeat, if the Hub fails."""
    api = HubApi(lambda: token)
    try:
        api.upload_folder(repo_id=dataset, repo_type="dataset", folder_path=folder, commit_message="Open the books")
    except HfHubHTTPError as error:
        raise StoreError(
            f"{dataset}: the Hub answers {error.response.status_code}. {_how_to_upload(folder, dataset)}"
        ) from error
    except (HTTPError, OSError, RuntimeError) as error:  # RuntimeError: a large file was not uploaded
        raise StoreError(f"{dataset}: {type(error).__name__}. {_how_to_upload(folder, dataset)}") from error
    return f"{api.endpoint}/datasets/{dataset}"


def _how_to_upload(folder: Path, dataset: str) -> str:
    """Return what to do if the upload has failed."""
    return f"The seed is public and {folder} is complete; upload it: hf upload {dataset} {folder} --repo-type dataset"


def _picture_url(dataset: str, image: Path) -> str:
    """Return the address of a picture in the dataset on the Hub."""
    return f"{hub_endpoint()}/datasets/{dataset}/resolve/main/{SET}/images/{image.name}"


def _target(books: Books, item: Item) -> str:
    """Return the gold answer as the scorers of other tools compare it: the letter of a choice, else without a tolerance.

    "347건 (±12건)" -> "347건"
    """
    return books.benchmark.gold_output(item) or item.answer


def _croissant(books: Books, folder: Path, dataset: str, published: date) -> dict[str, Any]:
    """Return the Croissant description of the set and of the table of answers, whose files are in `folder` already."""
    url = f"{hub_endpoint()}/datasets/{dataset}"
    description = croissant(books.benchmark.name, folder / SET, LICENSE_URL, url, published, f"{SET}/")
    description["distribution"].append(file_object(folder / ANSWERS, ANSWERS))
    row = {"key": "", "model": "", "id": "", "answer": "", "status": "", "reasoned": False}  # it shows names and types
    answers = record_set("answers", "One row an answer of a model to an item.", ANSWERS, row)
    description["recordSet"].append(answers)
    return description


def _write_items(books: Books, prompts: list[Prompt], picture_urls: list[list[str]], file: Path) -> None:
    """Write one row per item, with its pictures for the Hub's viewer and its prompt as messages for Inspect."""
    from datasets import Dataset, Features, Image, List, Value

    content_part = {"type": Value("string"), "text": Value("string"), "image": Value("string")}
    columns = ("id", "question", "answer", "target", *books.items[0].buckets)
    features = Features(
        {
            **{name: Value("string") for name in columns},
            "choices": List(Value("string")),
            "images": List(Image()),
            "messages": List({"role": Value("string"), "content": List(content_part)}),
        }
    )
    rows = [
        {
            "id": item.id,
            "question": item.question,
            "answer": item.answer,
            "target": _target(books, item),
            "choices": list(item.choices),
            "images": list(map(_embedded, item.images)),
            "messages": [{"role": "user", "content": _content(prompt.text, urls)}],
            **item.buckets,
        }
        for item, prompt, urls in zip(books.items, prompts, picture_urls, strict=True)
    ]
    Dataset.from_list(rows, features=features).to_parquet(file)


def _content(text: str, picture_urls: list[str]) -> list[dict[str, str | None]]:
    """Return the content of a message: the pictures, then the text. In Parquet all parts need the same fields."""
    images: list[dict[str, str | None]] = [{"type": "image", "text": None, "image": url} for url in picture_urls]
    return [*images, {"type": "text", "text": text, "image": None}]


def _embedded(image: Path) -> dict[str, Any]:
    """Return a picture as the `Image` feature of `datasets` stores it, with its bytes in the Parquet file."""
    return {"bytes": image.read_bytes(), "path": image.name}


def _eval_yaml(books: Books) -> str:
    """Return the task with which `inspect eval hf/OWNER/NAME` asks the items and compares the final lines."""
    card = books.benchmark.card
    quarter = books.commitment.quarter
    task = {
        "id": f"{card.hub_task}_{quarter.lower()}",
        "config": "items",
        "split": "test",
        "field_spec": {"input": "messages", "target": "target", "metadata": ["id", *books.items[0].buckets]},
        "solvers": [{"name": "generate"}],
        "scorers": [{"name": "pattern", "args": {"pattern": FINAL_LINE}}],
    }
    content = {
        "name": f"{card.title} {quarter}",
        "description": card.summary.en,
        "evaluation_framework": "inspect-ai",
        "tasks": [task],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)


def _write_every_eval_ever(result: EvalResult, answers: Sequence[_ItemAnswer], folder: Path) -> None:
    """Write a result and its answers to the files that the format prescribes, named by a UUID of the result's key.

    They are `data/BENCHMARK/OWNER/NAME/UUID.json` and, with one line per answer, `UUID_samples.jsonl` beside it.
    """
    aggregate = to_every_eval_ever(result)
    metric = BENCHMARKS[result.benchmark].item_metric.name
    lines: list[str] = []
    for answer in answers:
        row = instance_row(
            aggregate,
            f"{result.request_key}/{metric}",
            answer.item.id,
            answer.prompt.text,
            gold_answer(answer.item),  # with its tolerance, unlike `_target`
            answer.row.answer,
            answer.score.values[metric],
            answer.picture_urls,
        )
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    content = "".join(lines).encode()
    owner, _, name = result.config.model_name.rpartition("/")  # `open_books` accepts only names without further slashes
    file_id = uuid.UUID(bytes=hashlib.sha256(result.request_key.encode()).digest()[:16], version=4)
    place = Path("data") / result.benchmark / (owner or "unknown") / name
    samples = place / f"{file_id}_samples.jsonl"
    (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / samples).write_bytes(content)
    aggregate["detailed_evaluation_results"] = {
        "format": "jsonl",
        "file_path": samples.as_posix(),
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(content).hexdigest(),
        "total_rows": len(answers),
    }
    (folder / place / f"{file_id}.json").write_text(_json(aggregate), encoding="utf-8")


def _write_inspect_log(books: Books, result: EvalResult, answers: Sequence[_ItemAnswer], folder: Path) -> None:
    """Write a result and its answers as a log of Inspect, KEY.json."""
    metric = books.benchmark.item_metric.name
    samples = [
        sample(
            result.benchmark,
            answer.item.id,
            answer.prompt.text,
            answer.picture_urls,
            _target(books, answer.item),
            answer.row.answer,
            answer.score.values[metric],
        )
        for answer in answers
    ]
    folder.mkdir(exist_ok=True)
    log = {**to_inspect(result), "samples": samples}
    (folder / f"{result.request_key}.json").write_text(_json(log), encoding="utf-8")


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
