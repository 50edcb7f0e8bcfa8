"""Describe a folder of items for its dataset card in Croissant 1.0, the JSON-LD format for data sets of machine learning.

source: https://docs.mlcommons.org/croissant/docs/croissant-spec.html

`python -m evaluator croissant` prints the description of an imported test set; `quarters/dataset.py` writes that of a
revealed ko-fresh set and adds the files of answers.
"""

import hashlib
from datetime import date
from pathlib import Path
from typing import Any

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.rows import Row, item_rows, items_file
from evaluator.core.errors import DataError

SPEC = "http://mlcommons.org/croissant/1.0"
ENCODINGS = {".jsonl": "application/jsonlines", ".parquet": "application/vnd.apache.parquet"}
# The context that the specification prescribes, word for word.
CONTEXT: dict[str, Any] = {
    "@language": "ko",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "conformsTo": "dct:conformsTo",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant(
    benchmark: str, folder: Path, license_url: str, url: str, published: date, prefix: str = ""
) -> dict[str, Any]:
    """Return the JSON-LD description of a folder of items. Its fields are the columns of the first row.

    Args:
        benchmark: the name of the benchmark whose items they are
        folder: in the documented schema
        license_url: of the license under which the set is published
        url: of the page where the set can be downloaded
        published: when the set was or will be published
        prefix: the folder's path in the dataset, ending with a slash, if the items are not at its top

    Raises DataError if the folder has no items file or an address is not a URL.
    """
    for address in (license_url, url):
        if not address.startswith(("https://", "http://")):
            raise DataError(f"{address!r} is not a URL")
    card = BENCHMARKS[benchmark].card
    version = BENCHMARKS[benchmark].version
    file = items_file(folder)
    _, first_row = next(item_rows(file), (0, {}))
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": SPEC,
        "name": benchmark,
        "description": card.summary.en,
        "inLanguage": "ko",
        "license": license_url,
        "url": url,
        "version": f"{version}.0.0" if version.isdigit() else version,  # the format recommends three numbers
        "datePublished": published.isoformat(),
        "citeAs": ", ".join(filter(None, (card.title, card.source_url))),
        "distribution": [
            file_object(file, f"{prefix}{file.name}"),
            *_file_sets(first_row, prefix),
        ],
        "recordSet": [
            record_set(
                "items", "One row a question; images and pages are named by relative path.", file.name, first_row
            )
        ],
    }


def file_object(file: Path, path: str) -> dict[str, Any]:
    """Return the description of a file that is at `path` in the dataset."""
    content = file.read_bytes()
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": path,
        "contentSize": f"{len(content)} B",
        "encodingFormat": ENCODINGS[file.suffix],
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def record_set(name: str, description: str, file: str, row: Row) -> dict[str, Any]:
    """Return the description of the rows of a file.

    `name` is the set's id in the description, `file` the id of the file's `file_object`, and `row` one of the rows.
    """
    fields = [_field(name, column, value, file) for column, value in row.items()]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "description": description, "field": fields}


def _file_sets(row: Row, prefix: str) -> list[dict[str, Any]]:
    """Return the sets of files that rows name by relative path. The files that a row names show which folders those are."""
    first_paths = {"images": (row.get("images") or [None])[0], "pages": row.get("page")}
    media_types = {"images": ["image/png", "image/jpeg"], "pages": "text/html"}
    return [
        {
            "@type": "cr:FileSet",
            "@id": name,
            "name": name,
            "includes": f"{prefix}{str(path).rpartition('/')[0]}/*".lstrip("/"),  # images/*
            "encodingFormat": media_types[name],
        }
        for name, path in first_paths.items()
        if path
    ]


def _field(records: str, column: str, value: Any, file: str) -> dict[str, Any]:
    """Return the description of a column, whose type follows from a value. `records` is the id of its record set."""
    data_types = {bool: "sc:Boolean", int: "sc:Integer"}
    repeated = {"repeated": True} if isinstance(value, list) else {}
    return {
        "@type": "cr:Field",
        "@id": f"{records}/{column}",
        "name": column,
        "description": column,
        "dataType": data_types.get(type(value), "sc:Text"),
        **repeated,
        "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
    }
