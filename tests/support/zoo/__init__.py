"""A zoo: tiny models of the families that people submit, made in place with random weights, the same every time.

Each builder is registered under a family's name and writes a folder as its makers publish theirs: weights, config,
generation config, tokenizer, processor and a chat template of the same shape as the family's own. The models answer
nonsense; what they prove is that the family gets its row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

Build = Callable[[Path], None]


@dataclass(frozen=True)
class Family:
    """A builder, and what the board must find out about the model by itself."""

    name: str
    build: Build
    engine: str = "chat"
    takes_images: bool = True


FAMILIES: dict[str, Family] = {}


def family(name: str, *, engine: str = "chat", takes_images: bool = True) -> Callable[[Build], Build]:
    """Register a builder under a family's name."""

    def register(build: Build) -> Build:
        assert name not in FAMILIES, name
        FAMILIES[name] = Family(name, build, engine, takes_images)
        return build

    return register


def all_families() -> dict[str, Family]:
    """Every family, by name; the first call imports the builders, and transformers with them."""
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem != "__init__" and not path.stem.endswith("parts"):
            import_module(f"tests.support.zoo.{path.stem}")
    return FAMILIES
