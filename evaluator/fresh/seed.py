"""Commit and reveal: the hash of a quarter's seed is public before any model is asked, the seed after the quarter.

In the private store `seeds/QUARTER`; in the public store a Commitment.
"""

import hashlib
import secrets
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock

from evaluator.core.errors import DataError
from evaluator.fresh.draw import draw_set, set_hash
from evaluator.fresh.figures import FONTS
from submissions.config.settings import Settings
from submissions.records.operator import Commitment
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.store.open import open_private_store, open_store
from submissions.texts.errors import SettingsError

LIBRARIES = ("matplotlib", "pillow", "numpy")
SEED_BYTES = 32


def drawn_set(quarter: str, settings: Settings) -> tuple[Path, str]:
    """The folder of this installation's set of a quarter, drawn when it is first asked for, its hash published before; and
    the hash.

    Raises SettingsError where the seed is not the one whose hash was published, DataError, StoreError.
    """
    seed = own_seed(quarter, settings)
    folder = settings.work_dir / "fresh" / f"{quarter}-{seed_hash(seed)[:12]}-{settings.fresh_n}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        whole = set_hash(folder) if folder.exists() else draw_set(seed, folder, settings.fresh_n)
    commit(quarter, seed, whole, settings)
    return folder, whole


def own_seed(quarter: str, settings: Settings) -> str:
    """The operator's, or one that is made once. Raises StoreError."""
    if settings.fresh_seed:
        return settings.fresh_seed.get_secret_value()
    private, path = open_private_store(settings), f"seeds/{quarter}"
    private.create(path, secrets.token_hex(SEED_BYTES).encode())
    return private.read(path).decode()


def commit(quarter: str, seed: str, whole: str, settings: Settings) -> None:
    """Publish the hashes, unless they are public. Raises SettingsError where others are, StoreError."""
    store = open_store(settings.store, settings)
    made = Commitment(
        quarter=quarter,
        n=settings.fresh_n,
        seed_sha256=seed_hash(seed),
        generator_sha256=generator_hash(),
        set_sha256=whole,
        libraries={name: version(name) for name in LIBRARIES},
        committed_at=store.now(),
    )

    def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
        if made.path not in snapshot.files:
            return {made.path: made.to_bytes()}, f"Commit to the set of {quarter}", None
        public = Commitment.model_validate_json(store.read(made.path, snapshot.head))
        if (public.seed_sha256, public.set_sha256) != (made.seed_sha256, made.set_sha256):
            raise SettingsError(
                f"the set of {quarter} that was committed to is another one: HANNUN_FRESH_SEED, HANNUN_FRESH_N and the "
                "code that draws must stay as they were until the next quarter"
            )
        return {}, "", None

    transact(store, decide)


def reveal(quarter: str, settings: Settings) -> Commitment:
    """Publish the seed. Raises DataError where nothing was committed to, StoreError."""
    store, seed = open_store(settings.store, settings), own_seed(quarter, settings)

    def decide(snapshot: Snapshot) -> tuple[Changes, str, Commitment]:
        public = commitment(store, quarter, snapshot)
        if public.seed_sha256 != seed_hash(seed):
            raise DataError(f"the seed at hand is not the one of {quarter}")
        told = public.evolve(seed=seed, revealed_at=public.revealed_at or store.now())
        return {told.path: told.to_bytes()}, f"Reveal the seed of {quarter}", told

    return transact(store, decide)


def commitment(store: Store, quarter: str, snapshot: Snapshot | None = None) -> Commitment:
    """Raises DataError where there is none, StoreError."""
    snapshot = snapshot or store.snapshot()
    if (path := Commitment.path_of(quarter)) not in snapshot.files:
        raise DataError(f"nothing was committed to for {quarter}")
    return Commitment.model_validate_json(store.read(path, snapshot.head))


def differences(
    public: Commitment, folder: Path, on_progress: Callable[[int, int], None] = lambda *_: None
) -> list[str]:
    """Draw the set of a revealed seed into a new folder; what is not as was committed to. Raises DataError."""
    if public.seed is None:
        raise DataError(f"the seed of {public.quarter} is not revealed yet")
    if seed_hash(public.seed) != public.seed_sha256:
        return ["the seed has another hash than was published before"]
    if draw_set(public.seed, folder, public.n, on_progress) == public.set_sha256:
        return []
    return ["the set has another hash than was published before"]


def other_versions(public: Commitment) -> list[str]:
    """What draws here in another version than what was committed to: it explains a difference, and is none itself."""
    found = []
    if generator_hash() != public.generator_sha256:
        found.append("the code that draws is another version than the one committed to")
    if (known := {name: version(name) for name in LIBRARIES}) != public.libraries:
        found.append(f"libraries here are {known}, and were {public.libraries}")
    return found


def seed_hash(seed: str) -> str:
    return hashlib.sha256(seed.encode()).hexdigest()


def generator_hash() -> str:
    """sha256 over the code that draws, and the fonts."""
    digest = hashlib.sha256("".join(FONTS.values()).encode())
    for name in ("topics", "facts", "questions", "plots", "figures", "scan", "draw"):
        digest.update((Path(__file__).parent / f"{name}.py").read_bytes())
    return digest.hexdigest()
