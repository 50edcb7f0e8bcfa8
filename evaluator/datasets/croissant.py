"""Describe a folder of items for its dataset card in Croissant 1.0, the JSON-LD format for data sets of machine learning.

source: https://docs.mlcommons.org/croissant/docs/croissant-spec.html

`python -m evaluator croissant` prints the description of an imported test set; `quarters/dataset.py` writes that of a
revealed ko-fresh set and adds the files of answers.
"""

import hashlib
from collections.abc import Iterable, Sequence
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
    "@language": "en",
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
        benchmark: The name of the benchmark whose items they are.
        folder: The folder, with an items file in the documented schema.
        license_url: The address of the license under which the set is published.
        url: The address of the page where the set can be downloaded.
        published: The day on which the set was or will be published.
        prefix: The folder's path in the dataset, ending with a slash, if the items are not at its top.

    Raises DataError if the folder has no items file or an address is not a URL.
    """
    for address in (license_url, url):
        if not address.startswith(("https://", "http://")):
            raise DataError(f"{address!r} is not a URL")
    card = BENCHMARKS[benchmark].card
    version = BENCHMARKS[benchmark].version
    file = items_file(folder)
    rows = [row for _, row in item_rows(file)]
    first_row = rows[0] if rows else {}
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
            *_file_sets(rows, prefix),
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


def _file_sets(rows: Sequence[Row], prefix: str) -> list[dict[str, Any]]:
    """Return the sets of files that rows name by relative path: the folders of their images, and of their pages."""
    images = [path for row in rows for path in row.get("images") or []]
    pages = [row["page"] for row in rows if row.get("page")]
    sets = (("images", images, ["image/png", "image/jpeg"]), ("pages", pages, "text/html"))
    return [
        {
            "@type": "cr:FileSet",
            "@id": name,
            "name": name,
            "includes": _patterns(paths, prefix),
            "encodingFormat": media_type,
        }
        for name, paths, media_type in sets
        if paths
    ]


def _patterns(paths: Iterable[str], prefix: str) -> str | list[str]:
    """Return a pattern such as `images/*` for each folder of the files: a list, or a string if there is only one."""
    folders = sorted({path.rpartition("/")[0] for path in paths})
    patterns = [f"{prefix}{folder}/*" if folder else f"{prefix}*" for folder in folders]
    return patterns[0] if len(patterns) == 1 else patterns


def _field(records: str, column: str, value: Any, file: str) -> dict[str, Any]:
    """Return the description of a column, whose type follows from a value. `records` is the id of its record set."""
    data_types = {bool: "sc:Boolean", int: "sc:Integer", float: "sc:Float"}
    is_list = isinstance(value, list)
    one = value[0] if is_list and value else value
    repeated = {"repeated": True} if is_list else {}
    return {
        "@type": "cr:Field",
        "@id": f"{records}/{column}",
        "name": column,
        "description": column,
        "dataType": data_types.get(type(one), "sc:Text"),
        **repeated,
        "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
    }
