"""Test signed statements: each verifies only with its own record and its own key."""

import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from app import main as evaluator
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.config.settings import load_settings
from submissions.records.result import EvalResult
from submissions.records.signed_statement import sign, statement_of, verify_statement
from submissions.texts.errors import SettingsError, StatementError


def pems(key: Ed25519PrivateKey) -> tuple[str, bytes]:
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return private, key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.fixture(scope="module")
def keys() -> tuple[str, bytes]:
    return pems(Ed25519PrivateKey.generate())


@pytest.fixture
def result(make_request: Make) -> EvalResult:
    return evaluated(make_request(benchmark="ko-vqa"), 61.5)


def test_verify_statement_accepts_its_record(result: EvalResult, keys: tuple[str, bytes]) -> None:
    statement = verify_statement(result.to_bytes(), sign(result, keys[0]), keys[1])
    assert statement == statement_of(result)
    assert statement["predicate"]["model"]["commit"] == result.config.model_sha
    assert statement["predicate"]["data"]["split"] == result.dataset.split


def test_verify_statement_rejects_other_record_key_and_envelope(result: EvalResult, keys: tuple[str, bytes]) -> None:
    record = result.to_bytes()
    signed = sign(result, keys[0])
    envelope = json.loads(signed)
    other = base64.b64encode(json.dumps(statement_of(result) | {"more": 1}).encode()).decode()
    for content, statement, message in (
        (record.replace(b"61.5", b"91.5", 1), signed, "changed"),
        (record, sign(result, pems(Ed25519PrivateKey.generate())[0]), "has not signed"),
        (record, json.dumps(envelope | {"payload": other}).encode(), "has not signed"),
        (record, json.dumps(envelope | {"payloadType": "text/plain"}).encode(), "has not signed"),
        *((record, broken, "DSSE") for broken in (b"", b"[]", b"{}", b'{"payload": 1, "signatures": 2}', b"\xff")),
    ):
        with pytest.raises(StatementError, match=message):
            verify_statement(content, statement, keys[1])


def test_sign_accepts_only_ed25519_key(result: EvalResult, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a wrong key is reported when settings are read, not after hours of evaluation."""
    rsa = generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    locked = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"passphrase")
    )
    for pem in (rsa, "no key", locked.decode()):
        with pytest.raises(ValueError, match="Ed25519"):
            sign(result, pem)
        monkeypatch.setenv("HANNUN_SIGNING_KEY", pem)
        with pytest.raises(SettingsError, match="setting HANNUN_SIGNING_KEY: not an Ed25519 key") as error:
            load_settings()
        assert pem not in str(error.value)


def test_verify_command_checks_files(
    result: EvalResult, keys: tuple[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "r.json"
    key = tmp_path / "key.pem"
    record.write_bytes(result.to_bytes())
    (tmp_path / "r.intoto.json").write_bytes(sign(result, keys[0]))
    key.write_bytes(keys[1])
    assert evaluator(["verify", str(record), "--key", str(key)]) == 0
    assert result.config.model_name in capsys.readouterr().out
    record.write_bytes(result.to_bytes().replace(b"61.5", b"91.5", 1))
    assert evaluator(["verify", str(record), "--key", str(key)]) == 1
    assert "changed" in capsys.readouterr().err
    key.write_text("no key")
    assert evaluator(["verify", str(record), "--key", str(key)]) == 2
    assert capsys.readouterr().err == f"hannun: --key {key}: not a public Ed25519 key in PEM\n"


@pytest.mark.parametrize("content", ["[" * 100_000, '{"payload": ' * 50_000])
def test_verify_command_rejects_deep_or_endless_input(
    content: str, result: EvalResult, keys: tuple[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "r.json"
    key = tmp_path / "key.pem"
    record.write_bytes(result.to_bytes())
    key.write_bytes(keys[1])
    (tmp_path / "r.intoto.json").write_text(content)
    assert evaluator(["verify", str(record), "--key", str(key)]) == 1
    assert "not a DSSE envelope" in capsys.readouterr().err
    assert evaluator(["verify", "/dev/zero", "--key", str(key)]) == 2
    assert "longer than 16,777,216 bytes" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["http://127.0.0.1:1/r.json", "https://a b/r.json", f"https://{'a' * 64}/r.json"])
def test_verify_command_rejects_unreachable_address(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluator(["verify", place, "--key", "key.pem"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"hannun: {place}: ") and error.count("\n") == 1
