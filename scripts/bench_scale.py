"""Scale rows of `make bench`: several servers against one, and questions grouped by image against ungrouped ones."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Prompt
from evaluator.engines.load import load_engine
from evaluator.engines.options import EngineOptions
from scripts.support.hub.server import serve
from scripts.support.tiny_models import make_image_text
from submissions.config.api_options import ApiOptions
from submissions.config.paths import SAMPLES

QUESTIONS = 1200  # asked of the servers
ANSWER_SECONDS, CONCURRENCY = 0.1, 4  # of a simulated server: seconds a request, and simultaneous requests
SIDE = 2000  # pixels: figures of 4 MP, like infographics
NEW_TOKENS = 16

Row = tuple[str, float, float, str]  # name, seconds of this project, seconds of the baseline, target


def scale_rows(folder: Path) -> Iterator[Row]:
    one = servers(1)
    four = servers(4)
    yield f"4 servers / 1, {QUESTIONS:,} questions, a simulated server", four, one, "≥ 3.8×"
    grouped, apart = grouping(folder / "grouping")
    yield "InfoChartQA samples at 4 MP, questions on one figure together / each with a copy", grouped, apart, "≥ 1.5×"


def servers(count: int) -> float:
    """Return the seconds for all questions on `count` servers, each with CONCURRENCY simultaneous requests."""

    def server() -> FastAPI:
        app = FastAPI()
        places = threading.Semaphore(CONCURRENCY)

        @app.post("/v1/chat/completions")
        def complete(request: Request) -> JSONResponse:
            with places:
                time.sleep(ANSWER_SECONDS)
            message = {"role": "assistant", "content": "42"}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            return JSONResponse(
                {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
            )

        return app

    with ExitStack() as stack:
        urls = [f"{stack.enter_context(serve(server()))}/v1" for _ in range(count)]
        api = ApiOptions(base_url=urls[0], replicas=tuple(urls[1:]), model="m")
        engine = load_engine("api", EngineOptions(Path(), "bfloat16", 8, CONCURRENCY, api=api))
        started = time.perf_counter()
        answers = list(engine.answer([Prompt(str(n), f"질문 {n}") for n in range(QUESTIONS)]))
        seconds = time.perf_counter() - started
    assert len(answers) == QUESTIONS and all(answer.text == "42" for answer in answers)
    return seconds


def grouping(folder: Path) -> tuple[float, float]:
    """Return the seconds with one file per figure, and with a copy of the figure for each question."""
    model = make_image_text(folder / "model", ends=False)
    benchmark = BENCHMARKS["infochartqa"]
    prompts = [p for item in benchmark.load(SAMPLES / "infochartqa") for p in benchmark.prompts(item)]
    large: dict[Path, Path] = {}
    for path in sorted({path for prompt in prompts for path in prompt.images}):
        large[path] = folder / path.name
        with Image.open(path) as image:
            image.convert("RGB").resize((SIDE, SIDE)).save(large[path])

    def prompts_with(copies: bool) -> list[Prompt]:
        made = []
        for number, prompt in enumerate(prompts):
            images = []
            for path in prompt.images:
                target = large[path]
                if copies:
                    target = target.with_name(f"{number}-{target.name}")
                    target.write_bytes(large[path].read_bytes())
                images.append(target)
            made.append(replace(prompt, images=tuple(images)))
        return made

    engine = load_engine("chat", EngineOptions(model, "float32", NEW_TOKENS))
    together = prompts_with(copies=False)
    apart = prompts_with(copies=True)
    list(engine.answer(together[:2]))
    return _best(lambda: list(engine.answer(together))), _best(lambda: list(engine.answer(apart)))


def _best(work: Callable[[], Any]) -> float:
    times = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)
