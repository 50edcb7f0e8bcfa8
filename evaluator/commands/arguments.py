"""Define the arguments of the commands that evaluate. docs/cli.md is generated from them.

`add_commands` adds one parser for each command, and `evaluator.commands.dispatch` runs the one that was named. This module
imports nothing heavy, so that `--help` is fast.
"""

import argparse
import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from evaluator.benchmarks import BENCHMARKS
from evaluator.engines.registry import ENGINES
from evaluator.results.shard import parse_shard
from submissions.commands.arguments import add_model_options, path_argument
from submissions.config.durations import parse_duration
from submissions.config.server_command import server_words
from submissions.records.hub_names import is_hub_id

T = TypeVar("T")
SANDBOX_HELP = "none: for a model that you trust with this machine; the result records it (default: auto)"


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    commands.add_parser("benchmarks", help="list the benchmarks")
    _add_run(commands.add_parser("run", help="evaluate one model on one benchmark on this machine"))
    _add_parity(commands.add_parser("parity", help="compare the built-in engine and a server on the same questions"))
    _add_score(commands.add_parser("score", help="score existing answers"))
    _add_verify(commands.add_parser("verify", help="check a published result against its signed statement"))
    _add_croissant(commands.add_parser("croissant", help="describe a folder of items for its dataset card"))
    _add_import(commands.add_parser("import", help="convert a test set from its published format"))
    _add_ko_fresh(commands.add_parser("ko-fresh", help="draw a ko-fresh set, reveal a seed, verify a revealed set"))
    _add_errata(commands.add_parser("errata", help="correct or withdraw items, and score stored answers again"))
    _add_worker(commands.add_parser("worker", help="evaluate queued requests"))
    _add_estimate(commands.add_parser("estimate", help="estimate the time and price of a model's evaluations"))
    _add_schedule(commands.add_parser("schedule", help="run the worker as a scheduled Hugging Face Job"))
    selftest = commands.add_parser("selftest", help="measure the engines on this machine, as a table")
    selftest.add_argument("--device", choices=("cuda", "cpu"), help="what to measure (default: a GPU if there is one)")
    selftest.add_argument(
        "--rounds", type=int, metavar="N", help="rounds of each comparison (default: 3; on a GPU one takes 2 minutes)"
    )
    _add_strategies(commands.add_parser("strategies", help="what one answer to all questions, a dump or an echo earns"))


def add_doctor(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `doctor`. app.py adds it beside the commands of `submissions`, as it is about the stores too."""
    doctor = commands.add_parser("doctor", help="check everything that a board needs, and say how to repair it")
    doctor.add_argument("--json", action="store_true", help="print the findings as JSON")
    doctor.add_argument(
        "--address",
        metavar="URL",
        help="public address of the board, to check the proxy (default: HANNUN_LIVE_ADDRESS)",
    )
    doctor.add_argument("--quick", action="store_true", help="leave out the evaluation of a tiny model")


def _add_strategies(strategies: argparse.ArgumentParser) -> None:
    strategies.add_argument(
        "--benchmark",
        nargs="+",
        choices=list(BENCHMARKS),
        default=list(BENCHMARKS),
        metavar="NAME",
        help="which benchmarks to measure (default: all)",
    )
    strategies.add_argument(
        "--data", metavar="PATH[#SPLIT]", help="a folder, file or Hub dataset (default: the sample set)"
    )


def _add_verify(verify: argparse.ArgumentParser) -> None:
    verify.add_argument("result", help="a result's JSON: a file, or its address, https://BOARD/results/KEY.json")
    verify.add_argument(
        "--key", required=True, type=path_argument, metavar="FILE", help="the operator's public key, Ed25519 in PEM"
    )
    verify.add_argument(
        "--statement", metavar="PLACE", help="a file or address (default: KEY.intoto.json beside the result)"
    )


def _add_croissant(croissant: argparse.ArgumentParser) -> None:
    _add_benchmark(croissant, "benchmark", "the benchmark of the items")
    croissant.add_argument("folder", type=path_argument, help="a folder with items.jsonl or items.parquet")
    croissant.add_argument("--license", required=True, metavar="ADDRESS", help="address of the licence")
    croissant.add_argument("--url", required=True, metavar="ADDRESS", help="address of the dataset")


def _add_ko_fresh(ko_fresh: argparse.ArgumentParser) -> None:
    steps = ko_fresh.add_subparsers(dest="step", required=True)
    draw = steps.add_parser("draw", help="draw the set of a seed into a new folder")
    draw.add_argument("--seed", required=True, metavar="TEXT", help="any text; the same text gives the same set")
    draw.add_argument(
        "--n",
        type=_positive,
        default=2000,
        metavar="N",
        help="number of questions, twins included; must be even (default: 2000)",
    )
    collect = steps.add_parser("collect", help="write a quarter's set, results and answers to a folder, for yourself")
    reveal = steps.add_parser(
        "reveal", help="publish a quarter's seed, items and answers; later results on its set are not ranked"
    )
    for step in (collect, reveal):
        step.add_argument("quarter", help="for example 2026Q4")
    reveal.add_argument(
        "--dataset", required=True, type=_dataset, metavar="OWNER/NAME", help="the name of the dataset on the Hub"
    )
    reveal.add_argument(
        "--push",
        action="store_true",
        help="create that dataset on the Hub before the seed is public, and upload the folder",
    )
    reveal.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    verify = steps.add_parser(
        "verify", help="draw a revealed set again, score all answers again, and compare with what was published"
    )
    verify.add_argument(
        "published", help="the folder of a published dataset, a commitment file, or a quarter of the store: 2026Q4"
    )
    verify.add_argument(
        "--board",
        metavar="ADDRESS",
        help="also compare records and commitment with those of this board, and find results that are missing",
    )
    for step in (draw, collect, reveal, verify):
        step.add_argument(
            "--out", required=True, type=path_argument, metavar="FOLDER", help="a folder that does not exist yet"
        )
    statistics = steps.add_parser("statistics", help="difficulty and discrimination of the items in a collected folder")
    statistics.add_argument("folder", type=path_argument, help="a folder that `collect` or `reveal` has written")


def _add_store(parser: argparse.ArgumentParser) -> None:
    """Add `--store`, which may also be given before the name of the command.

    It has no default (SUPPRESS), because a default would overwrite the value that was given there.
    """
    parser.add_argument(
        "--store", default=argparse.SUPPRESS, help="path or address of the store (default: HANNUN_STORE)"
    )


def _add_errata(errata: argparse.ArgumentParser) -> None:
    steps = errata.add_subparsers(dest="step", required=True)
    add = steps.add_parser("add", help="record an erratum of the installation's test set, then score answers again")
    rescore = steps.add_parser(
        "rescore", help="score answers again after an interruption, a later evaluation, or a release with a new metric"
    )
    list_step = steps.add_parser("list", help="list the errata of the installation's test set")
    for step in (add, rescore, list_step):
        _add_benchmark(step, "benchmark", "the benchmark")
        _add_store(step)
    errata.set_defaults(uses_store=True)
    add.add_argument("item", help="the item's id, which becomes public")
    change = add.add_mutually_exclusive_group(required=True)
    change.add_argument(
        "--answer",
        metavar="TEXT",
        help="the right answer, which stays private; of a choice benchmark the text of the right choice",
    )
    change.add_argument("--withdraw", action="store_true", help="the item no longer counts")
    add.add_argument(
        "--reason",
        default="",  # `errata` refuses a missing reason as it does a blank one
        metavar="TEXT",
        help="the reason, which is public; refused if it quotes the item. Required",
    )
    add.add_argument(
        "--unranked",
        action="store_true",
        help="add it even if no result can be scored again, so that all lose their ranks",
    )


def _add_run(run: argparse.ArgumentParser) -> None:
    run.add_argument(
        "--model",
        required=True,
        help="a folder, or owner/name on the Hub or under HANNUN_MODELS_DIR; with --base-url its name on that server",
    )
    add_model_options(run)
    _add_benchmark(run, "--benchmark", "the benchmark", required=True)
    run.add_argument(
        "--data",
        metavar="PATH[#SPLIT]",
        help="the items: a folder, KorQuAD's published JSON, or hf://datasets/OWNER/NAME[@REVISION][#SPLIT]; the split is"
        " test unless named (default: the sample set; HANNUN_DATA is not read)",
    )
    run.add_argument(
        "--engine", default="auto", choices=["auto", *ENGINES], help="default: auto, chosen from the model's files"
    )
    server = run.add_mutually_exclusive_group()
    server.add_argument(
        "--base-url",
        action="append",
        metavar="ADDRESS",
        help="an OpenAI-compatible server, its key in HANNUN_API_KEY; repeat for each further server with the same model:"
        " each question goes to one that is free. Implies --engine api",
    )
    server.add_argument(
        "--spawn",
        type=_server_command,
        metavar="COMMAND",
        help="start such a server in the sandbox, wait for it and end it; {model}, {port} and {precision} are filled in."
        " Implies --engine api",
    )
    run.add_argument("--page-chars", type=_positive, metavar="N", help="API engine: read longer pages in windows")
    run.add_argument(
        "--image-links", action="store_true", help="API engine: name public images by their links, send all others"
    )
    run.add_argument("--max-requests", type=_positive, metavar="N", help="budget of requests")
    run.add_argument("--max-tokens", type=_positive, metavar="N", help="budget of tokens, in and out together")
    run.add_argument(
        "--max-cost", type=_price, metavar="X", help="budget of money, computed with --prices, which it requires"
    )
    run.add_argument(
        "--prices", type=_price, nargs=2, metavar=("IN", "OUT"), help="price of a million tokens, in and out"
    )
    run.add_argument(
        "--max-new-tokens", type=_positive, metavar="N", help="budget of an answer in tokens (default: the benchmark's)"
    )
    run.add_argument(
        "--max-reasoning-tokens",
        type=_positive,
        metavar="N",
        help="budget of the reasoning before it (default: HANNUN_MAX_REASONING_TOKENS)",
    )
    run.add_argument(
        "--decoding",
        choices=["greedy", "repository"],
        default="greedy",
        help="repository: keep the penalties of the model's generation config, as published scripts do; such rows have no"
        " rank (default: greedy)",
    )
    run.add_argument(
        "--trust-remote-code", action="store_true", help="run the Python files of the model's folder, in the sandbox"
    )
    run.add_argument("--limit", type=_positive, metavar="N", help="only the first N items (default: all)")
    run.add_argument(
        "--batch-size",
        type=_batch_size,
        metavar="auto|N",
        help="prompts in a batch; of the API engine the simultaneous requests (default: auto)",
    )
    run.add_argument(
        "--max-pixels",
        type=_positive,
        metavar="N",
        help="scale larger images down to N pixels (default: HANNUN_MAX_PIXELS)",
    )
    run.add_argument(
        "--latency-samples",
        type=_count,
        metavar="N",
        help="ask N questions again one at a time, for latency and batch invariance (default: HANNUN_LATENCY_SAMPLES)",
    )
    run.add_argument("--fresh", action="store_true", help="neither use answers of earlier runs nor keep any")
    run.add_argument(
        "--no-images", action="store_true", help="ask without images and pages, to find shortcuts in the data"
    )
    run.add_argument("--sandbox", choices=["auto", "none"], default="auto", help=SANDBOX_HELP)
    run.add_argument(
        "--out",
        required=True,
        type=path_argument,
        metavar="FOLDER",
        help="folder for the result, the answers and the log",
    )


def _add_parity(parity: argparse.ArgumentParser) -> None:
    parity.add_argument("model", help="a folder, or owner/name on the Hub or under HANNUN_MODELS_DIR")
    _add_benchmark(parity, "--benchmark", "the benchmark (default: ko-vqa)", default="ko-vqa")
    parity.add_argument("--data", metavar="PATH[#SPLIT]", help="as for run (default: the sample set)")
    add_model_options(parity)
    parity.add_argument(
        "--spawn",
        type=_server_command,
        metavar="COMMAND",
        help="command that starts the server (default: HANNUN_SERVER)",
    )
    parity.add_argument(
        "--items",
        type=_positive,
        default=100,
        metavar="N",
        help="number of questions, evenly spread over the benchmark (default: 100)",
    )
    parity.add_argument("--sandbox", choices=["auto", "none"], default="auto", help=SANDBOX_HELP)
    parity.set_defaults(base_url=None, trust_remote_code=False)  # `find_model` reads these options of run


def _add_score(score: argparse.ArgumentParser) -> None:
    _add_benchmark(score, "benchmark", "the benchmark")
    score.add_argument(
        "--items", required=True, type=path_argument, metavar="FILE", help='JSON lines: {"id", "answer", …}'
    )
    score.add_argument(
        "--answers", required=True, type=path_argument, metavar="FILE", help='JSON lines: {"id", "text"}, in any order'
    )
    score.add_argument(
        "--strip-reasoning",
        action="store_true",
        help="the texts are raw transcripts: score only what follows the reasoning",
    )
    score.add_argument(
        "--per-item",
        type=path_argument,
        metavar="FILE",
        help="write each item's score to this file, in the order of the items",
    )


def _add_import(importer: argparse.ArgumentParser) -> None:
    _add_benchmark(importer, "benchmark", "the benchmark")
    importer.add_argument(
        "source",
        type=path_argument,
        help="file or folder: CSV, XLSX, JSON or Parquet beside the images; a zip for korquad-2",
    )
    importer.add_argument("out", type=path_argument, help="a new or empty folder")


def _add_worker(worker: argparse.ArgumentParser) -> None:
    worker.add_argument(
        "--once",
        action="store_true",
        help="stop as soon as the queue is empty, or this host fails (exit code 1; the request stays pending)",
    )
    worker.add_argument(
        "--every",
        type=_with_reason(parse_duration),
        metavar="10m",
        help="keep running and check the queue at this interval (default: HANNUN_WORKER_EVERY)",
    )
    worker.add_argument(
        "--claimed",
        metavar="KEY:NONCE",
        help="used by launchers: evaluate the one request that is claimed already, then exit",
    )
    worker.add_argument(
        "--shard",
        type=_with_reason(parse_shard),
        metavar="0/4",
        help="with --claimed: answer only this part of the questions (here the first of four)",
    )
    worker.add_argument("--private", action="store_true", help="with --claimed: a request of the private queue")
    _add_store(worker)
    worker.set_defaults(uses_store=True)


def _add_estimate(estimate: argparse.ArgumentParser) -> None:
    estimate.add_argument("model", help="a folder, or owner/name on the Hub or under HANNUN_MODELS_DIR")
    estimate.add_argument(
        "benchmarks",
        nargs="*",
        metavar="BENCHMARK",
        type=_benchmark,  # not `choices`: in Python 3.11, argparse refuses an empty list of them
        help="one or several benchmarks (default: all that accept the model)",
    )
    add_model_options(estimate)
    estimate.add_argument(
        "--device",
        metavar="NAME",
        help="the device, such as T4, L4, A10G, L40S, A100, H100, H200 or CPU (default: this machine's)",
    )
    estimate.add_argument(
        "--price", type=_price, metavar="X", help="price of the machine per hour (default: HANNUN_PRICE_PER_HOUR)"
    )


def _add_schedule(schedule: argparse.ArgumentParser) -> None:
    schedule.add_argument(
        "--flavor", default="a10g-small", help="the hardware, by the Hub's name for it (default: a10g-small)"
    )
    schedule.add_argument(
        "--space",
        metavar="OWNER/NAME",
        help="the Space whose code is run (default: the Space in which the command runs)",
    )
    schedule.add_argument(
        "--commit", metavar="SHA", help="commit of that code (default: the newest now; a later push has no effect)"
    )
    schedule.add_argument(
        "--image",
        metavar="NAME@sha256:…",
        help="Docker image of Debian with Python 3.11, by its digest; `docker buildx imagetools inspect python:3.11` prints it",
    )
    schedule.add_argument(
        "--timeout",
        type=_with_reason(parse_duration),
        default=timedelta(hours=12),
        metavar="12h",
        help="time limit of one run (default: 12h)",
    )
    schedule.add_argument("--namespace", metavar="NAME", help="user or organisation that pays (default: the token's)")
    action = schedule.add_mutually_exclusive_group()
    action.add_argument(
        "--every",
        type=_with_reason(parse_duration),
        default=timedelta(hours=1),
        metavar="1h",
        help="interval between runs: minutes that divide an hour (1m to 30m), hours that divide a day (1h to 12h), or 24h"
        " (default: 1h)",
    )
    action.add_argument("--list", action="store_true", help="list the scheduled jobs")
    action.add_argument("--delete", metavar="ID", help="delete this scheduled job")


def _add_benchmark(parser: argparse.ArgumentParser, name: str, help: str, **options: Any) -> None:
    """Add an argument whose value is the name of a benchmark. `name` is `benchmark` or `--benchmark`."""
    parser.add_argument(name, choices=list(BENCHMARKS), metavar="NAME", help=help, **options)


def _with_reason(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Wrap a parser so that argparse shows the message of its ValueError. Otherwise it only says "invalid value"."""

    def parse_argument(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse_argument


def _price(text: str) -> float:
    try:
        price = float(text)
    except ValueError:
        price = math.nan
    if not 0 <= price < math.inf:  # false for NaN too
        raise argparse.ArgumentTypeError(f"{text!r} is not a price")
    return price


def _benchmark(text: str) -> str:
    if text not in BENCHMARKS:
        raise argparse.ArgumentTypeError(f"unknown benchmark {text!r}; available: {', '.join(BENCHMARKS)}")
    return text


def _dataset(text: str) -> str:
    if not is_hub_id(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not OWNER/NAME")
    return text


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def _server_command(text: str) -> str:
    """Return the text unchanged if it is a valid command. `_with_reason(server_words)` would return its words."""
    try:
        server_words(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _batch_size(text: str) -> int | None:
    """Return the number, or None for `auto`."""
    return None if text == "auto" else _positive(text)
