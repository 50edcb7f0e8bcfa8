"""Define the base class of benchmarks.

A benchmark has a card, metrics, items, a prompt and a scoring rule, all in one file of this folder. `kinds` has what
benchmarks of one kind share. docs/benchmark-reference.md lists what a benchmark may declare and override.

An evaluation calls `load` (a folder → items), `prompts` (an item → what a model is asked), `score` (items and answers →
scores) and `aggregate` (scores → metrics). An import calls `source_rows` and `convert_row` (the makers' files → the folder).

`score` calls `score_each`, which calls `score_item` for each item, which calls `score_text`. A subclass overrides the last of
them that suits its rule. `score_flat` is for `python -m evaluator score` and the import, which have one answer for each item.
It leaves out `compared`, the metrics for which `score` compares items with each other.

Private test sets and samples use the same schema (`rows`). Columns: `id`, `question`, `answer`, `images` (list of paths)
or `page` (path), `choices` (list), and one column for each breakdown axis of the benchmark. A benchmark may define more
columns.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evaluator.benchmarks.card import Card
from evaluator.benchmarks.columns import Columns
from evaluator.benchmarks.metrics import Metric
from evaluator.benchmarks.rows import (
    Row,
    build_items,
    check_surrogates,
    checked_text,
    images_in,
    item_rows,
    items_file,
    nonempty_text,
    text_in,
)
from evaluator.benchmarks.source_files import ImageFolder
from evaluator.benchmarks.source_rows import TABLES, SourceRow, table_rows
from evaluator.core.data_types import Answer, Item, Prompt, Score
from submissions.records.options import MAX_REASONING_TOKENS, Inputs

if TYPE_CHECKING:  # it draws figures with libraries that the board does not load
    from evaluator.fresh.samples import Sample

QUESTION = "{question}"  # placeholder for the item's question in `Benchmark.prompt`


class Benchmark:
    """Base class of all benchmarks. Subclasses define the card, the metrics, the prompt and the scoring rule."""

    name: str
    version: str  # changes whenever items, prompts or scoring change: scores of two versions are never compared
    inputs: Inputs = "image"  # what a model must be able to read
    min_context: int = 2048  # tokens that a question, its image and the answer need; pages are read in windows
    metrics: tuple[Metric, ...]  # in the order of the board's columns
    card: Card
    prompt = QUESTION  # without this placeholder, items have no question
    columns: Columns | None = None  # of the tables that its makers publish
    max_new_tokens = 1024  # per answer
    # Tokens of a typical question, for `evaluator estimate`: its prompt with images or page, and its answer.
    prompt_tokens, answer_tokens = 2500, 20
    source_tables: tuple[str, ...] = TABLES  # types of files that its makers publish it in
    examples = 0  # few-shot examples in the prompt
    drawn = False  # whether its test set is generated from the operator's seed, see evaluator.fresh
    # "single": questions are asked one at a time; "total": time of the whole run / questions.
    latency_protocol: Literal["single", "total"] = "single"

    def ranks(self, split: str, decoding: str | None, answer_budget: int | None, reasoning_budget: int | None) -> bool:
        """Return whether results on this split, with this decoding and these budgets of new tokens, may be ranked.

        All ranked models must have the same conditions. None means unknown, as in reported results, and is accepted.
        """
        if split != self.card.split:
            return False
        if decoding == "repository":  # the settings of the model's repository, which may include sampling
            return False
        return answer_budget in (None, self.max_new_tokens) and reasoning_budget in (None, MAX_REASONING_TOKENS)

    def load(self, source: Path) -> list[Item]:
        """Load all items of a folder in the documented schema.

        Raises DataError if a row is invalid. The message names the file and the row.
        """
        file = items_file(source)
        rows = ((f"{file}, row {number}", partial(self.item, row, source)) for number, row in item_rows(file))
        return self.complete(build_items(file, rows))

    def complete(self, items: list[Item]) -> list[Item]:
        """Return the items with data computed from the whole set. Most benchmarks need none."""
        return items

    def item(self, row: Row, folder: Path) -> Item:
        """Build an item from a row of the documented schema, whose images are in `folder`.

        Items with the same first image are a cluster: they are not independent. Raises KeyError or ValueError if the row is
        invalid.
        """
        inputs = self.scoring_inputs(row)
        return Item(
            id=text_in(row, "id"),
            question=text_in(row, "question") if QUESTION in self.prompt else "",
            answer=self.reference(row, inputs),
            images=images_in(folder, row),
            buckets=self.buckets(row),
            cluster=row["images"][0],
            extra=inputs,
        )

    def reference(self, row: Row, inputs: Mapping[str, Any]) -> str:
        """Return the gold answer of a row. `inputs` are its `scoring_inputs`."""
        return text_in(row, "answer")

    def buckets(self, row: Row) -> dict[str, str]:
        """Return the bucket of a row on each breakdown axis."""
        return {axis.name: text_in(row, axis.name) for axis in self.card.axes}

    def scoring_inputs(self, row: Row) -> dict[str, Any]:
        """Return what the scoring rule needs of a row beside its answer. Raises KeyError or ValueError if it is invalid."""
        return {}

    def item_to_score(self, row: Row) -> Item:
        """Build an item for `python -m evaluator score`: its id, its gold answer and what else the scorer needs.

        A method that overrides this must keep its rule: a row of the documented schema has the same scores as in an
        evaluation. The command then calls `complete` with all items of the file, as `load` does.

        Raises ValueError if a field is missing or invalid.
        """
        question = row.get("question", "")
        if not isinstance(question, str):
            raise ValueError("'question' must be text")
        answer = nonempty_text(row, "answer")
        check_surrogates("answer", answer)  # KorQuAD's scorer, for example, cannot encode an unpaired surrogate
        return Item(nonempty_text(row, "id"), question, answer, extra=self.scoring_inputs(row))

    def unlike_evaluation(self, items: Sequence[Item]) -> str | None:
        """Return how the scores of `python -m evaluator score` may differ from those of an evaluation, or None.

        The command shows the text to its user.
        """
        return None

    def source_rows(self, source: Path) -> Iterator[SourceRow]:
        """Return the rows of the test set as its makers publish it.

        Iterating raises DataError if a file cannot be read. The message names the file.
        """
        return table_rows(source, self.source_tables)

    def convert_row(self, source: SourceRow, images: ImageFolder) -> Row:
        """Convert a published row to the documented schema. The import writes its pictures and page to files.

        Unlike in the schema, the column `images` has a list of Picture, and `page` the HTML itself. `images` is the makers'
        folder, in which pictures are found by name. Raises KeyError or ValueError if the row cannot be used.
        """
        if self.columns is None:
            raise NotImplementedError
        return self.columns.convert(source, images)

    def invented_row(self, sample: "Sample", number: int) -> Row | None:
        """Return a row about an invented figure for the sample set, without id, images and axes.

        `sample` is the figure, `number` that of the row. Return None if the figure does not suit the benchmark. The kinds of
        tasks define this method; for all others it raises NotImplementedError.
        """
        raise NotImplementedError(f"{self.name} is of no kind that invents rows: make its samples by hand")

    def gold_output(self, item: Item) -> str | None:
        """Return an output that gives the gold answer, or None if no single output is right for the item."""
        return item.answer

    def corrected_item(self, item: Item, answer: str) -> Item:
        """Return an item with another gold answer, for an erratum. What a model is asked stays the same.

        Raises ValueError if the item cannot have that answer.
        """
        if item.choices:
            raise ValueError("it has choices, whose right one cannot be changed: withdraw the item")
        corrected = replace(item, answer=checked_text("answer", answer))
        # A later erratum may restore the set's own answer. It is accepted as it is, even if the scoring rule does not accept it.
        if corrected == item:
            return item
        output = self.gold_output(corrected)
        if output is not None and not self.accepts(corrected, output):
            raise ValueError("the scoring rule does not accept that answer")
        return corrected

    def accepts(self, item: Item, output: str) -> bool:
        """Return whether the rule that ranks models (`item_metric`) counts an output as right."""
        (score,) = self.score_flat([item], [Answer(item.id, output, "ok", seconds=0.0)])
        return score.values[self.item_metric.name] == 1

    def prompts(self, item: Item) -> list[Prompt]:
        """Return the prompts for an item. Most benchmarks have one per item."""
        text = fill(self.prompt, question=item.question)
        return [Prompt(item.id, text, item.images, item.links, item.crops, item.question, item.page)]

    def score(self, items: Sequence[Item], answers: Sequence[Sequence[Answer]]) -> list[Score]:
        """Return the score of each item. The answers of an item are in the order of its prompts."""
        return self.compared(items, self.score_each(items, answers))

    def score_each(self, items: Sequence[Item], answers: Sequence[Sequence[Answer]]) -> list[Score]:
        """Return the score of each item by itself, without the metrics that `compared` adds."""
        return [self.score_item(item, item_answers) for item, item_answers in zip(items, answers, strict=True)]

    def compared(self, items: Sequence[Item], scores: Sequence[Score]) -> list[Score]:
        """Return the scores with the metrics that compare items of the set with each other. Most benchmarks have none."""
        return list(scores)

    def score_item(self, item: Item, answers: Sequence[Answer]) -> Score:
        """Return the score of one item. By default it has one answer, which `score_text` judges."""
        (answer,) = answers
        return Score(item.id, self.score_text(item, answer.text), answer.status)

    def score_text(self, item: Item, text: str) -> dict[str, float]:
        """Return each metric's value for one output, from 0 to 1.

        A subclass defines this method, unless it defines `score_item` or `score_each`.
        """
        raise NotImplementedError

    def score_flat(self, items: Sequence[Item], answers: Sequence[Answer]) -> list[Score]:
        """Return the score of each item by itself from one answer, even if an evaluation asks the item several times.

        `python -m evaluator score` and the import have one answer for each item.
        """
        return self.score_each(items, [[answer] for answer in answers])

    def aggregate(self, scores: Sequence[Score]) -> dict[str, float]:
        """Return each metric over all items as a fraction of 1. Metrics that do not apply are left out."""
        values = {metric.name: metric.aggregate(scores, metric.name) for metric in self.metrics}
        return {name: value for name, value in values.items() if value is not None}

    def metric(self, name: str) -> Metric:
        """Return a metric by name. Raises KeyError if the benchmark does not have it."""
        return {metric.name: metric for metric in self.metrics}[name]

    # `submissions` does not know `Card` and reads these two from the benchmark (`BenchmarkInfo` in records/registry.py).

    @property
    def data_stays(self) -> bool:
        """Whether the terms of the test set forbid taking it abroad."""
        return self.card.data_stays

    @property
    def can_be_guessed(self) -> bool:
        """Whether many results of one person could reveal the answers of its private test set."""
        # The answers of a coarse set are so short that they can be tried out, so its scores are rounded.
        return self.card.coarse is not None

    @property
    def item_metric(self) -> Metric:
        """The metric by which single items are judged: the headline if it is a mean over items, else the first that is."""
        return next(metric for metric in (self.metric(self.card.headline), *self.metrics) if metric.is_mean)

    def histogram(self, scores: Sequence[Score]) -> dict[str, int]:
        """Return how often each kind of answer was given; empty unless the card has a histogram."""
        return {}


def fill(template: str, **values: str) -> str:
    """Return a prompt with the values in place of `{name}`. Other braces, and braces in values, stay as they are.

    `fill("{question} {x}", question="{x}?")` is "{x}? {x}". This is why `str.format` is not used.
    """
    placeholders = "|".join(rf"\{{{name}\}}" for name in values)
    return re.sub(placeholders, lambda found: values[found[0].strip("{}")], template)
