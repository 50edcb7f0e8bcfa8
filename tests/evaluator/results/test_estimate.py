"""Test the estimate of an evaluation's time, from a model of the device and from past runs."""

import random

import pytest

from evaluator.results.estimate import DEVICES, answer_seconds, device_named, error_factor, estimate
from scripts.support.evaluated import evaluated
from scripts.support.records import request_numbered
from submissions.records.result import EvalResult
from tests.support.cli import in_process

A100 = next(device for device in DEVICES if device.name == "A100")


def test_device_named_knows_driver_names() -> None:
    expected = {
        "NVIDIA A100-SXM4-80GB": "A100",
        "NVIDIA L4": "L4",
        "NVIDIA L40S": "L40S",
        "NVIDIA H200": "H200",
        "Tesla T4": "T4",
        "NVIDIA A10G": "A10G",
        "AMD EPYC 9B14 × 2": "CPU",
        "some accelerator": None,
    }
    assert {name: (found.name if (found := device_named(name)) else None) for name in expected} == expected


def test_estimate_grows_with_larger_model_or_smaller_device() -> None:
    sizes = [estimate(p, 2 * p, "infochartqa", A100) for p in (10**9, 7 * 10**9, 70 * 10**9)]
    assert [e.seconds for e in sizes] == sorted(e.seconds for e in sizes)
    assert [e.devices for e in sizes] == [1, 1, 3], "70 billion parameters in bfloat16 fill two and a half devices"
    by_device = {d.name: estimate(7 * 10**9, 14 * 10**9, "ko-vqa", d).seconds for d in DEVICES}
    assert by_device["H200"] < by_device["A100"] < by_device["L4"] < by_device["CPU"]
    reasons = estimate(7 * 10**9, 14 * 10**9, "ko-vqa", A100, reasons=True)
    assert reasons.seconds > 3 * by_device["A100"]


def past_run(number: int, params: int, factor: float) -> EvalResult:
    """Return a run that took `factor` times longer than the model of the device predicts."""
    result = evaluated(request_numbered(number, benchmark="ko-vqa", params=params), 50.0)
    assert result.latency and result.dataset.n
    seconds = answer_seconds(params, 2 * params, "ko-vqa", A100, 1, reasons=False, batch=32) * result.dataset.n
    return result.evolve(
        config=result.config.evolve(params=params, model_dtype="bfloat16"),
        latency=result.latency.evolve(hardware="NVIDIA A100-SXM4-80GB"),
        total_evaluation_time_seconds=factor * seconds,
        reasoning=None,
    )


def test_estimate_is_corrected_by_past_runs() -> None:
    rng = random.Random(1)
    past = [past_run(n, rng.choice([2, 4, 8]) * 10**9, 2.5 * rng.lognormvariate(0, 0.2)) for n in range(40)]
    bare = estimate(4 * 10**9, 8 * 10**9, "ko-vqa", A100)
    corrected = estimate(4 * 10**9, 8 * 10**9, "ko-vqa", A100, past=past)
    loading = 8.0
    assert (corrected.seconds - loading) / (bare.seconds - loading) == pytest.approx(2.5, rel=0.15)
    assert corrected.runs == 40 and corrected.error and 1.2 < corrected.error < 1.6
    assert bare.error is None and bare.runs == 0
    elsewhere = next(device for device in DEVICES if device.name == "L4")
    assert estimate(4 * 10**9, 8 * 10**9, "ko-vqa", elsewhere, past=past).runs == 0, (
        "runs on another device do not count"
    )


@pytest.mark.parametrize(
    ("ratios", "error"),
    [
        ([1.0] * 9 + [100.0], 1.0),
        ([1.0] * 18 + [50.0, 60.0], 1.0),
        ([1.0] * 8 + [3.0, 100.0], 3.0),
        ([1.0, 0.5, 0.25], 4.0),
        ([1.0, 2.0], None),
    ],
)
def test_error_factor_covers_nine_of_ten_runs(ratios: list[float], error: float | None) -> None:
    assert error_factor(ratios, 1.0) == error


def test_estimate_command_prints_time_and_cost(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = in_process(environment, monkeypatch, capsys)
    done = cli("estimate", "tiny/image-text", "ko-vqa", "--device", "A100", "--price", "2.5")
    assert done.returncode == 0, done.stderr
    assert "1 × A100" in done.stdout and "$0.0" in done.stdout and "too few" in done.stdout
    assert "korquad-2" in cli("estimate", "tiny/image-text", "--device", "L4").stdout
    pages_only = cli("estimate", "tiny/extractive", "--device", "L4")
    assert [line.partition(":")[0] for line in pages_only.stdout.splitlines()] == ["korquad-2"]
    refused = cli("estimate", "tiny/extractive", "ko-vqa", "--device", "L4")
    assert refused.returncode == 2 and refused.stdout == "" and "korquad-2" in refused.stderr
    unknown = cli("estimate", "tiny/image-text", "--device", "TPU")
    assert unknown.returncode == 2 and "H200" in unknown.stderr
