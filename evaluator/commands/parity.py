"""`python -m evaluator parity`: ask the same questions with the built-in engine and with a server.

It shows whether results of the two may be compared.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluator.benchmarks import BENCHMARKS
from evaluator.commands.console import shown_progress
from evaluator.commands.find_model import fetch_folders, find_model, local_request
from evaluator.core.errors import DataError
from evaluator.datasets.source import open_source
from evaluator.results.parity import MAX_DIFFERENCES_SHOWN, parity
from evaluator.results.task import Task, options_of
from submissions.config.api_options import ApiOptions
from submissions.config.server_command import server_name
from submissions.config.settings import load_settings


def main(args: argparse.Namespace) -> int:
    """Return exit code 1 if the scores differ by more than chance."""
    settings = load_settings(BENCHMARKS)
    command = args.spawn or settings.server
    if not command:
        raise DataError("parity needs --spawn or HANNUN_SERVER, the command that starts the server")
    facts = find_model(args, settings)
    request = local_request(facts, args, args.thinking)
    folder, adapter = fetch_folders(facts, args, settings)
    benchmark = BENCHMARKS[args.benchmark]
    options = options_of(
        request,
        folder,
        benchmark,
        adapter=adapter,
        max_pixels=settings.max_pixels,
        max_reasoning_tokens=settings.max_reasoning_tokens,
    )
    source = open_source(args.benchmark, args.data, settings)
    built_in_task = Task(request, options, benchmark, source, sandbox=args.sandbox == "auto")
    served_task = replace(built_in_task, options=replace(options, engine="api", api=ApiOptions(spawn=command)))
    with TemporaryDirectory() as scratch, shown_progress() as show:
        found = parity(built_in_task, served_task, args.items, Path(scratch), show)
    low, high = (100 * end for end in found.comparison.interval)
    print(
        f"{facts.model_id} on {args.benchmark}, {found.n} questions: built-in {100 * found.built_in:.2f}, "
        f"{server_name(command)} {100 * found.served:.2f}, difference {100 * found.comparison.difference:+.2f} "
        f"(95% interval {low:+.2f} to {high:+.2f}, p = {found.comparison.p_value:.3f})"
    )
    print(f"{len(found.different)} answers are not the same text")
    for difference in found.different[:MAX_DIFFERENCES_SHOWN]:
        print(f"  {difference.id}, from character {difference.position}")
        print(f"    built-in: …{difference.built_in!r}")
        print(f"    served:   …{difference.served!r}")
    return 0 if found.agrees else 1
