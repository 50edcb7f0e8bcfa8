"""Memory rows of `make bench`: does KO-FRESH's memory metric find a model that was trained on published answers?

SmolLM2-135M is trained on the answers of a published set. Trained and untrained, it answers the questions without pictures,
which a model of text can do. Then 100 secret seeds each draw other numbers, for which the published answers are wrong.

The metric is how often an output gives one of the published answers, minus how often it gives one of as many answers that
were drawn in the same way and never published (held back, see `evaluator/fresh/memory.py`). A model counts as flagged if the
95 % interval of the metric is above 0.
"""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from rich.progress import track
from transformers import AutoModelForCausalLM, AutoTokenizer

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Answer, Item
from evaluator.fresh.memory import memory_figures
from evaluator.statistics.intervals import mean_interval
from scripts.demo import make_smollm2
from scripts.support.measured import Measured

BENCHMARK = BENCHMARKS["ko-fresh"]
PUBLISHED = (("planted", 300),)  # seed and number of questions of the published set
ALL = 10_000  # more items than the set has: none is left out
SEEDS = 100
EPOCHS, RATE, TRAINED_LAYERS = 10, 3e-4, 10
Outputs = Mapping[str, str]  # of a model, by question
LOWEST = -1.0  # of the metric


def memory_rows(folder: Path) -> Iterator[Measured]:
    """Yield the rows of the report. The model is made in a folder."""
    drawn = [items_of(f"seed {number}") for number in range(SEEDS)]
    published = {item.question: item.extra["published"][0] for items in drawn for item in items}
    make_smollm2(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    prompts = {question: _prompt(tokenizer, question) for question in published}
    untrained = outputs_of(tokenizer, model, prompts)
    train(tokenizer, model, [(prompts[question], gold) for question, gold in published.items()])
    trained = outputs_of(tokenizer, model, prompts)
    repeated = sum(is_right(gold, trained[question]) for question, gold in published.items()) / len(published)
    what = f"of {SEEDS} seeds, {len(published)} questions"
    yield Measured("published answers that a trained SmolLM2-135M repeats", f"{100 * repeated:.0f} %")
    yield Measured(f"  it is flagged, {what}", f"{sum(flagged(items, trained) for items in drawn)}", f"{SEEDS}")
    yield Measured(f"  untrained, {what}", f"{sum(flagged(items, untrained) for items in drawn)}", "≤ 5")
    rng = random.Random(1)
    found = sum(flagged(items, _guesses(items, rng)) for items in drawn)
    yield Measured("  a reader that gives any published or held-back answer", f"{found}", "≤ 5")


def items_of(seed: str) -> list[Item]:
    """Return the items that a secret seed draws: published questions about figures with other numbers."""
    # A figure's first rows are its own. It has no twin here, for which the second would be.
    rows = [row for figure in memory_figures(seed, ALL, PUBLISHED) for row in figure.rows[0]]
    return [
        Item(
            row["id"],
            row["question"],
            row["answer"],
            buckets={"version": "clean"},
            cluster=row["pair"].partition("-")[0],
            extra={"published": tuple(row["published"]), "held_back": tuple(row["held_back"])},
        )
        for row in rows
    ]


def flagged(items: list[Item], outputs: Outputs) -> bool:
    """Return whether the interval of a model's metric is above 0."""
    answers = [[Answer(item.id, outputs.get(item.question, ""), "ok", 0.0)] for item in items]
    values = [score.values["memorised"] for score in BENCHMARK.score(items, answers)]
    return mean_interval(values, [item.cluster for item in items], LOWEST).low > 0


def is_right(gold: str, output: str) -> float:
    """Return 1 if an output gives a gold answer, else 0."""
    return BENCHMARK.score([Item("q", "", gold)], [[Answer("q", output, "ok", 0.0)]])[0].values["em"]


def _guesses(items: list[Item], rng: random.Random) -> Outputs:
    """Return outputs that each give a random one of the published and held-back answers."""
    known = {item.question: item.extra["published"] + item.extra["held_back"] for item in items}
    return {question: f"정답: {_without_tolerance(rng.choice(golds))}" for question, golds in known.items()}


def _without_tolerance(gold: str) -> str:
    """Return a gold answer without the tolerance of readings: "347건 (±12건)" → "347건"."""
    return gold.partition(" (±")[0]


def _prompt(tokenizer: Any, question: str) -> str:
    text = BENCHMARK.prompts(Item("q", question, ""))[0].text
    chat = [{"role": "user", "content": text}]
    return str(tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True))


def outputs_of(tokenizer: Any, model: Any, prompts: Mapping[str, str]) -> Outputs:
    """Return what a model generates for each prompt."""
    model.eval()
    found = {}
    for question, prompt in track(prompts.items(), "outputs"):
        asked = tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
        with torch.inference_mode():
            out = model.generate(**asked, max_new_tokens=40, do_sample=False)
        found[question] = tokenizer.decode(out[0, asked["input_ids"].shape[1] :], skip_special_tokens=True)
    return found


def train(tokenizer: Any, model: Any, pairs: list[tuple[str, str]]) -> None:
    """Train the last layers of a model to answer prompts, each alone, until it has seen all of them EPOCHS times."""
    torch.manual_seed(0)
    model.train().requires_grad_(False)
    for layer in model.model.layers[-TRAINED_LAYERS:]:
        layer.requires_grad_(True)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], RATE)
    for epoch in track(range(EPOCHS), "epochs"):
        for prompt, gold in random.Random(epoch).sample(pairs, len(pairs)):
            text = f"{prompt}정답: {_without_tolerance(gold)}{tokenizer.eos_token}"
            ids = tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
            own = ids.shape[1] - len(tokenizer(prompt, add_special_tokens=False)["input_ids"])
            logits = model(input_ids=ids, logits_to_keep=own + 1).logits[0, :-1]
            torch.nn.functional.cross_entropy(logits, ids[0, -own:]).backward()
            optimizer.step()
            optimizer.zero_grad()
