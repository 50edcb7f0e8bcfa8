"""Paths of this project on disk."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "assets"
PUBLISHED = ASSETS / "published"  # results measured by others
SAMPLES = ASSETS / "samples"  # a small set of made-up items for each benchmark
