"""Paths of this project on disk."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "assets"
PUBLISHED = ASSETS / "published"  # results measured by others
SAMPLES = ASSETS / "samples"  # a small set of made-up items for each benchmark


def nearest_existing(path: Path) -> Path:
    """Return the path itself, or the nearest folder above it that exists."""
    absolute = path.absolute()
    return next(place for place in (absolute, *absolute.parents) if place.exists())
