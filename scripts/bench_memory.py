"""Memory rows of `make bench`: does KO-FRESH's memory metric find a model that was trained on published answers?

SmolLM2-135M is trained on the answers of a published set. It and its untouched twin answer the questions without pictures,
which a model of text can do. Then 100 secret seeds each draw other numbers, for which the published answers are wrong.
A model counts as flagged if the 95 % interval of its metric is above 0.
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
from scripts.bench_board import Measured
from scripts.demo import make_smollm2

BENCHMARK = BENCHMARKS["ko-fresh"]
PUBLISHED = (("planted", 300),)
SEEDS = 100
EPOCHS, RATE, TRAINED_LAYERS = 10, 3e-4, 10
Answers = Mapping[str, str]  # by question


def memory_rows(folder: Path) -> Iterator[Measured]:
    drawn = [items_of(f"seed {number}") for number in range(SEEDS)]
    published = {item.question: item.extra["published"][0] for items in drawn for item in items}
    make_smollm2(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    prompts = {question: _prompt(tokenizer, question) for question in published}
    twin = answers(tokenizer, model, prompts)
    train(tokenizer, model, [(prompts[question], gold) for question, gold in published.items()])
    trained = answers(tokenizer, model, prompts)
    repeated = sum(score_of(gold, trained[question]) for question, gold in published.items()) / len(published)
    what = f"of {SEEDS} seeds, {len(published)} questions"
    yield Measured("published answers that a trained SmolLM2-135M repeats", f"{100 * repeated:.0f} %", "", "")
    yield Measured(f"  it is flagged, {what}", f"{sum(flagged(i, trained) for i in drawn)}", "", f"{SEEDS}")
    yield Measured(f"  its untouched twin, {what}", f"{sum(flagged(i, twin) for i in drawn)}", "", "≤ 5")
    rng = random.Random(1)
    found = sum(flagged(items, _guesses(items, rng)) for items in drawn)
    yield Measured("  a reader that gives any answer of the figure's variants", f"{found}", "", "≤ 5")


def items_of(seed: str) -> list[Item]:
    rows = [row for figure in memory_figures(seed, 10_000, PUBLISHED) for row in figure.rows[0]]
    extra = ("published", "held_back")
    return [
        Item(
            row["id"],
            row["question"],
            row["answer"],
            buckets={"version": "clean"},
            cluster=row["pair"].partition("-")[0],
            extra={name: tuple(row[name]) for name in extra},
        )
        for row in rows
    ]


def flagged(items: list[Item], given: Answers) -> bool:
    """Return whether the interval of a model's metric is above 0."""
    answered = [[Answer(item.id, given.get(item.question, ""), "ok", 0.0)] for item in items]
    values = [score.values["memorised"] for score in BENCHMARK.score(items, answered)]
    return mean_interval(values, [item.cluster for item in items], -1.0).low > 0


def score_of(gold: str, answer: str) -> float:
    return BENCHMARK.score([Item("q", "", gold)], [[Answer("q", answer, "ok", 0.0)]])[0].values["em"]


def _guesses(items: list[Item], rng: random.Random) -> dict[str, str]:
    """Return answers that are each right for a random one of the published and held-back figures."""
    known = {item.question: item.extra["published"] + item.extra["held_back"] for item in items}
    return {question: f"정답: {rng.choice(golds).partition(' (±')[0]}" for question, golds in known.items()}


def _prompt(tokenizer: Any, question: str) -> str:
    text = BENCHMARK.prompts(Item("q", question, ""))[0].text
    chat = [{"role": "user", "content": text}]
    return str(tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True))


def answers(tokenizer: Any, model: Any, prompts: Mapping[str, str]) -> dict[str, str]:
    model.eval()
    found = {}
    for question, prompt in track(prompts.items(), "answers"):
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
            text = f"{prompt}정답: {gold.partition(' (±')[0]}{tokenizer.eos_token}"
            ids = tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
            own = ids.shape[1] - len(tokenizer(prompt, add_special_tokens=False)["input_ids"])
            logits = model(input_ids=ids, logits_to_keep=own + 1).logits[0, :-1]
            torch.nn.functional.cross_entropy(logits, ids[0, -own:]).backward()
            optimizer.step()
            optimizer.zero_grad()
