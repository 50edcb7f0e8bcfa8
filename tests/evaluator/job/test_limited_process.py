"""What a model has written is read and scored in a process of its own, which ends."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Sequence

import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import MAX_ANSWER, MAX_COMBINING_MARKS, Answer, Item, Score, cleaned
from evaluator.core.errors import DataError, EvaluationError, EvaluationStopped
from evaluator.job.limited_process import run_limited
from submissions.config.paths import SAMPLES

LONG = 10_000_000  # characters
SHAPES: dict[str, Callable[[], str]] = {
    "line ends": lambda: "1" + "\n" * LONG + "1",
    "spaces": lambda: "답" + " " * LONG + "1",
    "different numbers": lambda: " ".join(map(str, range(1_000_000, 1_000_000 + LONG // 8))),
    "one number": lambda: "1" * LONG,
    "groups of digits": lambda: "1" + ",111" * (LONG // 4) + "1",
    "points": lambda: "1." * (LONG // 2),
    "letters": lambda: "A B C D " * (LONG // 8),
    "the beginning of an answer": lambda: "정답은 " * (LONG // 4),
    "opening tags": lambda: "<table>" * (LONG // 7),
    "tags that do not end": lambda: "<a " * (LONG // 3),
    "attributes": lambda: "<a" + ' b=""' * (LONG // 5),
    "entities": lambda: "&amp;" * (LONG // 5),
    "descriptions of pictures": lambda: "[image]가[/image]" * (LONG // 16),
    "descriptions that do not end": lambda: "[image]" * (LONG // 7),
    "reasoning that does not end": lambda: "<think>" * (LONG // 7),
    "reasoning that ends often": lambda: "</think>" * (LONG // 8),
    "commas": lambda: "," * LONG,
    "brackets": lambda: "(" * LONG,
    "LaTeX": lambda: "\\text{" * (LONG // 6),
    "letters of the gold answer": lambda: "가나" * (LONG // 2),
    "marks on a letter": lambda: "1a" + "\u0301" * (MAX_ANSWER // 2) + "\u0316" * (MAX_ANSWER // 2),
    "a number of thousands of digits in words": lambda: "1" + "조" * LONG,
    "a description of one word": lambda: "[image]" + "y" * LONG,
    "a Korean description of one word": lambda: "[image]" + "가" * LONG,
    "surrogates": lambda: "\ud800" * LONG,
}


def score_all(shapes: Sequence[str]) -> dict[str, list[Score]]:
    """Each shape as the answer to an item of each benchmark, gold answers in letters where that is how it is scored."""
    items = {name: benchmark.load(SAMPLES / name)[0] for name, benchmark in BENCHMARKS.items()}
    items["ko-vdc"] = Item("1", "", "A")
    items["ko-ocrag"] = next(
        i for i in BENCHMARKS["ko-ocrag"].load(SAMPLES / "ko-ocrag") if i.extra["images_described"]
    )
    scores: dict[str, list[Score]] = {}
    for shape in shapes:
        answer = cleaned(Answer("1", SHAPES[shape](), "ok", 0.1))
        scores[shape] = [s for name, item in items.items() for s in BENCHMARKS[name].score_flat([item], [answer])]
    return scores


@pytest.mark.integration
@pytest.mark.parametrize("half", [0, 1])
def test_hostile_answers_are_scored_in_time(half: int) -> None:
    """Ten million characters of each shape; some took hours."""
    shapes = list(SHAPES)[half::2]
    scores = run_limited(score_all, shapes, seconds=200)
    assert {s.status for own in scores.values() for s in own} == {"truncated"}
    assert {shape: len(own) for shape, own in scores.items()} == dict.fromkeys(shapes, len(BENCHMARKS))


def test_an_answer_has_an_end_and_whole_characters() -> None:
    long = Answer("1", "가" * (MAX_ANSWER + 1), "ok", 0.1, raw="나" * (MAX_ANSWER + 1))
    short = cleaned(long)
    assert (len(short.text), len(short.raw or ""), short.status) == (MAX_ANSWER, MAX_ANSWER, "truncated")
    assert cleaned(short) is short
    assert cleaned(Answer("1", "가\ud800", "ok", 0.1)) == Answer("1", "가?", "ok", 0.1)


def fail(kind: str) -> None:
    if kind == "data":
        raise DataError("row 7")
    if kind == "crash":
        raise ZeroDivisionError("on purpose")
    if kind == "memory":
        bytearray(2**40)
    if kind == "time":
        threading.Event().wait()
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "stopped":  # as by a scheduler that ends the whole group
        for number in (signal.SIGTERM, signal.SIGINT):
            os.kill(os.getpid(), number)
            os.kill(os.getppid(), number)


@pytest.mark.parametrize(
    ("kind", "code", "said"),
    [
        ("data", "benchmark_invalid", "row 7"),
        ("memory", "model_error", "memory"),
        ("killed", "process_killed", "was killed"),
        ("time", "model_error", "more than 1 s"),
    ],
)
def test_what_goes_wrong_inside_is_told(kind: str, code: str, said: str) -> None:
    with pytest.raises(EvaluationError, match=said) as error:
        run_limited(fail, kind, seconds=1 if kind == "time" else 60)
    assert error.value.code == code


def test_a_fault_of_ours_inside_is_none_of_the_models() -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run_limited(fail, "crash")


def test_stop_signals_do_not_end_the_process_nor_the_one_that_forks_it() -> None:
    assert run_limited(fail, "stopped") is None
    assert run_limited(given, [1]) == [1]


def test_killed_process_of_a_stopping_worker_is_a_stop() -> None:
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(EvaluationStopped):
        run_limited(fail, "killed", stop=stop)


def test_forking_process_that_was_killed_is_started_again() -> None:
    assert run_limited(given, [1]) == [1]
    os.kill(run_limited(os.getppid), signal.SIGKILL)
    assert run_limited(given, [2]) == [2]


def test_it_ends_when_asked_to() -> None:
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    began = time.monotonic()
    with pytest.raises(EvaluationStopped):
        run_limited(fail, "time", stop=stop)
    assert time.monotonic() - began < 30


def given(values: Sequence[int]) -> Sequence[int]:
    return values


def test_what_is_given_comes_back() -> None:
    assert run_limited(given, list(range(1000))) == list(range(1000))


def test_long_runs_of_marks_are_cut_wherever_they_stand() -> None:
    rng = random.Random(3)
    for _ in range(300):
        runs = [
            rng.choice([0, 5, MAX_COMBINING_MARKS, MAX_COMBINING_MARKS + 1, 2 * MAX_COMBINING_MARKS, 100])
            for _ in range(40)
        ]
        texts = ["가나다라"[: rng.randint(1, 4)] * rng.randint(1, 20) + "\u0301" * run for run in runs]
        cut = [text[: len(text) - max(0, run - MAX_COMBINING_MARKS)] for text, run in zip(texts, runs, strict=True)]
        whole = "x" * 1000 + "".join(texts)
        assert cleaned(Answer("1", whole, "ok", 0.0)).text == "x" * 1000 + "".join(cut)
