"""Signed statements: what a result is of, so that anybody with the operator's key can check it offline.

An in-toto Statement v1 (https://github.com/in-toto/attestation/blob/main/spec/v1) in a DSSE envelope
(https://github.com/secure-systems-lab/dsse), signed with Ed25519.
"""

import base64
import hashlib
import json
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from submissions.records.result import EvalResult
from submissions.texts.errors import StatementError

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:hannun:evaluation:v1"
PAYLOAD = "application/vnd.in-toto+json"


def statement_of(result: EvalResult) -> dict[str, Any]:
    config, dataset = result.config, result.dataset
    return {
        "_type": STATEMENT,
        "subject": [{"name": result.path, "digest": {"sha256": hashlib.sha256(result.to_bytes()).hexdigest()}}],
        "predicateType": PREDICATE,
        "predicate": {
            "model": {"id": config.model_name, "commit": config.model_sha, "precision": config.model_dtype},
            "data": {
                "benchmark": result.benchmark,
                "id": dataset.id,
                "split": dataset.split,
                "revision": dataset.revision,
            },
            "code": {"commit": result.git_hash, "version": result.versions[result.benchmark]},
            "environment": dict(result.environment),
        },
    }


def sign(result: EvalResult, private_pem: str) -> bytes:
    """The envelope. Raises ValueError where that is no key."""
    key = private_key(private_pem)
    payload = json.dumps(statement_of(result), ensure_ascii=False, sort_keys=True).encode()
    signature = {"keyid": key_id(key.public_key()), "sig": base64.b64encode(key.sign(_encoded(payload))).decode()}
    envelope = {"payloadType": PAYLOAD, "payload": base64.b64encode(payload).decode(), "signatures": [signature]}
    return json.dumps(envelope, indent=2).encode() + b"\n"


def private_key(pem: str) -> Ed25519PrivateKey:
    """Raises ValueError where that is none, or is locked by a passphrase."""
    try:
        key = load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("no Ed25519 key in PEM without a passphrase; openssl genpkey -algorithm ed25519 makes one")
    return key


def verify_statement(record: bytes, envelope: bytes, public_pem: bytes) -> dict[str, Any]:
    """The statement that the key has signed of this record.

    Raises StatementError saying what does not fit, ValueError where the key is none.
    """
    key = _public(public_pem)
    try:
        sealed = json.loads(envelope)
        payload = base64.b64decode(sealed["payload"], validate=True)
        signatures = [base64.b64decode(one["sig"], validate=True) for one in sealed["signatures"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise StatementError("the statement is not a DSSE envelope") from None
    if sealed.get("payloadType") != PAYLOAD or not any(_is_signed(key, signature, payload) for signature in signatures):
        raise StatementError("this key has not signed the statement")
    statement: dict[str, Any] = json.loads(payload)
    if statement.get("_type") != STATEMENT or statement.get("predicateType") != PREDICATE:
        raise StatementError("the statement is about something else")
    digest = hashlib.sha256(record).hexdigest()
    if all(subject["digest"].get("sha256") != digest for subject in statement["subject"]):
        raise StatementError("the record is not the one that was signed: it was changed")
    return statement


def key_id(key: Ed25519PublicKey) -> str:
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()


def _public(pem: bytes) -> Ed25519PublicKey:
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("no public Ed25519 key in PEM")
    return key


def _is_signed(key: Ed25519PublicKey, signature: bytes, payload: bytes) -> bool:
    try:
        key.verify(signature, _encoded(payload))
    except InvalidSignature:
        return False
    return True


def _encoded(payload: bytes) -> bytes:
    """What DSSE signs: the pre-authentication encoding."""
    return b"DSSEv1 %d %s %d %s" % (len(PAYLOAD), PAYLOAD.encode(), len(payload), payload)
