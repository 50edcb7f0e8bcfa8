"""Test the handling of pip-audit's report; pip-audit itself needs advisories that not every host can reach."""

import json
import subprocess

import pytest

from scripts import audit

REPORT = {
    "dependencies": [
        {"name": "left", "version": "1.0", "vulns": []},
        {"name": "right", "version": "2.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"], "aliases": []}]},
        {"name": "away", "skip_reason": "not found"},
    ]
}


@pytest.mark.parametrize(
    ("known", "report", "code", "expected"),
    [
        ({}, json.dumps(REPORT), 1, ["right 2.0 PYSEC-1, fixed by 2.1 (NEW)", "2 of 3 packages looked up, 1 new"]),
        ({"PYSEC-1": "not called"}, json.dumps(REPORT), 0, ["(known: not called)", "0 new"]),
        ({"PYSEC-1": "x", "PYSEC-0": "y"}, json.dumps(REPORT), 0, ["PYSEC-0 is gone"]),
        ({}, "", 3, ["NOT DONE, nothing could be looked up from here (no route)"]),
        (
            {},
            '{"dependencies": [{"name": "away", "skip_reason": "not found"}]}',
            3,
            ["NOT DONE, nothing could be looked up"],
        ),
    ],
)
def test_audit_fails_on_new_weaknesses(
    known: dict[str, str],
    report: str,
    code: int,
    expected: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = subprocess.CompletedProcess([], code, report, "warning\nno route\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    monkeypatch.setattr(audit, "KNOWN", known)
    assert audit.main() == code
    output = capsys.readouterr().out
    assert all(words in output for words in expected), output
