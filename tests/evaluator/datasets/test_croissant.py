"""Test Croissant descriptions for dataset cards; mlcroissant, not a dependency, reads them without errors."""

import hashlib
from datetime import date

import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.errors import DataError
from evaluator.datasets.croissant import croissant
from submissions.config.paths import SAMPLES

LICENCE, URL = "https://creativecommons.org/publicdomain/zero/1.0/", "https://example.org/set"


@pytest.mark.parametrize("benchmark", list(BENCHMARKS))
def test_croissant_describes_file_and_columns(benchmark: str) -> None:
    described = croissant(benchmark, SAMPLES / benchmark, LICENCE, URL, date(2026, 1, 2))
    (file, *sets), (records,) = described["distribution"], described["recordSet"]
    assert sets and all(list((SAMPLES / benchmark).glob(one["includes"])) for one in sets)
    content = (SAMPLES / benchmark / file["contentUrl"]).read_bytes()
    assert file["sha256"] == hashlib.sha256(content).hexdigest()
    columns = {field["name"] for field in records["field"]}
    assert {"id"} < columns and all(field["source"]["fileObject"]["@id"] == file["@id"] for field in records["field"])


def test_croissant_rejects_folder_without_items() -> None:
    with pytest.raises(DataError, match="contains neither"):
        croissant("ko-vqa", SAMPLES, LICENCE, URL, date(2026, 1, 2))
