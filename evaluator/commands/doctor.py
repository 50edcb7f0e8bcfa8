"""`python -m submissions doctor`: check everything that a board needs, and say how to repair it.

The command is in this package because it evaluates a small model. `app.py` adds it to the commands of `submissions`.
"""

import argparse
import json
import sys
from dataclasses import asdict

from evaluator.benchmarks import BENCHMARKS
from evaluator.doctor.examine import examine, store_diagnosis
from evaluator.doctor.findings import Finding, Options, fault
from submissions.config.logs import redact
from submissions.config.settings import load_settings
from submissions.texts.errors import SettingsError

MARKS = {"ok": "ok     ", "fault": "FAULT  ", "skipped": "-      "}


def main(args: argparse.Namespace) -> int:
    """Print a line for each finding, or with `--json` all of them at the end. Return 1 if one of them is a fault."""
    findings: list[Finding] = []

    def report(finding: Finding) -> None:
        findings.append(finding)
        if not args.json:
            _show(finding)

    try:
        settings = load_settings(BENCHMARKS).with_store(args.store)
    except SettingsError as error:
        report(fault("settings", redact(str(error)), "correct this variable; docs/configuration.md lists all settings"))
    else:
        for finding in examine(settings, Options(args.address, evaluates=not args.quick)):
            report(finding)
        store_diagnosis(settings, findings)  # `/metrics` of the board shows it
    faults = sum(finding.state == "fault" for finding in findings)
    if args.json:
        print(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=2))
    else:
        print(f"{faults} faults" if faults else "no faults")
    return 1 if faults else 0


def _show(finding: Finding) -> None:
    print(f"{MARKS[finding.state]}{finding.check}: {finding.said}")
    if finding.remedy:
        print(f"       → {finding.remedy}")
    sys.stdout.flush()
