"""`python -m evaluator verify`: check a published result against its signed statement. Works offline with files."""

import argparse
from collections.abc import Iterable
from pathlib import Path

import httpx2

from evaluator.core.errors import DataError
from submissions.records.signed_statement import verify_statement

MAX_BYTES = 16 * 2**20


def main(args: argparse.Namespace) -> int:
    """Print what the statement attests to.

    Raises StatementError if the statement does not hold, DataError if a file or URL cannot be read.
    """
    beside = args.result.removesuffix(".json") + ".intoto.json"
    record, envelope, key = (read_place(place) for place in (args.result, args.statement or beside, str(args.key)))
    try:
        statement = verify_statement(record, envelope, key)
    except ValueError as error:
        raise DataError(f"--key {args.key}: {error}") from None
    predicate = statement["predicate"]
    print(f"signed: {statement['subject'][0]['name']}")
    for name in ("model", "data", "code"):
        print(f"{name:<6} {' '.join(f'{key}={value}' for key, value in predicate[name].items() if value)}")
    return 0


def read_place(place: str) -> bytes:
    """Return the content of a file or URL. Raises DataError if it cannot be read or is longer than MAX_BYTES."""
    if not place.startswith(("https://", "http://")):
        try:
            with Path(place).open("rb") as file:
                return _bounded([file.read(MAX_BYTES + 1)], place)
        except OSError as error:
            raise DataError(f"{place}: {error.strerror}") from None
    try:
        with httpx2.stream("GET", place, follow_redirects=True, timeout=60) as answer:
            if answer.is_error:
                message = next(answer.iter_bytes(), b"")[:200].decode(errors="replace")
                raise DataError(f"{place}: {answer.status_code} {''.join(filter(str.isprintable, message))}")
            return _bounded(answer.iter_bytes(), place)
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise DataError(f"{place}: {error}") from None


def _bounded(parts: Iterable[bytes], place: str) -> bytes:
    """Return the joined parts. Raises DataError if they are longer than MAX_BYTES."""
    content = bytearray()
    for part in parts:
        content += part
        if len(content) > MAX_BYTES:
            raise DataError(f"{place}: longer than {MAX_BYTES:,} bytes, so it is not a result")
    return bytes(content)
