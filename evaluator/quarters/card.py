"""Write the dataset card of a revealed quarter: README.md, as the Hub shows it."""

from evaluator.quarters.books import ANSWERS, ERRATA, SET, Books
from evaluator.results.build_result import scored_fields

# Filled by `dataset_card`. Double braces are braces of the YAML header.
CARD = """\
---
license: cc0-1.0
language: [ko]
task_categories: [visual-question-answering]
pretty_name: KO-FRESH {quarter}
configs:
- config_name: items
  default: true
  data_files: [{{split: test, path: {items}}}]
- config_name: answers
  data_files: [{{split: test, path: {answers}}}]
---
# KO-FRESH {quarter}

{n:,} questions about {pictures:,} invented Korean tables, reports, charts and maps, with the answers that models gave before
it was published ({results} results). The set was drawn from a seed whose hash was published before the first evaluation and which is
public since {revealed}. {chosen_by}{errata} **Do not rank models on it any more:** they may have been trained on it.

{quarter} 세트의 문항 {n:,}개와 이미지, 정답, 그리고 문항이 공개되기 전에 모델들이 낸 모든 답변(결과 {results}건)입니다. 이미 공개된 문항이므로 새 모델의 순위를 매기는 데 쓰지 마십시오.

| file | content |
|---|---|
| `{items}` | questions, pictures, prompts and gold answers |
| `{answers}` | every answer of every model: `key`, `model`, `id`, `answer`, `status`, `reasoned` |
| `{set_}/` | the set as it was drawn, with the hash `{sha256}` |
| `commitment.json` | what was published before the evaluations, and the seed |
| `results/KEY.json` | the public records; `answers_sha256` is the hash over a model's answers that was published with its scores |
| `every_eval_ever/`, `inspect/` | the same results and answers in the formats of Every Eval Ever and Inspect |

## Check every score

In a checkout of the board's code, with this dataset downloaded to `FOLDER`:

```
python -m evaluator ko-fresh verify FOLDER --out AGAIN
```

The command draws the set again from the seed, compares its hash and those of all answers, scores all answers again, compares all
scores, intervals and counts of the records, and writes the other files of this dataset again. With `--board ADDRESS` it also
compares the records and the commitment with those that a board has published.

| model | published EM | recomputed EM | 95 % interval |
|---|---:|---:|---:|
{rows}

## Run a model on it

`python -m evaluator run --data FOLDER/{set_}#{quarter} --benchmark ko-fresh --model OWNER/NAME --out OUT` scores like the
board. `inspect eval hf/{dataset}` runs the same prompts in Inspect, but compares the text after the last `정답:` with the
gold answer: it knows neither units (`3만 명` for `30,000명`) nor the tolerance of values read from charts, so its scores
are lower.

The pictures and questions are in the public domain. The answers are the output of the models and may be subject to their
licences.
"""


def dataset_card(books: Books, dataset: str, items: str) -> str:
    """Return the card, with a row per result: its published score, and the score and interval computed from its answers.

    `dataset` is OWNER/NAME on the Hub, `items` the path of the Parquet file with the items.
    """
    commitment = books.commitment
    metric = books.benchmark.item_metric.name
    errata = len(books.corrections.made)
    rows = []
    for result in books.results:
        fields = scored_fields(books.benchmark, books.items, books.scores_of(result.request_key))
        published = result.results[result.benchmark][metric]
        recomputed = fields["results"][result.benchmark][metric]
        low, high = fields["intervals"][metric]
        rows.append(f"| {result.config.model_name} | {published:.2f} | {recomputed:.2f} | {low:.1f}–{high:.1f} |")
    if commitment.beacon:
        chosen_by = f"Nobody could choose it: round {commitment.beacon.number} of drand's public randomness is part of the seed."
    else:
        chosen_by = "The operator chose it, because no public randomness is part of it."
    pictures = {image for item in books.items for image in item.images}
    return CARD.format(
        quarter=commitment.quarter,
        n=len(books.items),
        errata=f" Errata that are applied: {errata} (`{ERRATA}`)." if errata else "",
        pictures=len(pictures),
        results=len(books.results),
        revealed=commitment.revealed_at.date() if commitment.revealed_at else "",
        chosen_by=chosen_by,
        sha256=commitment.set_sha256,
        items=items,
        answers=ANSWERS,
        set_=SET,
        dataset=dataset,
        rows="\n".join(rows),
    )
