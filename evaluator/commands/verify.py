"""`python -m evaluator verify`: check a published result against its signed statement. Works offline with files."""

import argparse
import asyncio
from pathlib import Path

import httpx2

from evaluator.core.errors import DataError
from submissions.records.signed_statement import verify_statement
from submissions.texts.printable import printable

MAX_BYTES = 16 * 2**20
MAX_MESSAGE = 200  # bytes of an error's text that are shown
READ_SECONDS = 60.0  # for one URL


def main(args: argparse.Namespace) -> int:
    """Print what the statement attests to.

    Raises StatementError if the statement does not hold, DataError if a file or URL cannot be read.
    """
    beside_result = args.result.removesuffix(".json") + ".intoto.json"
    record = read_place(args.result)
    envelope = read_place(args.statement or beside_result)
    public_key = read_place(str(args.key))
    try:
        statement = verify_statement(record, envelope, public_key)
    except ValueError as error:
        raise DataError(f"--key {args.key}: {error}") from None
    predicate = statement["predicate"]
    print(f"signed: {printable(statement['subject'][0]['name'])}")
    for name in ("model", "data", "code"):
        facts = [f"{fact}={value}" for fact, value in predicate[name].items() if value]
        print(printable(f"{name:<6} {' '.join(facts)}"))
    return 0


def read_place(place: str) -> bytes:
    """Return the content of a file or URL. Raises DataError if it cannot be read or is longer than MAX_BYTES."""
    if not place.startswith(("https://", "http://")):
        try:
            with Path(place).open("rb") as file:
                content = file.read(MAX_BYTES + 1)
                _check_length(content, place)
                return content
        except OSError as error:
            raise DataError(f"{place}: {error.strerror}") from None
    try:
        return asyncio.run(_read_address(place))
    except TimeoutError:
        raise DataError(f"{place}: not read within {READ_SECONDS:.0f} s") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise DataError(f"{place}: {error}") from None


async def _read_address(address: str) -> bytes:
    """Return the content of a URL. Raises TimeoutError after READ_SECONDS in total, even if the server keeps sending."""
    async with (
        asyncio.timeout(READ_SECONDS),
        httpx2.AsyncClient(follow_redirects=True) as client,
        client.stream("GET", address) as answer,
    ):
        content = bytearray()
        async for part in answer.aiter_bytes():
            content += part
            if answer.is_error and len(content) >= MAX_MESSAGE:
                break  # enough for the message
            _check_length(content, address)
        if answer.is_error:
            message = content[:MAX_MESSAGE].decode(errors="replace")
            raise DataError(f"{address}: {answer.status_code} {message}")
        return bytes(content)


def _check_length(content: bytes | bytearray, place: str) -> None:
    if len(content) > MAX_BYTES:
        raise DataError(f"{place}: longer than {MAX_BYTES:,} bytes, so it is not a result")
