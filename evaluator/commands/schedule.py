"""`python -m evaluator schedule`: run the worker as a scheduled Hugging Face Job."""

import argparse
import re

from rich.console import Console
from rich.table import Table

from evaluator.benchmarks import BENCHMARKS
from evaluator.worker.launchers.hub_jobs import JobClient, JobSettings, cron, pinned_image, space_of
from submissions.config.settings import load_settings
from submissions.texts.errors import SettingsError


def main(args: argparse.Namespace) -> int:
    """List scheduled Jobs, delete one or, without an option, schedule the worker. Raises SettingsError."""
    settings = load_settings(BENCHMARKS)
    jobs = JobClient(settings)
    if args.list:
        table = Table("id", "schedule", "flavor", "next run")
        for job in jobs.list(args.namespace):
            table.add_row(job.id, job.schedule, job.flavor, job.next_run)
        Console().print(table)
        return 0
    if args.delete:
        jobs.delete(args.delete, args.namespace)
        print(f"deleted {args.delete}")
        return 0
    space = space_of(args.space)
    image = pinned_image(args.image)
    if args.commit and not re.fullmatch("[0-9a-f]{40}", args.commit):
        raise SettingsError(f"--commit {args.commit}: give all 40 digits of a commit; a branch would move")
    commit = args.commit or jobs.newest_commit(space)
    job_settings = JobSettings(space, commit, args.flavor, image, args.timeout, args.namespace)
    print(f"code: {space} at {commit}")
    job_id = jobs.create(job_settings, args.every)
    print(f"scheduled job {job_id}: {cron(args.every)}")
    return 0
