"""Commit to and reveal the seed of a quarter's test set.

The hash of the secret is published before any model is evaluated, the secret itself after the quarter. The private store has
the secret in `seeds/QUARTER`, the public store has a `Commitment`.

There are two values: the operator's secret, which the records call `seed`, and the seed that the set is drawn from, which is
computed from the secret and a public round of randomness (`drawing_seed`). The round comes after the commitment, so that the
operator cannot choose a secret with a set that suits a model. Steps of a quarter:
1. `drawn_set`, at the first use: `commit` to the secret, wait for the round, draw the set, `commit` to its hash.
2. `reveal`, after the quarter: publish the secret.
3. `differences`, by anybody: draw the set again and compare the hashes.

All files of this folder except this one and `beacon.py` are hashed for the commitment (`generator_hash`), so they do not
change during a quarter.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock

from evaluator.core.errors import DataError
from evaluator.fresh.beacon import LEAD, QUICKNET, fetch_signature, randomness
from evaluator.fresh.draw import draw_set
from evaluator.fresh.fonts import FONTS
from evaluator.fresh.set_hash import set_hash
from submissions.config.settings import Settings
from submissions.records.operator import BeaconRound, Commitment
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.store.open import open_private_store, open_store
from submissions.texts.errors import SettingsError

LIBRARIES = ("matplotlib", "typst", "pillow", "numpy", "scipy")  # whose versions may change the set; they are published
SEED_BYTES = 32  # of a random secret
CHAIN = QUICKNET

MAX_QUESTIONS = 100_000  # of a set that somebody else published; drawing it takes long


def drawn_set(quarter: str, settings: Settings) -> tuple[Path, str]:
    """Return the folder and the hash of this installation's set of a quarter.

    The set is drawn at the first call. Its hash is published before this returns. Raises SettingsError if another
    secret or set was committed to, DataError if the set cannot be drawn, and StoreError if a store or the beacon fails.
    """
    secret = secret_of(quarter, settings)
    public = commit(quarter, secret, settings)
    signature = _signature(public, settings)
    seed = drawing_seed(secret, public.beacon, signature)
    folder = settings.work_dir / "fresh" / f"{quarter}-{sha256_of(seed)[:12]}-{settings.fresh_n}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):  # another worker of this host may be drawing it
        set_sha256 = set_hash(folder) if folder.exists() else draw_set(seed, folder, settings.fresh_n)
    commit(quarter, secret, settings, set_sha256, signature)
    return folder, set_sha256


def drawing_seed(secret: str, beacon: BeaconRound | None, signature: str | None) -> str:
    """Return the seed that a set is drawn from: the secret, or with a beacon the HMAC of the round's randomness by the secret.

    Raises DataError if the signature of the round does not verify.
    """
    if beacon is None:
        return secret
    if signature is None:
        raise DataError(f"drand round {beacon.number} has no signature")
    return hmac.new(secret.encode(), randomness(beacon.number, signature, CHAIN), hashlib.sha256).hexdigest()


def _signature(public: Commitment, settings: Settings) -> str | None:
    """Return the signature of the round that a commitment names, or None if it names none.

    It is fetched if the commitment does not have it yet. Raises SettingsError if no drand server is set, StoreError if the
    server fails, and DataError if the signature does not verify.
    """
    if public.beacon is None:
        return None
    if public.beacon.signature:
        return public.beacon.signature
    if settings.fresh_beacon is None:
        raise SettingsError(f"{public.quarter} needs drand round {public.beacon.number}: set HANNUN_FRESH_BEACON")
    return fetch_signature(settings.fresh_beacon, public.beacon.number, CHAIN)


def secret_of(quarter: str, settings: Settings) -> str:
    """Return the secret of a quarter: HANNUN_FRESH_SEED, or random bytes in hex that are created once and kept.

    Raises StoreError if the store fails.
    """
    if settings.fresh_seed:
        return settings.fresh_seed.get_secret_value()
    private = open_private_store(settings)
    path = f"seeds/{quarter}"
    private.create(path, secrets.token_hex(SEED_BYTES).encode())
    return private.read(path).decode()


def commit(
    quarter: str, secret: str, settings: Settings, set_sha256: str | None = None, signature: str | None = None
) -> Commitment:
    """Publish the hash of a secret, or add the hash of its set and the signature of its round. Return what is public.

    `set_sha256` and `signature` are None in the first call, before the set is drawn. Raises SettingsError if another secret
    or set is public, and StoreError if the store fails.
    """
    store = open_store(settings.store, settings)
    now = store.now()
    beacon = BeaconRound(chain=CHAIN.hash, number=CHAIN.round_after(now + LEAD)) if settings.fresh_beacon else None
    new = Commitment(
        quarter=quarter,
        n=settings.fresh_n,
        seed_sha256=sha256_of(secret),
        generator_sha256=generator_hash(),
        libraries={name: version(name) for name in LIBRARIES},
        committed_at=now,
        beacon=beacon,
    )

    def decide(snapshot: Snapshot) -> tuple[Changes, str, Commitment]:
        if new.path not in snapshot.files:
            return {new.path: new.to_bytes()}, f"Commit to the seed of {quarter}", new
        public = Commitment.from_json(store.read(new.path, snapshot.head))
        is_same_secret = (public.seed_sha256, public.n) == (new.seed_sha256, new.n)
        is_same_set = set_sha256 is None or public.set_sha256 in (None, set_sha256)
        if not is_same_secret or not is_same_set:
            raise SettingsError(
                f"another set of {quarter} was committed to: HANNUN_FRESH_SEED, HANNUN_FRESH_N and the code in "
                "evaluator/fresh must not change until the next quarter"
            )
        if set_sha256 is None or public.set_sha256:  # nothing to add
            return {}, "", public
        signed_beacon = public.beacon.evolve(signature=signature) if public.beacon else None
        complete = public.evolve(set_sha256=set_sha256, beacon=signed_beacon)
        return {complete.path: complete.to_bytes()}, f"Commit to the set of {quarter}", complete

    return transact(store, decide)


def reveal(quarter: str, settings: Settings, dataset: str | None = None) -> Commitment:
    """Publish the secret of a quarter, and the name of the dataset with its items and answers.

    What is published already is not changed. Raises DataError if nothing was committed to or the secret is another one, and
    StoreError if the store fails.
    """
    store = open_store(settings.store, settings)
    secret = secret_of(quarter, settings)

    def decide(snapshot: Snapshot) -> tuple[Changes, str, Commitment]:
        public = commitment(store, quarter, snapshot)
        if public.seed_sha256 != sha256_of(secret):
            raise DataError(f"this secret is not the one that was committed to for {quarter}")
        revealed = public.evolve(
            seed=secret, revealed_at=public.revealed_at or store.now(), dataset=public.dataset or dataset
        )
        return {revealed.path: revealed.to_bytes()}, f"Reveal the seed of {quarter}", revealed

    return transact(store, decide)


def commitment(store: Store, quarter: str, snapshot: Snapshot | None = None) -> Commitment:
    """Return the commitment of a quarter. Raises DataError if there is none, StoreError if the store fails."""
    snapshot = snapshot or store.snapshot()
    if (path := Commitment.path_of(quarter)) not in snapshot.files:
        raise DataError(f"nothing was committed to for {quarter}")
    return Commitment.from_json(store.read(path, snapshot.head))


def differences(
    public: Commitment, folder: Path, on_progress: Callable[[int, int], None] = lambda *_: None
) -> list[str]:
    """Draw the set of a revealed seed into a new folder and return the differences from the commitment.

    Raises DataError if the secret is not revealed, the set has more than MAX_QUESTIONS, the signature of its round does not
    verify, or the set cannot be drawn.
    """
    if public.seed is None:
        raise DataError(f"the seed of {public.quarter} is not revealed yet")
    if public.n > MAX_QUESTIONS:
        raise DataError(f"{public.quarter} has {public.n:,} questions, more than {MAX_QUESTIONS:,}")
    if sha256_of(public.seed) != public.seed_sha256:
        return ["the seed has another hash than was published before"]
    beacon = public.beacon
    if beacon and CHAIN.time_of(beacon.number) <= public.committed_at:
        return [f"drand round {beacon.number} was public before the commitment"]
    seed = drawing_seed(public.seed, beacon, beacon.signature if beacon else None)
    if draw_set(seed, folder, public.n, on_progress) == public.set_sha256:
        return []
    return ["the set has another hash than was published before"]


def other_versions(public: Commitment) -> list[str]:
    """Return how code and libraries here differ from those of the commitment, which may explain a difference."""
    other = []
    if generator_hash() != public.generator_sha256:
        other.append("the code in evaluator/fresh is not the version that was committed to")
    if (installed := {name: version(name) for name in LIBRARIES}) != public.libraries:
        other.append(f"libraries are {installed} here, but were {public.libraries}")
    return other


def sha256_of(secret: str) -> str:
    """Return the SHA-256 of a secret, or of a seed that was computed from it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def generator_hash() -> str:
    """Return the SHA-256 of the drawing code and the hashes of the fonts."""
    digest = hashlib.sha256("".join(FONTS.values()).encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem not in ("beacon", "seed"):  # these two draw nothing
            digest.update(path.read_bytes())
    return digest.hexdigest()
