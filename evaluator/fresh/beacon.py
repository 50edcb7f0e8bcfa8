"""Read public randomness, so that the operator cannot choose a set: rounds of drand's chain quicknet (https://drand.love).

A commitment (`seed.py`) names a round that is still to come, and the set is drawn from the operator's secret and that
round's randomness. A round is published every three seconds. Its randomness is the SHA-256 of a BLS signature over its
number, which nobody can predict and anybody can verify with the chain's public key.
"""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil

import httpx
from py_arkworks_bls12381 import GT, G1Point, G2Point

from evaluator.core.errors import DataError
from submissions.texts.errors import StoreUnavailableError

SIGNATURE_DOMAIN = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"  # of signatures in G1, as quicknet's are (RFC 9380)
SIGNATURE_BYTES = 48  # a compressed point of G1
LEAD = timedelta(seconds=60)  # from the commitment to the round that it names
TIMEOUT_S = 20  # of one request
PATIENCE_S = 120  # from the time of a round until the server must have it


@dataclass(frozen=True)
class Chain:
    """A chain of drand: a group of servers that publishes rounds at fixed times."""

    hash: str  # identifies the chain in addresses
    public_key: bytes  # compressed point of G2
    genesis: datetime  # of round 1
    period: timedelta

    def time_of(self, number: int) -> datetime:
        """Return when a round is published."""
        return self.genesis + (number - 1) * self.period

    def round_after(self, moment: datetime) -> int:
        """Return the first round that is published at this moment or later."""
        return max(1, ceil((moment - self.genesis) / self.period) + 1)


QUICKNET = Chain(
    "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971",
    bytes.fromhex(
        "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
        "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
    ),
    datetime.fromtimestamp(1692803367, UTC),
    timedelta(seconds=3),
)


def randomness(number: int, signature: str, chain: Chain = QUICKNET) -> bytes:
    """Return the 32 bytes of randomness of a round. Raises DataError if the signature, in hex, is not the chain's.

    The signature S of the message M verifies if e(S, g2) = e(H(M), key), or e(S, g2) · e(-H(M), key) = 1, where e is the
    pairing of BLS12-381, g2 the generator of G2 and H the hash to G1.
    """
    refusal = DataError(f"the signature of drand round {number} does not verify")
    try:
        signature_bytes = bytes.fromhex(signature)
        if len(signature_bytes) != SIGNATURE_BYTES:
            raise refusal
        point = G1Point.from_compressed_bytes(signature_bytes)
        message = hashlib.sha256(number.to_bytes(8, "big")).digest()
        hashed = G1Point.hash_to_curve(message, SIGNATURE_DOMAIN)
        key = G2Point.from_compressed_bytes(chain.public_key)
    except (ValueError, OverflowError):
        raise refusal from None
    generator = G2Point()
    if not GT.pairing_check([point, -hashed], [generator, key]):
        raise refusal
    return hashlib.sha256(signature_bytes).digest()


def fetch_signature(url: str, number: int, chain: Chain = QUICKNET, sleep: Callable[[float], None] = time.sleep) -> str:
    """Wait for a round and return its verified signature, in hex, from the drand server at `url`.

    Raises StoreUnavailableError if the server cannot be reached or does not have the round in time, and DataError if its
    signature does not verify.
    """
    published = chain.time_of(number)
    while True:
        wait = (published - datetime.now(UTC)).total_seconds()
        if wait > 0:
            sleep(wait)
        try:
            answer = httpx.get(f"{url.rstrip('/')}/{chain.hash}/public/{number}", timeout=TIMEOUT_S)
            answer.raise_for_status()
            signature = str(answer.json()["signature"])
            break
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            if (datetime.now(UTC) - published).total_seconds() > PATIENCE_S:
                message = (
                    f"drand round {number} cannot be read from {url} (HANNUN_FRESH_BEACON): {type(error).__name__}"
                )
                raise StoreUnavailableError(message) from None
            sleep(chain.period.total_seconds())
    randomness(number, signature, chain)
    return signature
