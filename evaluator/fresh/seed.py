"""Commit to and reveal the seed of a quarter's test set.

The hash of the seed is published before any model is evaluated, the seed itself after the quarter. The private store has
the seed in `seeds/QUARTER`, the public store has a `Commitment`.
"""

import hashlib
import secrets
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock

from evaluator.core.errors import DataError
from evaluator.fresh.draw import draw_set, set_hash
from evaluator.fresh.fonts import FONTS
from submissions.config.settings import Settings
from submissions.records.operator import Commitment
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.store.open import open_private_store, open_store
from submissions.texts.errors import SettingsError

LIBRARIES = ("matplotlib", "typst", "pillow", "numpy", "scipy")
SEED_BYTES = 32


def drawn_set(quarter: str, settings: Settings) -> tuple[Path, str]:
    """Return the folder and the hash of this installation's set of a quarter.

    The set is drawn at the first call. Its hash is published before this returns. Raises SettingsError if another seed or
    set was committed to, DataError if the set cannot be drawn, and StoreError if a store fails.
    """
    seed = seed_of(quarter, settings)
    folder = settings.work_dir / "fresh" / f"{quarter}-{seed_hash(seed)[:12]}-{settings.fresh_n}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        whole = set_hash(folder) if folder.exists() else draw_set(seed, folder, settings.fresh_n)
    commit(quarter, seed, whole, settings)
    return folder, whole


def seed_of(quarter: str, settings: Settings) -> str:
    """Return HANNUN_FRESH_SEED, or a random seed that is created once and kept. Raises StoreError if the store fails."""
    if settings.fresh_seed:
        return settings.fresh_seed.get_secret_value()
    private, path = open_private_store(settings), f"seeds/{quarter}"
    private.create(path, secrets.token_hex(SEED_BYTES).encode())
    return private.read(path).decode()


def commit(quarter: str, seed: str, whole: str, settings: Settings) -> None:
    """Publish the hashes of a seed and its set unless they are public already.

    Raises SettingsError if other hashes are public, and StoreError if the store fails.
    """
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
                f"another set of {quarter} was committed to: HANNUN_FRESH_SEED, HANNUN_FRESH_N and the code in "
                "evaluator/fresh must not change until the next quarter"
            )
        return {}, "", None

    transact(store, decide)


def reveal(quarter: str, settings: Settings) -> Commitment:
    """Publish the seed of a quarter.

    Raises DataError if nothing was committed to or the seed is another one, and StoreError if the store fails.
    """
    store, seed = open_store(settings.store, settings), seed_of(quarter, settings)

    def decide(snapshot: Snapshot) -> tuple[Changes, str, Commitment]:
        public = commitment(store, quarter, snapshot)
        if public.seed_sha256 != seed_hash(seed):
            raise DataError(f"this seed is not the one that was committed to for {quarter}")
        revealed = public.evolve(seed=seed, revealed_at=public.revealed_at or store.now())
        return {revealed.path: revealed.to_bytes()}, f"Reveal the seed of {quarter}", revealed

    return transact(store, decide)


def commitment(store: Store, quarter: str, snapshot: Snapshot | None = None) -> Commitment:
    """Return the commitment of a quarter. Raises DataError if there is none, StoreError if the store fails."""
    snapshot = snapshot or store.snapshot()
    if (path := Commitment.path_of(quarter)) not in snapshot.files:
        raise DataError(f"nothing was committed to for {quarter}")
    return Commitment.model_validate_json(store.read(path, snapshot.head))


def differences(
    public: Commitment, folder: Path, on_progress: Callable[[int, int], None] = lambda *_: None
) -> list[str]:
    """Draw the set of a revealed seed into a new folder and return the differences from the commitment.

    Raises DataError if the seed is not revealed or the set cannot be drawn.
    """
    if public.seed is None:
        raise DataError(f"the seed of {public.quarter} is not revealed yet")
    if seed_hash(public.seed) != public.seed_sha256:
        return ["the seed has another hash than was published before"]
    if draw_set(public.seed, folder, public.n, on_progress) == public.set_sha256:
        return []
    return ["the set has another hash than was published before"]


def other_versions(public: Commitment) -> list[str]:
    """Return how code and libraries here differ from those of the commitment, which may explain a difference."""
    found = []
    if generator_hash() != public.generator_sha256:
        found.append("the code in evaluator/fresh is not the version that was committed to")
    if (known := {name: version(name) for name in LIBRARIES}) != public.libraries:
        found.append(f"libraries are {known} here, but were {public.libraries}")
    return found


def seed_hash(seed: str) -> str:
    return hashlib.sha256(seed.encode()).hexdigest()


def generator_hash() -> str:
    """Return the SHA-256 of the drawing code and the fonts."""
    digest = hashlib.sha256("".join(FONTS.values()).encode())
    for name in (
        "korean",
        "topics",
        "facts",
        "fonts",
        "charts",
        "pages",
        "question",
        "table_questions",
        "chart_questions",
        "questions",
        "claims",
        "degrade",
        "draw",
    ):
        digest.update((Path(__file__).parent / f"{name}.py").read_bytes())
    return digest.hexdigest()
