"""What an evaluation leaves in the private store: its details and scores for good, its answers while it runs."""

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

_DETAILS_KEY, _ANSWERS = "details.key", "answers"
MAX_PART = 64 * 2**20  # bytes of answers copied at once


def save_details(private: PrivateStore, key: str, details: Details, secret: bytes | None) -> None:
    """Scores and answers by item, the ids of the items keyed by `secret`, or else by one that is made once."""
    secret = secret or _made_once(private)
    rows = [
        {**row, "id": hmac.new(secret, str(row["id"]).encode(), hashlib.sha256).hexdigest()[:32]} for row in details
    ]
    content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    private.write(sharded(f"details/{key}.jsonl"), content)


def save_item_scores(private: PrivateStore, key: str, scores: ItemScores) -> None:
    """What other models' results will be compared with."""
    private.write(_scores_path(key), scores.to_parquet())


def read_item_scores(private: PrivateStore, key: str) -> ItemScores | None:
    """None where there are none, or none that can be read. Raises StoreError."""
    try:
        return ItemScores.from_parquet(private.read(_scores_path(key)))
    except (KeyError, ValueError) as error:
        log.info("no scores of %s to compare with: %s", key, error)
        return None


def _scores_path(key: str) -> str:
    return sharded(f"scores/{key}.parquet")


def _made_once(private: PrivateStore) -> bytes:
    private.create(_DETAILS_KEY, secrets.token_hex(32).encode())
    return private.read(_DETAILS_KEY)
