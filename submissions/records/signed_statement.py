"""Sign and verify statements about results, so that anyone with the operator's public key can check a result offline.

The format is an in-toto Statement v1 (https://github.com/in-toto/attestation/blob/main/spec/v1) in a DSSE envelope
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

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:hannun:evaluation:v1"  # of what the statement says about a result
PAYLOAD_TYPE = "application/vnd.in-toto+json"  # of the envelope's content, which is the statement


def statement_of(result: EvalResult) -> dict[str, Any]:
    """Return the statement about a result: the model, data, code and environment that produced it."""
    config = result.config
    dataset = result.dataset
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": result.path, "digest": {"sha256": hashlib.sha256(result.to_bytes()).hexdigest()}}],
        "predicateType": PREDICATE_TYPE,
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
    """Return the signed envelope of a result's statement. Raises ValueError if `private_pem` is not a valid key."""
    key = private_key(private_pem)
    payload = json.dumps(statement_of(result), ensure_ascii=False, sort_keys=True).encode()
    signature = {"keyid": key_id(key.public_key()), "sig": base64.b64encode(key.sign(_encoded(payload))).decode()}
    envelope = {"payloadType": PAYLOAD_TYPE, "payload": base64.b64encode(payload).decode(), "signatures": [signature]}
    return json.dumps(envelope, indent=2).encode() + b"\n"


def private_key(pem: str) -> Ed25519PrivateKey:
    """Parse a private key. Raises ValueError if it is not an Ed25519 key or has a passphrase."""
    try:
        key = load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("not an Ed25519 key in PEM without a passphrase; see openssl genpkey -algorithm ed25519")
    return key


def verify_statement(record: bytes, envelope: bytes, public_pem: bytes) -> dict[str, Any]:
    """Return the statement about a record after checking its signature.

    Raises StatementError if the envelope, the signature or the record does not match, ValueError if `public_pem` is not a
    valid key.
    """
    key = _public_key(public_pem)
    try:
        fields = json.loads(envelope)
        payload = base64.b64decode(fields["payload"], validate=True)
        signatures = [base64.b64decode(signature["sig"], validate=True) for signature in fields["signatures"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise StatementError("the statement is not a DSSE envelope") from None
    is_signed = any(_is_signed(key, signature, payload) for signature in signatures)
    if fields.get("payloadType") != PAYLOAD_TYPE or not is_signed:
        raise StatementError("this key has not signed the statement")
    statement: dict[str, Any] = json.loads(payload)  # may be trusted to be well-formed, because the operator signed it
    if statement.get("_type") != STATEMENT_TYPE or statement.get("predicateType") != PREDICATE_TYPE:
        raise StatementError("the statement is not about an evaluation result")
    digest = hashlib.sha256(record).hexdigest()
    if all(subject["digest"].get("sha256") != digest for subject in statement["subject"]):
        raise StatementError("the record was changed after it was signed")
    return statement


def key_id(key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of a public key."""
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()


def _public_key(pem: bytes) -> Ed25519PublicKey:
    """Parse a public key. Raises ValueError if it is not an Ed25519 key."""
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("not a public Ed25519 key in PEM")
    return key


def _is_signed(key: Ed25519PublicKey, signature: bytes, payload: bytes) -> bool:
    try:
        key.verify(signature, _encoded(payload))
    except InvalidSignature:
        return False
    return True


def _encoded(payload: bytes) -> bytes:
    """Return the pre-authentication encoding of a payload, which is what DSSE signs."""
    return b"DSSEv1 %d %s %d %s" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(payload), payload)
