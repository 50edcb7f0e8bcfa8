"""Where things of this project are on disk."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "assets"
PUBLISHED = ASSETS / "published"  # results that others have measured
SAMPLES = ASSETS / "samples"  # a small set of invented items for each benchmark
