"""Where things of this project are on disk."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
ASSETS = ROOT / "assets"
SAMPLES = ASSETS / "samples"  # a small set of invented items for each benchmark
