"""Test seeds with public randomness: real rounds of drand, and a chain of our own whose rounds come over HTTP."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI, HTTPException
from py_arkworks_bls12381 import G1Point, G2Point, Scalar

from evaluator.core.errors import DataError
from evaluator.fresh import beacon, seed
from evaluator.fresh.beacon import QUICKNET, Chain, fetch_signature, randomness
from evaluator.fresh.draw import draw_set
from evaluator.fresh.seed import commitment, differences, drawn_set, reveal
from scripts.support.hub.server import serve
from submissions.config.settings import Settings
from submissions.store.base import Store
from submissions.texts.errors import SettingsError, StoreUnavailableError

QUARTER = "2026Q4"
# Rounds of quicknet as several drand clients publish them: number, signature, randomness.
ROUNDS = (
    (
        123,
        "b75c69d0b72a5d906e854e808ba7e2accb1542ac355ae486d591aa9d43765482e26cd02df835d3546d23c4b13e0dfc92",
        "fb8f7bc29bf24db51871ec8c79f3a1e4bd0557bc0dfcee9ed1d924e69d1c60dc",
    ),
    (
        1000,
        "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
        "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd",
    ),
    (
        657413,
        "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b",
        "fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587",
    ),
)
SECRET_KEY = Scalar(20261124)
OWN = Chain("ab" * 32, bytes((G2Point() * SECRET_KEY).to_compressed_bytes()), QUICKNET.genesis, timedelta(seconds=3))


def sign(number: int) -> str:
    """Return the signature of a round of our own chain."""
    hashed = G1Point.hash_to_curve(hashlib.sha256(number.to_bytes(8, "big")).digest(), beacon.SIGNATURE_DOMAIN)
    return bytes((hashed * SECRET_KEY).to_compressed_bytes()).hex()


@pytest.fixture
def drand(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve the rounds of our own chain, whose round is due at once, and yield the server's address."""
    monkeypatch.setattr(seed, "CHAIN", OWN)
    monkeypatch.setattr(seed, "LEAD", timedelta(seconds=1))
    app = FastAPI()

    @app.get("/{chain}/public/{number}")
    def answer(chain: str, number: int) -> dict[str, object]:
        if chain != OWN.hash or OWN.time_of(number) > datetime.now(UTC):
            raise HTTPException(404)
        return {"round": number, "signature": sign(number), "randomness": "not read"}

    with serve(app) as address:
        yield address


@pytest.mark.parametrize(("number", "signature", "expected"), ROUNDS)
def test_randomness_verifies_real_rounds(number: int, signature: str, expected: str) -> None:
    assert randomness(number, signature).hex() == expected


@pytest.mark.parametrize(
    ("number", "signature"),
    [
        (124, ROUNDS[0][1]),
        (123, ROUNDS[1][1]),
        (123, ROUNDS[0][1][:-1] + "3"),
        (123, "a" + ROUNDS[0][1][1:]),  # the negated point
        (123, ROUNDS[0][1][:-2]),
        (123, "c0" + "00" * 47),  # infinity
        (123, "zz" * 48),
        (123, ""),
        (2**70, ROUNDS[0][1]),
    ],
)
def test_randomness_rejects_forged_signatures(number: int, signature: str) -> None:
    with pytest.raises(DataError, match="does not verify"):
        randomness(number, signature)


def test_rounds_have_times() -> None:
    assert QUICKNET.time_of(1) == QUICKNET.genesis
    moment = QUICKNET.genesis + timedelta(seconds=4)
    assert QUICKNET.round_after(moment) == 3 and QUICKNET.time_of(3) >= moment > QUICKNET.time_of(2)
    assert QUICKNET.round_after(QUICKNET.genesis - timedelta(days=1)) == 1


@pytest.mark.slow
def test_set_depends_on_round_after_commitment(settings: Settings, store: Store, drand: str, tmp_path: Path) -> None:
    settings = settings.model_copy(update={"fresh_n": 16, "fresh_beacon": drand})
    folder, whole = drawn_set(QUARTER, settings)
    public = commitment(store, QUARTER)
    assert public.beacon and public.beacon.signature == sign(public.beacon.number)
    assert OWN.time_of(public.beacon.number) > public.committed_at and public.set_sha256 == whole
    assert drawn_set(QUARTER, settings) == (folder, whole)
    revealed = reveal(QUARTER, settings)
    assert revealed.seed and draw_set(revealed.seed, tmp_path / "secret alone", 16) != whole
    assert differences(revealed, tmp_path / "verified") == []
    other = revealed.beacon.evolve(number=revealed.beacon.number + 1) if revealed.beacon else None
    with pytest.raises(DataError, match="does not verify"):
        differences(revealed.evolve(beacon=other), tmp_path / "a")
    late = revealed.evolve(committed_at=OWN.time_of(public.beacon.number))
    assert differences(late, tmp_path / "b") == [f"drand round {public.beacon.number} was public before the commitment"]
    unsigned = public.beacon.evolve(signature=None)
    with pytest.raises(DataError, match="has no signature"):
        differences(revealed.evolve(beacon=unsigned), tmp_path / "c")


def test_secret_is_committed_before_round_is_known(settings: Settings, store: Store, drand: str) -> None:
    """Without the server nothing is drawn, but the commitment is public, and another secret is refused afterwards."""
    settings = settings.model_copy(update={"fresh_n": 16, "fresh_beacon": drand})
    seed.commit(QUARTER, "a secret of at least thirty-two characters", settings)
    public = commitment(store, QUARTER)
    assert public.beacon and public.beacon.signature is None and public.set_sha256 is None
    with pytest.raises(SettingsError, match="committed"):
        seed.commit(QUARTER, "another secret of at least thirty-two letters", settings)
    with pytest.raises(SettingsError, match="HANNUN_FRESH_BEACON"):
        seed._signature(public, settings.model_copy(update={"fresh_beacon": None}))


def test_fetch_signature_waits_and_gives_up(drand: str) -> None:
    waited: list[float] = []
    old = replace(OWN, genesis=datetime.now(UTC) - timedelta(days=1), hash="cd" * 32)  # the server does not know it
    with pytest.raises(StoreUnavailableError, match="HANNUN_FRESH_BEACON"):
        fetch_signature(drand, 1, old, waited.append)
    assert waited == []
    soon = replace(OWN, genesis=datetime.now(UTC) + timedelta(seconds=30))

    def pass_time(seconds: float) -> None:
        waited.append(seconds)
        raise InterruptedError  # a real wait would follow

    with pytest.raises(InterruptedError):
        fetch_signature(drand, 1, soon, pass_time)
    assert 25 < waited[0] <= 30
