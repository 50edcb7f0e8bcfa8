"""Test that lock files contain every pinned requirement with hashes, and no addresses."""

import re

import pytest

from submissions.config.paths import ROOT

PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[a-z,]+\])?==([^\s;\\]+)", re.MULTILINE)
SOURCES = {
    "requirements.lock": ["requirements.txt"],
    "evaluator/requirements.lock": ["requirements.txt", "evaluator/requirements.txt"],
    "tests/requirements.lock": ["requirements.txt", "evaluator/requirements.txt", "tests/requirements.txt"],
    "scripts/requirements.lock": ["scripts/requirements.txt"],
    "evaluator/torch-cuda.lock": [],
    "tests/ray.lock": ["tests/ray.txt"],
}


def pins(path: str) -> dict[str, str]:
    found = PIN.findall((ROOT / path).read_text(encoding="utf-8"))
    return {re.sub("[._]", "-", name).lower(): version for name, version in found}


@pytest.mark.parametrize("lock", SOURCES)
def test_lock_has_pins_and_hashes(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    locked = pins(lock)
    for source in SOURCES[lock]:
        assert pins(source).items() <= locked.items(), "make lock"
    assert "://" not in text
    packages = re.split(r"^(?=\S)", text, flags=re.MULTILINE)[1:]
    assert packages and all(PIN.match(package) and "--hash=sha256:" in package for package in packages)


def test_locks_agree_on_versions() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert pins("evaluator/torch-cuda.lock")["torch"] == re.findall(r"^TORCH_VERSION := (\S+)", makefile, re.M)[0]
    every = pins("tests/requirements.lock")
    for lock in ("requirements.lock", "evaluator/requirements.lock", "evaluator/torch-cuda.lock"):
        differing = {name for name, version in pins(lock).items() if every.get(name, version) != version}
        assert not differing, lock
