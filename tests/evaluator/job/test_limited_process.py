"""Test that model output is read and scored in a separate process with limits."""

import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.kinds.choice import Choice
from evaluator.core.data_types import MAX_ANSWER, MAX_COMBINING_MARKS, Answer, Item, cleaned
from evaluator.core.errors import DataError, EvaluationError, EvaluationStopped
from evaluator.job.limited_process import run_limited
from submissions.config.paths import ROOT, SAMPLES
from tests.support.waiting import wait_for

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


def item_to_answer(name: str) -> Item:
    """Return an item of a benchmark that reads as much of an answer as any, with a letter as gold answer if it needs one."""
    items = BENCHMARKS[name].load(SAMPLES / name)
    if isinstance(BENCHMARKS[name], Choice):
        return replace(items[0], answer="A")
    return next((item for item in items if item.extra.get("images_described")), items[0])


def score_each_shape(name: str) -> dict[str, str]:
    """Score each shape as the answer to an item of a benchmark, and return the statuses."""
    item = item_to_answer(name)
    answers = {shape: cleaned(Answer(item.id, text(), "ok", 0.1)) for shape, text in SHAPES.items()}
    return {shape: BENCHMARKS[name].score_flat([item], [answer])[0].status for shape, answer in answers.items()}


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize("name", BENCHMARKS)
def test_run_limited_scores_hostile_answers_in_time(name: str) -> None:
    """Score ten million characters of each shape, some of which used to take hours."""
    assert run_limited(score_each_shape, name, seconds=100) == dict.fromkeys(SHAPES, "truncated")


def test_cleaned_truncates_and_replaces_surrogates() -> None:
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
    if kind == "abort":
        os.abort()
    if kind == "segmentation fault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "exit":
        os._exit(3)
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "stopped":  # like a scheduler that ends the whole process group
        for number in (signal.SIGTERM, signal.SIGINT):
            os.kill(os.getpid(), number)
            os.kill(os.getppid(), number)


@pytest.mark.parametrize(
    ("kind", "code", "message"),
    [
        ("data", "benchmark_invalid", "row 7"),
        ("memory", "model_error", "memory"),
        ("abort", "model_error", "memory"),
        ("killed", "process_killed", "was killed"),
        ("exit", "process_killed", "ended with code 3"),
        ("segmentation fault", "process_killed", "ended with code -11"),
        ("time", "model_error", "more than 1 s"),
        ("crash", None, "ZeroDivisionError"),  # a fault of ours, not of the model
    ],
)
def test_run_limited_raises_evaluation_error(kind: str, code: str | None, message: str) -> None:
    with pytest.raises(EvaluationError if code else RuntimeError, match=message) as error:
        run_limited(fail, kind, seconds=1 if kind == "time" else 60)
    assert getattr(error.value, "code", None) == code


def test_run_limited_ignores_stop_signals() -> None:
    assert run_limited(fail, "stopped") is None
    assert run_limited(identity, [1]) == [1]


@pytest.mark.parametrize("kind", ["killed", "time"])
def test_run_limited_reports_stop(kind: str) -> None:
    """Check that a stop ends the process at once, and that a process killed meanwhile counts as stopped."""
    stop = threading.Event()
    began = time.monotonic()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(EvaluationStopped):
        run_limited(fail, kind, stop=stop)
    assert time.monotonic() - began < 30


def test_run_limited_restarts_killed_forking_process() -> None:
    assert run_limited(identity, [1]) == [1]
    os.kill(run_limited(os.getppid), signal.SIGKILL)
    assert run_limited(identity, [2]) == [2]


def identity(values: Sequence[int]) -> Sequence[int]:
    return values


def test_cleaned_cuts_long_runs_of_marks() -> None:
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


def write_pid_and_wait(file: Path) -> None:
    file.write_text(str(os.getpid()))
    threading.Event().wait()


def test_child_ends_with_killed_parent(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from evaluator.job.limited_process import run_limited;"
        "from tests.evaluator.job.test_limited_process import write_pid_and_wait;"
        f"run_limited(write_pid_and_wait, Path({str(tmp_path / 'pid')!r}))"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) as parent:
        child = int(wait_for("the child", lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
        descriptor = os.pidfd_open(child)
        parent.kill()
    assert select.select([descriptor], [], [], 30)[0], "it has ended"
