"""Test that each part of `make bench` runs, with the smallest sizes. What it measures is not tested."""

from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from scripts import (
    bench,
    bench_board,
    bench_engines,
    bench_fresh,
    bench_memory,
    bench_overhead,
    bench_sandbox,
    bench_scale,
    bench_statistics,
    visits,
)
from scripts.support.hub.server import serve

SMALL: dict[str, list[tuple[object, dict[str, object]]]] = {
    "scoring": [(bench, {"ROUNDS": 1, "MUTANTS": 200, "END_TO_END": 50})],
    "engines": [(bench, {"ROUNDS": 1, "RESULTS": 5}), (bench_engines, {"NEW_TOKENS": 2, "QUESTIONS": 2})],
    "overhead": [(bench_overhead, {"SIZES": {"text": (10,), "image": (2,)}}), (bench_sandbox, {"PAIRS": 2})],
    "board": [
        (bench_board, {"MODELS": 12, "EDITION_MODELS": 3, "PAGES": 2, "CALLS": 3, "NEW_RESULTS": 1}),
        (visits, {"VISITORS": 4, "DURATION": 6.0}),
    ],
    "scale": [(bench_scale, {"QUESTIONS": 8, "SIDE": 200, "NEW_TOKENS": 1})],
    "statistics": [(bench_statistics, {"BOARDS": 10, "PAIRS": 4, "RESAMPLES": 10})],
    "fresh": [(bench_fresh, {"N": 40, "READERS": 3, "BLIND_FIGURES": 60, "OCR_QUESTIONS": 2})],
    "memory": [(bench_memory, {"SEEDS": 1, "PUBLISHED": (("planted", 16),), "EPOCHS": 1, "TRAINED_LAYERS": 1})],
}


def test_rate_rejects_answers_that_are_no_pages() -> None:
    async def unavailable(scope: Any, receive: Any, send: Any) -> None:
        await PlainTextResponse("busy", 503)(scope, receive, send)

    with serve(unavailable) as address, pytest.raises(RuntimeError, match="answered 503"):
        bench_board._rate(address, 2)


def test_every_part_has_small_sizes() -> None:
    assert set(SMALL) == set(bench.PARTS)


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.parametrize("part", SMALL)
def test_part_runs(part: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for module, sizes in SMALL[part]:
        for name, value in sizes.items():
            monkeypatch.setattr(module, name, value)
    bench.PARTS[part]()
    assert capsys.readouterr().out
