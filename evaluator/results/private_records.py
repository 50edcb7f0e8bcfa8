"""Records of an evaluation in the private store: its details and its item scores."""

import hashlib
import hmac
import json
import logging
import secrets

from evaluator.core.errors import Details
from evaluator.results.item_scores import ItemScores
from submissions.store.folders import sharded
from submissions.store.private import PrivateStore

log = logging.getLogger(__name__)

_DETAILS_KEY = "details.key"


def save_details(private: PrivateStore, key: str, details: Details, secret: bytes | None) -> None:
    """Store the scores and answers of each item.

    The ids of items are replaced by their HMAC under `secret`, or under a key that is created once in the private store.
    """
    secret = secret or _create_or_read_key(private)
    rows = [
        {**row, "id": hmac.new(secret, str(row["id"]).encode(), hashlib.sha256).hexdigest()[:32]} for row in details
    ]
    content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    private.write(sharded(f"details/{key}.jsonl"), content)


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
    return sharded(f"scores/{key}.parquet")


def _create_or_read_key(private: PrivateStore) -> bytes:
    private.create(_DETAILS_KEY, secrets.token_hex(32).encode())
    return private.read(_DETAILS_KEY)
