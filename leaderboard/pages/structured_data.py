"""Structured data for search engines: https://schema.org/Dataset."""

from typing import Any

from evaluator.benchmarks import BENCHMARKS
from leaderboard.views.location import Location
from leaderboard.views.texts import text, translate

FORMATS = {"csv": "text/csv", "json": "application/json", "parquet": "application/vnd.apache.parquet"}


def table_data(here: Location, benchmark: str) -> dict[str, Any] | None:
    """Describe a benchmark's table, or return None if the public address is not known."""
    if not here.origin:
        return None
    card = BENCHMARKS[benchmark].card
    return {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": f"{card.title} · {text('title', here.language)}",
        "description": translate(card.summary, here.language),
        "url": here.canonical(),
        "inLanguage": here.language,
        "isAccessibleForFree": True,
        "creator": {"@type": "Organization", "name": text("title", here.language)},
        "distribution": [
            {
                "@type": "DataDownload",
                "encodingFormat": media_type,
                "contentUrl": here.public_file(f"boards/{benchmark}.{kind}"),
            }
            for kind, media_type in FORMATS.items()
        ],
    }
