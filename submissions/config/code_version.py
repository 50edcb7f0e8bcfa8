"""Find the commit of this code. Results record it, and so do images and Spaces."""

import re
import subprocess

from submissions.config.paths import ROOT

COMMIT_FILE = ROOT / "COMMIT"  # written into images and Spaces, which have no git repository


def git_hash() -> str | None:
    """Return the commit of this code, from git or from COMMIT_FILE, or None if neither is there."""
    if not (ROOT / ".git").exists():  # git would find the repository of a folder that contains this one
        return _commit_in_file()
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--verify", "-q", "HEAD"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=10,
            process_group=0,  # so that Ctrl-C does not reach it
        )
    except (OSError, subprocess.TimeoutExpired):
        return _commit_in_file()
    return done.stdout.strip() or _commit_in_file()


def _commit_in_file() -> str | None:
    try:
        commit = COMMIT_FILE.read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return commit if re.fullmatch("[0-9a-f]{40}", commit) else None
