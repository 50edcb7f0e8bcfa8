"""`python -m evaluator selftest`: measure the engines on this machine's device."""

import argparse
import subprocess
import sys

from submissions.config.paths import ROOT


def main(args: argparse.Namespace) -> int:
    """Run the measurement in a process of its own: it needs the plain loops and the models of `scripts`."""
    device = ["--device", args.device] if args.device else []
    rounds = ["--rounds", str(args.rounds)] if args.rounds is not None else []
    return subprocess.run([sys.executable, "-m", "scripts.selftest", *device, *rounds], cwd=ROOT).returncode
