"""KO-FRESH rows of `make bench`: drawing a set, what solvers without a model get, and whether two seeds rank alike."""

import random
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from scipy.stats import rankdata, spearmanr

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.ko_fresh import gold_answer
from evaluator.core.data_types import Answer, Item, Score
from evaluator.fresh.draw import N, draw_set
from evaluator.fresh.facts import Facts
from evaluator.fresh.korean import UNANSWERABLE
from evaluator.fresh.pairs import pair_of, pairs_of
from evaluator.fresh.questions import wording
from scripts.readers.ocr import is_installed, ocr_answer
from scripts.readers.printed import Printed, printed_on
from scripts.readers.rules import answer
from scripts.support.measured import Measured

BENCHMARK = BENCHMARKS["ko-fresh"]
SEEDS = ("first", "second")
READERS = 24  # simulated ones, whose rankings on two sets are compared
BLIND_FIGURES = 1500  # to train and to test the chooser of descriptions on
CLEARLY = 3  # right answers more
OCR_QUESTIONS = 400  # that Tesseract reads the pictures of, 1 s each
SOLVERS = (
    "rules that read all printed values, on two seeds",
    "  of the values without labels",
    "  with the usual answer to a wording of the other seed, where that does better there",
    "always 알 수 없음, and A of the descriptions",
    "blind: the usual answer to each wording, of the other seed",
)
Choices = tuple[list[str], Facts]


def fresh_rows(folder: Path) -> Iterator[Measured]:
    started = time.perf_counter()
    draw_set("bench", folder / "set", N)
    taken = time.perf_counter() - started
    size = sum(path.stat().st_size for path in (folder / "set").rglob("*") if path.is_file()) / 1e6
    shutil.rmtree(folder / "set")
    yield Measured(f"a set of {N:,} questions, drawn", f"{taken:.0f} s", "≤ 300 s")
    yield Measured("  its size", f"{size:.0f} MB", "≤ 600 MB")
    solved = list(_without_model())
    aims = ("≤ 60 %", "≤ 30 %", "≤ 60 %", "", "")
    for what, *found, aim in zip(SOLVERS, *solved, aims, strict=True):
        yield Measured(what, " and ".join(map(_percent, found)), aim)
    yield Measured(f"Tesseract and rules, {OCR_QUESTIONS} questions", with_ocr(folder))
    yield Measured("a trained chooser that sees descriptions only", f"{100 * chooser():.1f} %", "25 ± 2 %")
    yield Measured(f"rank correlation of {READERS} simulated readers on two seeds", f"{rank_correlation():.3f}")
    yield Measured(f"places between EM and net, of {READERS} readers that decline unlike", f"up to {net_places()}")


class _Set(NamedTuple):
    """The items of a seed, what a picture prints and the words of a question by id, and the answers of the rules."""

    items: list[Item]
    printed: dict[str, Printed]
    words: dict[str, str]
    by_rules: list[Score]

    def usual(self) -> dict[str, str]:
        """Return the most frequent answer to each wording."""
        golds: dict[str, Counter[str]] = defaultdict(Counter)
        for item in self.items:
            golds[self.words[item.id]][gold_answer(item).partition(" (±")[0]] += 1
        return {words: counts.most_common(1)[0][0] for words, counts in golds.items()}


def _without_model() -> Iterator[tuple[list[Score], ...]]:
    """Yield the scores of SOLVERS on the set of each seed."""
    first, second = map(_set_of, SEEDS)
    for own, other in ((first, second), (second, first)):
        marks = [s for item, s in zip(own.items, own.by_rules, strict=True) if item.buckets["reading"] == "marks"]
        constant = scores(own.items, lambda item: "정답: A" if item.choices else f"정답: {UNANSWERABLE}")
        usual = other.usual()
        blind = _by_wording(own, usual)
        better = _better_blind(other, usual)
        mixed = [
            said if own.words[item.id] in better else ruled
            for item, said, ruled in zip(own.items, blind, own.by_rules, strict=True)
        ]
        yield own.by_rules, marks, mixed, constant, blind


def _set_of(seed: str) -> _Set:
    items, printed = items_of(seed)
    words = {item.id: wording(printed[item.id].facts, item.question) for item in items}
    return _Set(items, printed, words, scores(items, lambda one: answer(printed[one.id], _prompt(one))))


def _prompt(item: Item) -> str:
    return BENCHMARK.prompts(item)[0].text


def _by_wording(own: _Set, usual: dict[str, str]) -> list[Score]:
    return scores(own.items, lambda item: f"정답: {usual.get(own.words[item.id], UNANSWERABLE)}")


def _better_blind(own: _Set, usual: dict[str, str]) -> set[str]:
    """Return the wordings to which the usual answer is right clearly more often than the rules."""
    gained: Counter[str] = Counter()
    for item, said, ruled in zip(own.items, _by_wording(own, usual), own.by_rules, strict=True):
        gained[own.words[item.id]] += round(said.values["em"] - ruled.values["em"])
    return {words for words, count in gained.items() if count > CLEARLY}


def with_ocr(folder: Path) -> str:
    """Return what Tesseract and rules get, or that Tesseract is not installed."""
    if not is_installed():
        return "needs tesseract-ocr-kor"
    draw_set(SEEDS[0], folder / "ocr", OCR_QUESTIONS)
    items = BENCHMARK.load(folder / "ocr")
    return _percent(scores(items, lambda item: ocr_answer(item.images, _prompt(item))))


def items_of(seed: str) -> tuple[list[Item], dict[str, Printed]]:
    """Return the items of a set without their pictures, and what the picture of each prints."""
    items, printed = [], {}
    for pair in pairs_of(seed, N):
        for facts, rows in zip(pair.facts, pair.rows, strict=True):
            for row in rows:
                buckets = {axis.name: row[axis.name] for axis in BENCHMARK.card.axes}
                question = "" if row["choices"] else row["question"]
                items.append(Item(row["id"], question, row["answer"], choices=tuple(row["choices"]), buckets=buckets))
                printed[row["id"]] = printed_on(facts)
    return BENCHMARK.complete(items), printed


def scores(items: Sequence[Item], solve: Callable[[Item], str]) -> list[Score]:
    return BENCHMARK.score(items, [[Answer(item.id, solve(item), "ok", 0.0)] for item in items])


def rank_correlation() -> float:
    """Return Spearman's correlation of the scores of simulated readers on two sets.

    A reader gets each kind of question right with its own probability, and loses some of it on degraded pictures.
    """
    rng = random.Random(1)
    kinds, versions = (axis.buckets for axis in BENCHMARK.card.axes if axis.name in ("kind", "version"))
    found: list[list[float]] = [[], []]
    sets = [items_of(seed)[0] for seed in SEEDS]
    for _ in range(READERS):
        ability = rng.uniform(0.2, 0.8)
        right = {kind: min(1.0, max(0.0, ability + rng.gauss(0, 0.15))) for kind in kinds}
        kept = {version: 1.0 if version == "clean" else rng.uniform(0.5, 1.0) for version in versions}
        for place, items in enumerate(sets):
            hits = [rng.random() < right[i.buckets["kind"]] * kept[i.buckets["version"]] for i in items]
            found[place].append(sum(hits) / len(hits))
    return float(spearmanr(*found).statistic)


def net_places() -> int:
    """Return the largest difference between a reader's places by EM and by `net`.

    A reader declines its own share of the questions that it cannot read, and answers the others wrongly.
    """
    rng = random.Random(2)
    items = items_of(SEEDS[0])[0]
    by_em: list[float] = []
    by_net: list[float] = []
    for _ in range(READERS):
        right = rng.uniform(0.45, 0.65)
        declines = rng.random()
        read = scores(items, lambda _, right=right, declines=declines: _reply(_, rng, right, declines))  # type: ignore[misc]
        by_em.append(sum(score.values["em"] for score in read))
        by_net.append(sum(score.values["net"] for score in read))
    places = zip(rankdata(by_em), rankdata(by_net), strict=True)
    return max(round(abs(float(one) - float(other))) for one, other in places)


def _reply(item: Item, rng: random.Random, right: float, declines: float) -> str:
    if rng.random() < right:
        return f"정답: {gold_answer(item).partition(' (±')[0]}"
    return f"정답: {UNANSWERABLE}" if rng.random() < declines else "정답: 없는 항목"


def chooser() -> float:
    """Train a small network to choose the true description by the words of all four. Return its share on other figures."""
    train, test = (torch.tensor([features(*one) for one in choices(seed)]) for seed in SEEDS)
    mean = train.mean((0, 1))
    spread = train.std((0, 1)) + 1e-6
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(train.shape[2], 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.Adam(net.parameters(), 1e-2, weight_decay=1e-3)
    for _ in range(300):
        logits = net((train - mean) / spread).squeeze(-1)
        loss = torch.nn.functional.cross_entropy(logits, torch.zeros(len(train), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    logits = net((test - mean) / spread).squeeze(-1).double()
    logits = logits + 1e-6 * torch.rand(
        logits.shape, generator=torch.Generator().manual_seed(1)
    )  # equal ones by chance
    return float((logits.argmax(1) == 0).float().mean())


def choices(seed: str) -> Iterator[Choices]:
    """Yield the four descriptions of figures, the true one first."""
    for number in range(BLIND_FIGURES):
        pair = pair_of(seed, number)
        for facts, rows in zip(pair.facts, pair.rows, strict=True):
            yield from ((row["choices"], facts) for row in rows if row["choices"] and row["version"] == "clean")


def features(four: list[str], facts: Facts) -> list[list[float]]:
    """Return numbers about each description: its words and places, and what it shares with the others."""
    found = []
    for text in four:
        years = [n for n, year in enumerate(facts.years) if year in text] or [0]
        rows = [n for n, row in enumerate(facts.rows) if row in text] or [0]
        own = [*(float(word in text) for word in ("많았다", "적었다", "보다", "가장", "적은")), len(text)]
        own += [len(years), min(years), max(years), max(years) - min(years), len(rows), min(rows), max(rows)]
        others = [other for other in four if other is not text]
        for names in (facts.rows, facts.years, facts.groups):
            own.append(sum(any(name in text and name in other for name in names) for other in others))
        own += [sum(text[:8] == other[:8] for other in others), sum(text[-4:] == other[-4:] for other in others)]
        found.append([float(one) for one in own])
    return found


def _percent(own: Sequence[Score]) -> str:
    return f"{100 * sum(score.values['em'] for score in own) / len(own):.1f} %"
