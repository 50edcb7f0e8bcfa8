"""Test the marks that distinguish claims of a killed worker from those of a running one."""

import subprocess
import sys
from pathlib import Path

from evaluator.worker.launchers.held_claims import HeldClaims
from submissions.config.paths import ROOT

HOLDER = """
import sys
from pathlib import Path
from evaluator.worker.launchers.held_claims import HeldClaims
with HeldClaims(Path(sys.argv[1])).hold("abc"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_abandoned_lists_claim_of_killed_process(tmp_path: Path) -> None:
    claims = HeldClaims(tmp_path / "claims")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "claims")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout and process.stdout.readline() == b"held\n"
        assert claims.abandoned() == []
        process.kill()
        process.wait()
        assert claims.abandoned() == ["abc"]
        claims.forget("abc")
        assert claims.abandoned() == []


def test_hold_leaves_no_mark_after_end(tmp_path: Path) -> None:
    claims = HeldClaims(tmp_path / "claims")
    with claims.hold("abc"), claims.hold("def"):
        assert claims.abandoned() == []
    assert claims.abandoned() == []
