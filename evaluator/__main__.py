"""`python -m evaluator`: benchmarks, run, parity, score, import, worker, schedule."""

import argparse
import json
import re
import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from evaluator.benchmarks import BENCHMARKS
from evaluator.data_types import DataError, ModelError
from evaluator.datasets.import_dataset import REJECTED, import_dataset
from evaluator.datasets.source import open_source
from evaluator.engines.base import ApiOptions
from evaluator.hub.jobs import IMAGE, JobScheduler, JobSettings, cron, space_of
from evaluator.hub.model_download import fetch_model
from evaluator.run.evaluate import Details, Evaluation, Unanswered, evaluate
from evaluator.run.parity import SHOWN, parity
from evaluator.run.result import server_name
from evaluator.run.score_files import score_files
from evaluator.run.task import Task, load_items
from evaluator.sandbox.policy import SandboxError
from evaluator.worker import Worker, every
from submissions.checks.benchmark_checks import build_request
from submissions.checks.model_checks import inspect_folder, inspect_model
from submissions.logs import log_safely
from submissions.models.model_facts import PRECISIONS, ModelFacts, facts_of_server
from submissions.models.reasoning import THINKING
from submissions.models.repository import Refused
from submissions.records import FailureCode
from submissions.settings import Settings, SettingsError, duration, load_settings
from submissions.store.base import StoreError

PREVIEW = 10  # rejected rows shown


def main(argv: list[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    try:
        if args.command == "benchmarks":
            return _benchmarks()
        if args.command == "run":
            return _run(args, load_settings())
        if args.command == "parity":
            return _parity(args, load_settings())
        if args.command == "score":
            scored = score_files(args.benchmark, args.items, args.answers, args.per_item, raw=args.strip_reasoning)
            print(json.dumps(scored, ensure_ascii=False))
            return 0
        if args.command == "import":
            return _import(args)
        if args.command == "schedule":
            return _schedule(args, load_settings())
        return _worker(args, load_settings())
    except SandboxError as error:
        return _complain(f"{error}; for a model you trust: run --sandbox none", 2)
    except (DataError, Refused, SettingsError, StoreError) as error:
        return _complain(str(error), 2)
    except ModelError as error:
        return _complain(f"{error.code}: {error}", 1 if FailureCode(error.code).ours else 2)
    except OSError as error:
        return _complain(str(error), 1)
    except KeyboardInterrupt:
        return _complain("stopped; start again with the same --out to go on where it was", 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evaluator", description="Give models their scores.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("benchmarks", help="what can be measured")
    run = commands.add_parser("run", help="evaluate one model on one benchmark, here and now")
    run.add_argument("--model", required=True, help="a folder, or owner/name on the Hub or under HANNUN_MODELS_DIR")
    run.add_argument("--revision", help="branch, tag or commit (default: the newest)")
    run.add_argument("--benchmark", required=True, choices=list(BENCHMARKS))
    run.add_argument(
        "--data", metavar="PATH[#SPLIT]", help="the items: a path or hf://datasets/OWNER/NAME (default: the sample set)"
    )
    run.add_argument("--engine", default="auto", choices=["auto", "chat", "extractive", "api"])
    run.add_argument("--base-url", help="of an OpenAI-compatible server; its key in HANNUN_API_KEY")
    run.add_argument("--spawn", metavar="COMMAND", help="start such a server: 'vllm serve {model} --port {port}'")
    run.add_argument("--page-chars", type=_positive, metavar="N", help="read pages longer than this in windows")
    run.add_argument("--image-links", action="store_true", help="name public images by their links, send the others")
    run.add_argument("--max-requests", type=_positive, metavar="N", help="budget of requests")
    run.add_argument("--max-tokens", type=_positive, metavar="N", help="budget of tokens, in and out together")
    run.add_argument("--max-cost", type=float, metavar="X", help="budget of money, by --prices")
    run.add_argument(
        "--prices", type=float, nargs=2, metavar=("IN", "OUT"), default=[0.0, 0.0], help="a million tokens"
    )
    run.add_argument("--precision", choices=PRECISIONS, help="default: as the checkpoint says")
    run.add_argument(
        "--thinking", choices=THINKING, help="of a model that reasons or not (default: as its template has it)"
    )
    run.add_argument("--max-new-tokens", type=_positive, metavar="N", help="of an answer (default: the benchmark's)")
    run.add_argument("--max-reasoning-tokens", type=_positive, metavar="N", help="before it (default: 8192)")
    run.add_argument(
        "--decoding",
        choices=["greedy", "repository"],
        default="greedy",
        help="repository: keep the penalties of its generation config, as published scripts do; such rows have no rank",
    )
    run.add_argument(
        "--trust-remote-code", action="store_true", help="run the Python files of the model's folder, in the sandbox"
    )
    run.add_argument("--limit", type=_positive, metavar="N", help="only the first N items")
    run.add_argument("--batch-size", type=_batch_size, metavar="auto|N", help="default: auto")
    run.add_argument("--max-pixels", type=_positive, metavar="N", help="scale larger images down to N pixels")
    run.add_argument(
        "--alone", type=int, metavar="N", help="ask N questions again one at a time, for latency (default: 100)"
    )
    run.add_argument("--fresh", action="store_true", help="use no answers of earlier runs")
    run.add_argument(
        "--no-images", action="store_true", help="ask without images and pages: shows shortcuts in the data"
    )
    run.add_argument(
        "--sandbox", choices=["auto", "none"], default="auto", help="none: for a model you trust with this machine"
    )
    run.add_argument("--out", required=True, type=Path, help="folder for result.json and details.jsonl")
    parity = commands.add_parser("parity", help="ask the same questions by the built-in engine and by a server")
    parity.add_argument("model", help="a folder, or owner/name on the Hub or under HANNUN_MODELS_DIR")
    parity.add_argument("--benchmark", default="ko-vqa", choices=list(BENCHMARKS))
    parity.add_argument("--data", metavar="PATH[#SPLIT]", help="as for run (default: the sample set)")
    parity.add_argument("--revision", help="branch, tag or commit (default: the newest)")
    parity.add_argument("--precision", choices=PRECISIONS, help="default: as the checkpoint says")
    parity.add_argument("--thinking", choices=THINKING, help="of a model that reasons or not")
    parity.add_argument("--spawn", metavar="COMMAND", help="the server (default: HANNUN_SERVER)")
    parity.add_argument("--items", type=_positive, default=100, metavar="N", help="questions asked (default: 100)")
    parity.add_argument("--sandbox", choices=["auto", "none"], default="auto", help="none: for a model you trust")
    parity.set_defaults(base_url=None, trust_remote_code=False)
    score = commands.add_parser("score", help="score answers that are at hand already")
    score.add_argument("benchmark", choices=list(BENCHMARKS))
    score.add_argument("--items", required=True, type=Path, help='JSON lines: {"id", "answer", …}')
    score.add_argument("--answers", required=True, type=Path, help='JSON lines: {"id", "text"}')
    score.add_argument(
        "--strip-reasoning", action="store_true", help="the texts are raw transcripts: score what follows the reasoning"
    )
    score.add_argument("--per-item", type=Path, help="write each item's score here, in item order")
    importer = commands.add_parser("import", help="convert a test set as its makers hand it out")
    importer.add_argument("benchmark", choices=list(BENCHMARKS))
    importer.add_argument("source", type=Path, help="file or folder: CSV, XLSX, JSON, Parquet beside the images; zip")
    importer.add_argument("out", type=Path, help="new folder for the Parquet, its images or pages, and a card")
    worker = commands.add_parser("worker", help="evaluate what is queued")
    worker.add_argument("--once", action="store_true", help="stop when the queue is empty")
    worker.add_argument(
        "--every", type=_duration, metavar="10m", help="look again this often (default: HANNUN_WORKER_EVERY)"
    )
    worker.add_argument("--store", help="the store's path or address (default: HANNUN_STORE)")
    schedule = commands.add_parser("schedule", help="run the worker as a Hugging Face Job, again and again")
    schedule.add_argument("--flavor", default="a10g-small", help="hardware, a100-large say (default: a10g-small)")
    schedule.add_argument("--space", help="owner/name of the Space whose code is run (default: this Space)")
    schedule.add_argument("--image", default=IMAGE, help=f"Docker image with Python and git (default: {IMAGE})")
    schedule.add_argument("--timeout", type=_duration, default=duration("12h"), help="of one job (default: 12h)")
    schedule.add_argument("--namespace", help="user or organisation that pays (default: the token's)")
    what = schedule.add_mutually_exclusive_group()
    what.add_argument("--every", type=_duration, default=duration("1h"), metavar="1h", help="default: 1h")
    what.add_argument("--on-push", action="store_true", help="instead: whenever something is pushed to the store")
    what.add_argument("--list", action="store_true", help="the jobs there are")
    what.add_argument("--delete", metavar="ID", help="end one of them")
    return parser


def _benchmarks() -> int:
    table = Table("benchmark", "version", "split", "questions", "inputs", "what it measures")
    for name, benchmark in BENCHMARKS.items():
        card = benchmark.card
        table.add_row(name, benchmark.version, card.split, f"{card.n:,}", benchmark.inputs, card.summary_en)
    Console().print(table)
    return 0


def _run(args: argparse.Namespace, settings: Settings) -> int:
    benchmark = BENCHMARKS[args.benchmark]
    source = open_source(args.benchmark, args.data, settings)
    if args.base_url or args.spawn:
        args.engine = "api"
    elif args.engine == "api":
        raise DataError("--engine api needs --base-url, or --spawn to start a server of its own")
    facts, folder, adapter = _find_model(args, settings)
    if args.no_images:
        facts = replace(facts, takes_images=True)  # a model that sees nothing can be asked blind as well
    request = build_request(
        facts, args.benchmark, "local", args.revision, args.precision, thinking=None if args.base_url else args.thinking
    )
    if args.base_url:
        request = request.evolve(thinking=args.thinking)  # what a server is told, whose template nobody sees
    if args.engine != "auto":
        request = request.evolve(engine=args.engine)
    task = Task(
        request,
        folder,
        benchmark,
        source,
        adapter=adapter,
        max_new_tokens=args.max_new_tokens,
        max_reasoning_tokens=args.max_reasoning_tokens or settings.max_reasoning_tokens,
        decoding=args.decoding,
        limit=args.limit,
        batch_size=args.batch_size,
        max_pixels=args.max_pixels or settings.max_pixels,
        api=_api(args) if args.engine == "api" else None,
        alone=settings.alone if args.alone is None else args.alone,
        max_score_changes=settings.max_score_changes,
        cache=None if args.fresh else settings.work_dir / "answers",
        blind=args.no_images,
        sandbox=args.sandbox == "auto",
    )
    items, dataset = load_items(task)
    with _progress() as progress:
        bar = progress.add_task("load", total=None)

        def show(stage: str, answered: int, total: int) -> None:
            progress.update(bar, description=stage, completed=answered, total=total)

        try:
            evaluation = evaluate(task, items, dataset, args.out / "job", on_progress=show)
        except Unanswered as error:
            _save_details(error.details, args.out)
            raise
    _save(evaluation, args.out)
    return 0


def _parity(args: argparse.Namespace, settings: Settings) -> int:
    """Exit code 1 where the scores differ by more than chance."""
    command = args.spawn or settings.server
    if not command:
        raise DataError("parity needs --spawn or HANNUN_SERVER, the command that starts the server")
    facts, folder, adapter = _find_model(args, settings)
    request = build_request(facts, args.benchmark, "local", args.revision, args.precision, thinking=args.thinking)
    task = Task(
        request,
        folder,
        BENCHMARKS[args.benchmark],
        open_source(args.benchmark, args.data, settings),
        adapter=adapter,
        max_pixels=settings.max_pixels,
        max_reasoning_tokens=settings.max_reasoning_tokens,
        sandbox=args.sandbox == "auto",
    )
    with TemporaryDirectory() as scratch, _progress() as progress:
        bar = progress.add_task("load", total=None)
        found = parity(
            task,
            replace(task, api=ApiOptions(spawn=command)),
            args.items,
            Path(scratch),
            lambda stage, done, total: progress.update(bar, description=stage, completed=done, total=total),
        )
    low, high = (100 * end for end in found.comparison.interval)
    print(
        f"{facts.model_id} on {args.benchmark}, {found.n} questions: built-in {100 * found.built_in:.2f}, "
        f"{server_name(command)} {100 * found.served:.2f}, difference {100 * found.comparison.difference:+.2f} "
        f"(95% interval {low:+.2f} to {high:+.2f})"
    )
    print(f"{len(found.different)} answers are not the same text")
    for one in found.different[:SHOWN]:
        print(f"  {one.id}\n    built-in: {one.built_in!r}\n    served:   {one.served!r}")
    return 0 if found.agrees else 1


def _find_model(args: argparse.Namespace, settings: Settings) -> tuple[ModelFacts, Path, Path | None]:
    """What the model is, its folder, and that of the adapter to be put on it. Raises Refused, ModelError."""
    folder = Path(args.model)
    if args.base_url and not args.spawn:
        return facts_of_server(_name(args.model, "api"), args.base_url), folder, None
    local = folder.is_dir()
    if local:
        name = _name(folder.resolve().name, "local")
        facts = inspect_folder(name, folder, settings.models_dir, trust_code=args.trust_remote_code)
    else:
        facts = inspect_model(args.model, args.revision, settings.models_dir, trust_code=args.trust_remote_code)
    code = facts.custom_code
    if facts.base_revision:
        base = fetch_model(str(facts.base_model), facts.base_revision, settings, with_code=code)
        return facts, base, folder if local else fetch_model(facts.model_id, facts.revision, settings)
    return facts, folder if local else fetch_model(facts.model_id, facts.revision, settings, with_code=code), None


def _name(name: str, owner: str) -> str:
    """An ID for what has none."""
    parts = [re.sub(r"[^A-Za-z0-9._-]", "-", part).strip("._-") or "model" for part in name.split("/")[-2:]]
    return "/".join(parts if len(parts) == 2 else [owner, *parts])


def _api(args: argparse.Namespace) -> ApiOptions:
    return ApiOptions(
        base_url=args.base_url,
        model=None if args.spawn else args.model,
        spawn=args.spawn,
        page_chars=args.page_chars,
        links=args.image_links,
        max_requests=args.max_requests,
        max_tokens=args.max_tokens,
        max_cost=args.max_cost,
        prices=(args.prices[0], args.prices[1]),
    )


def _save(evaluation: Evaluation, out: Path) -> None:
    (out / "result.json").write_bytes(evaluation.result.to_bytes())
    _save_details(evaluation.details, out)
    shutil.rmtree(out / "job")
    result = evaluation.result
    scores = {k: v for k, v in result.results[result.benchmark].items() if v is not None}
    latency = f"{result.latency.mean_ms:,.1f} ms a question" if result.latency else ""
    print(
        f"{result.config.model_name} on {result.benchmark} ({result.dataset.split}, n = {result.dataset.n}): "
        + ", ".join(f"{name} {value:.2f}" for name, value in scores.items())
        + f", {latency}\n{out / 'result.json'}"
    )


def _import(args: argparse.Namespace) -> int:
    with _progress() as progress:
        bar = progress.add_task("rows", total=None)
        done = import_dataset(
            BENCHMARKS[args.benchmark], args.source, args.out, lambda number: progress.update(bar, completed=number)
        )
    print(
        f"{len(done.items):,} items, {done.files:,} images or pages, {len(done.rejected):,} rows rejected: {args.out}"
    )
    if done.unmatched:
        print(f"{done.unmatched:,} items can never be right: the published rule does not accept their own answer")
    for where, reason in done.rejected[:PREVIEW]:
        print(f"rejected {where}: {reason}", file=sys.stderr)
    if len(done.rejected) > PREVIEW:
        print(f"… and {len(done.rejected) - PREVIEW:,} more: {args.out / REJECTED}", file=sys.stderr)
    return 0


def _save_details(details: Details, out: Path) -> None:
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in details)
    (out / "details.jsonl").write_text(lines, encoding="utf-8")


def _worker(args: argparse.Namespace, settings: Settings) -> int:
    log_safely(settings)
    if args.store:
        settings = settings.model_copy(update={"store": args.store})
    worker = Worker(settings)
    signal.signal(signal.SIGTERM, lambda *_: worker.stop())
    signal.signal(signal.SIGINT, lambda *_: worker.stop())
    if args.once:
        worker.run_pending()
    else:
        every(args.every or settings.worker_every, worker)
    return 0


def _schedule(args: argparse.Namespace, settings: Settings) -> int:
    scheduler = JobScheduler(settings)
    if args.list:
        table = Table("id", "schedule", "flavor", "next run")
        for there in scheduler.list(args.namespace):
            table.add_row(there.id, there.schedule, there.flavor, there.next_run)
        Console().print(table)
        return 0
    if args.delete:
        scheduler.delete(args.delete, args.namespace)
        print(f"deleted {args.delete}")
        return 0
    job = JobSettings(space_of(args.space), args.flavor, args.image, args.timeout, args.namespace)
    if args.on_push:
        print(f"webhook {scheduler.on_push(job)}: a job at every push to {settings.store}")
    else:
        print(f"scheduled job {scheduler.create(job, args.every)}: {cron(args.every)}")
    return 0


class _Rate(ProgressColumn):
    def render(self, task: Any) -> Text:
        return Text(f"{task.speed:.1f}/s" if task.speed else "–/s")


def _progress() -> Progress:
    columns = [
        TextColumn("{task.description:<6}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
    ]
    return Progress(*columns, console=Console(stderr=True))


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def _batch_size(text: str) -> int | None:
    return None if text == "auto" else _positive(text)


def _duration(text: str) -> Any:
    return duration(text)


def _complain(message: str, code: int) -> int:
    print(f"evaluator: {' '.join(message.split())}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
