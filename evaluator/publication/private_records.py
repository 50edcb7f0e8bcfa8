"""Write and read the records of an evaluation in the private store.

`details/KEY.jsonl` has a row with the answers and scores of each item, so that they can be scored again after an erratum and
published when their quarter is revealed; ids of items are replaced by their HMAC. `scores/KEY.parquet` has the item scores
that later results are compared with.
"""

import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Collection, Iterable

from evaluator.core.errors import Details
from evaluator.publication.item_scores import ItemScores
from submissions.store.folders import in_key_folder
from submissions.store.private import PrivateStore

log = logging.getLogger(__name__)

# The file with the key that hides the ids of items, unless the operator sets HANNUN_DETAILS_KEY.
_DETAILS_KEY = "details.key"


def save_details(private: PrivateStore, key: str, details: Details, secret: bytes | None) -> None:
    """Store the scores and answers of each item.

    The ids of items are replaced by their HMAC under `secret`, or under a key that is created once in the private store.
    """
    secret = secret or _create_or_read_key(private)
    rows = [{**row, "id": _hidden_id(str(row["id"]), secret)} for row in details]
    content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    private.write(_details_path(key), content)


def read_details(
    private: PrivateStore, key: str, ids: Iterable[str], secret: bytes | None, optional: Collection[str] = ()
) -> Details | None:
    """Return the scores and answers of the items with these ids, or None if some are missing that are not optional.

    `secret` must be the one with which they were saved, because items are found by their hidden ids. Raises StoreError.
    """
    secret = secret or _create_or_read_key(private)
    try:
        lines = private.read(_details_path(key)).splitlines()
        row_by_hidden_id = {row["id"]: row for row in map(json.loads, lines)}
        found: Details = []
        for item_id in ids:
            hidden_id = _hidden_id(item_id, secret)
            if item_id in optional and hidden_id not in row_by_hidden_id:
                continue
            found.append({**row_by_hidden_id[hidden_id], "id": item_id})  # KeyError if it is missing
        return found
    except (KeyError, TypeError, ValueError) as error:
        log.info("%s has no details that can be read: %s", key, error)
        return None


def save_item_scores(private: PrivateStore, key: str, scores: ItemScores) -> None:
    """Store the item scores that later results are compared with."""
    private.write(_scores_path(key), scores.to_parquet())


def read_item_scores(private: PrivateStore, key: str) -> ItemScores | None:
    """Return the item scores of a result, or None if there are none or they cannot be read. Raises StoreError."""
    try:
        return ItemScores.from_parquet(private.read(_scores_path(key)))
    except (KeyError, ValueError) as error:
        log.info("cannot compare with %s: no item scores: %s", key, error)
        return None


def _scores_path(key: str) -> str:
    return in_key_folder(f"scores/{key}.parquet")


def _details_path(key: str) -> str:
    return in_key_folder(f"details/{key}.jsonl")


def _hidden_id(item_id: str, secret: bytes) -> str:
    """Return the first 32 hex digits of the HMAC of an item's id."""
    return hmac.new(secret, item_id.encode(), hashlib.sha256).hexdigest()[:32]


def _create_or_read_key(private: PrivateStore) -> bytes:
    """Return the key of this private store. It is read again after it was created: another worker may have been faster."""
    private.create(_DETAILS_KEY, secrets.token_hex(32).encode())
    return private.read(_DETAILS_KEY)
