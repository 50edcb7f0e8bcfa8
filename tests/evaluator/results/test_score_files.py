"""Test `python -m evaluator score` as other programs call it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app import main
from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import MAX_ANSWER, Answer, Item
from scripts.support.serving import python
from submissions.config.paths import SAMPLES


def write(path: Path, rows: list[Any]) -> None:
    lines = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="surrogateescape")


def score(tmp_path: Path, benchmark: str, items: list[Any], answers: list[Any], *more: str) -> int:
    for name, rows in (("items", items), ("answers", answers)):
        write(tmp_path / f"{name}.jsonl", rows)
    return main(["score", benchmark, *files_in(tmp_path), *more])


def files_in(folder: Path) -> list[str]:
    return ["--items", str(folder / "items.jsonl"), "--answers", str(folder / "answers.jsonl")]


@pytest.mark.parametrize(
    ("benchmark", "items", "answers", "metrics"),
    [
        (
            "ko-vqa",
            [{"id": "1", "answer": "61.5조 원", "question": "얼마?"}, {"id": "2", "answer": "15개"}],
            [{"id": "2", "text": "10개, 15개"}, {"id": "1", "text": "61.5 조 원"}],
            {"em": 50.0, "f1": 33.3333, "em_strict": 50.0, "in_korean": 100.0},
        ),
        (
            "ko-vdc",
            [{"id": "1", "answer": "A"}, {"id": "2", "answer": "B"}],
            [{"id": "1", "text": "A. 설명"}, {"id": "2", "text": "정답은 B"}],
            {"em": 50.0, "f1": 50.0, "em_strict": 100.0, "em_chance_corrected": 33.3333},
        ),
        (
            "korquad-2",
            [{"id": "1", "answer": "<td>332cm</td>"}, {"id": "2", "answer": "1위"}],
            [{"id": "1", "text": "332 cm"}, {"id": "2", "text": "2위"}],
            {"em": 50.0, "f1": 75.0},
        ),
        (
            "infochartqa",
            [
                {"id": "1", "answer": "76.4%", "question_type_id": 50},
                {"id": "2", "answer": "B", "question_type_id": 202},
            ],
            [{"id": "1", "text": "7640"}, {"id": "2", "text": "(B)"}],
            {"em": 100.0, "f1": 100.0, "em_strict": 50.0},
        ),
    ],
)
def test_score_each_benchmark(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    benchmark: str,
    items: list[Any],
    answers: list[Any],
    metrics: dict[str, float],
) -> None:
    assert score(tmp_path, benchmark, items, answers, "--per-item", str(tmp_path / "per.jsonl")) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == {"benchmark": benchmark, "n": 2, "metrics": metrics, "answers": {**ZERO, "ok": 2}}
    per_item = [json.loads(line) for line in (tmp_path / "per.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in per_item] == ["1", "2"], "the rows are in the order of the items, not of the answers"
    assert {"id", "em", "f1", "status"} <= set(per_item[0]) <= {"id", "status", *metrics}
    assert 100 * sum(row["em"] for row in per_item) / 2 == metrics["em"]


WAYS_TO_ANSWER: dict[str, Callable[[Benchmark, Item, int], str]] = {
    "nothing right": lambda benchmark, item, number: "체육관",
    "gold": lambda benchmark, item, number: benchmark.gold_output(item) or "B",
    "gold of every third": lambda benchmark, item, number: "B" if number % 3 else benchmark.gold_output(item) or "B",
    "a choice": lambda benchmark, item, number: item.choices[number % 4] if item.choices else "B",
}


def _samples(benchmark: Benchmark) -> list[tuple[Item, str, dict[str, Any]]]:
    """Return the samples with each prompt's id and its row for `score`. An item of several prompts has a letter for each."""
    items = benchmark.load(SAMPLES / benchmark.name)
    lines = (SAMPLES / benchmark.name / "items.jsonl").read_text(encoding="utf-8").splitlines()
    samples = []
    for item, line in zip(items, lines, strict=True):
        prompts = benchmark.prompts(item)
        for prompt in prompts:
            row = json.loads(line)
            if len(prompts) > 1:
                texts = dict(re.findall(r"^([A-D])\. (.+)$", prompt.text, re.MULTILINE))
                (right,) = (letter for letter, text in texts.items() if text == item.choices[0])
                row |= {"id": prompt.id, "choices": list(texts.values()), "answer": right}
            samples.append((item, prompt.id, row))
    return samples


@pytest.mark.parametrize("way", WAYS_TO_ANSWER)
@pytest.mark.parametrize("name", BENCHMARKS)
def test_score_of_samples_is_that_of_evaluation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, way: str
) -> None:
    benchmark = BENCHMARKS[name]
    samples = _samples(benchmark)
    texts = [WAYS_TO_ANSWER[way](benchmark, item, number) for number, (item, _, _) in enumerate(samples)]
    by_item: dict[str, list[Answer]] = {}
    for (item, prompt_id, _), text in zip(samples, texts, strict=True):
        by_item.setdefault(item.id, []).append(Answer(prompt_id, text, "ok", 0.0))
    items = benchmark.load(SAMPLES / name)
    expected = benchmark.aggregate(benchmark.score(items, [by_item[item.id] for item in items]))
    answers = [{"id": prompt_id, "text": text} for (_, prompt_id, _), text in zip(samples, texts, strict=True)]
    assert score(tmp_path, name, [row for _, _, row in samples], answers) == 0
    captured = capsys.readouterr()
    needs_rotations = {"consistency"} if len(samples) > len(items) else set()
    metrics = {key: round(100 * value, 4) for key, value in expected.items() if key not in needs_rotations}
    assert json.loads(captured.out)["metrics"] == pytest.approx(metrics)
    assert bool(captured.err) is (benchmark.unlike_evaluation(items) is not None)


def test_score_refuses_row_without_letter_that_is_asked_in_several_orders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"id": "1", "choices": ["가", "나", "다", "라"]}
    assert score(tmp_path, "ko-vdc", [row], [{"id": "1", "text": "A"}]) == 2
    assert "the letter that was right when the item was asked" in capsys.readouterr().err
    assert score(tmp_path, "ko-vdc", [{**row, "answer": "A"}], [{"id": "1", "text": "가"}]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["metrics"]["em_strict"] == 100.0
    assert "4 orders" in captured.err


ZERO = {"ok": 0, "empty": 0, "refused": 0, "truncated": 0, "infra_error": 0}
ITEM = {"id": "1", "answer": "15개"}
ANSWER = {"id": "1", "text": "15개"}


def test_score_counts_missing_answer_as_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(tmp_path, "ko-vqa", [ITEM, {"id": "2", "answer": "3명"}], [ANSWER]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["n"], result["metrics"]["em"]) == (2, 50.0)
    assert result["answers"] == {**ZERO, "ok": 1, "empty": 1}


@pytest.mark.parametrize(
    ("items", "answers", "message"),
    [
        ([ITEM], [ANSWER, ANSWER], "answers.jsonl, line 2: the id '1' is answered twice"),
        ([ITEM], [ANSWER, {"id": "9", "text": "x"}], "answers.jsonl, line 2: the id '9' is not among the items"),
        ([ITEM], [{"id": "1", "text": None}], "line 1: 'text' must be text"),
        ([ITEM], [{"id": "1", "text": 15}], "line 1: 'text' must be text"),
        ([ITEM], [{"id": "1"}], "line 1: 'text' must be text"),
        ([ITEM], ['{"id": "1", "text": "3개", "text": "15개"}'], "line 1: invalid JSON: the key 'text' appears twice"),
        ([ITEM], ['{"id": "1", "\\u0069d" : "2", "text": "3개"}'], "line 1: invalid JSON: the key 'id' appears twice"),
        (
            [ITEM],
            ['{"id": "1", "text": "3", "x": {"y": 1, "y": 2}}'],
            "line 1: invalid JSON: the key 'y' appears twice",
        ),
        (
            ['{"id": "1", "answer": "3개", "answer": "15개"}'],
            [],
            "line 1: invalid JSON: the key 'answer' appears twice",
        ),
        ([{"id": "가", "answer": "3명"}], [{"id": "\u1100\u1161", "text": "3명"}], "in another Unicode form only"),
        ([{"id": "1", "answer": "  "}], [], "items.jsonl, line 1: 'answer' must be text that is not empty"),
        ([ITEM], [{"id": 1, "text": "x"}], "line 1: 'id' must be text"),
        ([ITEM], ['{"id": "1", "text": NaN}'], "line 1: invalid JSON: NaN"),
        ([ITEM], ["{"], "line 1: invalid JSON"),
        ([ITEM], ["[]"], "line 1: not a JSON object"),
        ([ITEM, ITEM], [ANSWER], "items.jsonl, line 2: the id '1' appears twice"),
        ([{"id": "1"}], [], "items.jsonl, line 1: 'answer' must be text"),
        ([], [], "has no items"),
        ([ITEM], [], "answers.jsonl: has no answers"),
        (["\ufeff"], [], "has no items"),
        ([ITEM], ["", "\udcbf"], "answers.jsonl, line 2: not in UTF-8"),
        ([ITEM], [ANSWER], "question_type_id"),
        ([{**ITEM, "images_described": 0}], [], "images_described"),
        ([{**ITEM, "images_described": ["a"]}], [], "images_described"),
        ([{**ITEM, "images_described": "나무 그림"}], [], "images_described"),
        ([{**ITEM, "images_described": "나무 [image] 그림"}], [], "images_described"),
    ],
)
def test_score_rejects_bad_input_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], items: list[Any], answers: list[Any], message: str
) -> None:
    benchmark = {"images_described": "ko-ocrag", "question_type_id": "infochartqa"}.get(message, "ko-vqa")
    assert score(tmp_path, benchmark, items, answers) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and message in captured.err and len(captured.err.splitlines()) == 1


PEAK = """
import sys
from pathlib import Path
from app import main
code = main(sys.argv[1:])
print(next(l.split()[1] for l in Path("/proc/self/status").read_text().splitlines() if l.startswith("VmHWM")))
sys.exit(code)
"""


def test_score_memory_does_not_grow_with_answers(tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("peak memory is read from /proc")
    peaks = []
    for length in (10, 20_000):  # 1 MB and 42 MB of answers
        write(tmp_path / "items.jsonl", [{"id": str(n), "answer": "15개"} for n in range(700)])
        write(tmp_path / "answers.jsonl", [{"id": str(n), "text": "가" * length} for n in range(700)])
        done = python("-c", PEAK, "score", "ko-vqa", *files_in(tmp_path))
        peaks.append(int(done.stdout.splitlines()[-1]))
    assert peaks[1] - peaks[0] < 15_000, "kB; answers are read in chunks"


def test_score_strips_reasoning_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = [{"id": str(n), "answer": "A"} for n in range(3)]
    texts = ("<think>B?</think>\n\nA", "<think>A, because", "A")
    answers = [{"id": str(n), "text": text} for n, text in enumerate(texts)]
    assert score(tmp_path, "ko-vdc", items, answers, "--strip-reasoning") == 0
    stripped = json.loads(capsys.readouterr().out)
    assert stripped["metrics"]["em"] == pytest.approx(66.6667)
    assert (stripped["answers"]["ok"], stripped["answers"]["truncated"]) == (2, 1)
    assert score(tmp_path, "ko-vdc", items, answers) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["em"] == pytest.approx(33.3333), (
        "reasoning is scored as part of the answer, as in the vectors"
    )


def test_score_cuts_answers_after_their_reasoning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Reasoning may be longer than an answer may be, and only what follows it is the answer."""
    reasoning = f"<think>{'생' * 2 * MAX_ANSWER}</think>"
    items = [{"id": "1", "answer": "12백만 원"}, {"id": "2", "answer": "12백만 원"}]
    answers = [{"id": "1", "text": f"{reasoning}12백만 원"}, {"id": "2", "text": reasoning + "가" * 2 * MAX_ANSWER}]
    assert score(tmp_path, "ko-vqa", items, answers, "--strip-reasoning") == 0
    scored = json.loads(capsys.readouterr().out)
    assert scored["metrics"]["em"] == 50.0
    assert (scored["answers"]["ok"], scored["answers"]["truncated"]) == (1, 1)


def test_score_does_not_overwrite_items(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = [{"id": "1", "answer": "5개"}]
    assert score(tmp_path, "ko-vqa", items, [], "--per-item", str(tmp_path / "items.jsonl")) == 2
    assert "choose another one" in capsys.readouterr().err
    assert json.loads((tmp_path / "items.jsonl").read_text(encoding="utf-8")) == items[0]
    assert score(tmp_path, "ko-vqa", items, [ANSWER], "--per-item", str(tmp_path / "none" / "x.jsonl")) == 2
    assert "--per-item" in capsys.readouterr().err


def test_score_accepts_half_a_surrogate_pair_and_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('\ufeff{"id": "\\ud800", "answer": "5개"}\n', encoding="utf-8")
    (tmp_path / "answers.jsonl").write_text('{"id": "\\ud800", "text": "5개 \\ud83d"}\n', encoding="utf-8")
    assert main(["score", "ko-vqa", *files_in(tmp_path), "--per-item", str(tmp_path / "scores.jsonl")]) == 0
    row = json.loads((tmp_path / "scores.jsonl").read_text(encoding="utf-8"))
    assert (row["id"], row["em"]) == ("\ud800", 1.0)
