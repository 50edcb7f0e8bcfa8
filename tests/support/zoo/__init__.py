"""A zoo: tiny models of the families that people submit, built in place with random weights, the same every time.

Each family is registered under its name and writes a folder as its makers publish theirs: weights, config, generation
config, tokenizer, processor and a chat template of the same shape as the family's own. Nearly all are declared as a
`Row` (`row_parts.py`). The models answer nonsense; what they prove is that the family is evaluated.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

Build = Callable[[Path], None]


@dataclass(frozen=True)
class Family:
    """A builder, and what the check must find out about the model by itself."""

    name: str
    build: Build
    engine: str = "chat"
    takes_images: bool = True


FAMILIES: dict[str, Family] = {}


def register_family(family: Family) -> None:
    """Add a family to the zoo. Its name must be new."""
    assert family.name not in FAMILIES, family.name
    FAMILIES[family.name] = family


def all_families() -> dict[str, Family]:
    """Return every family by its name. The first call imports the builders, and transformers with them."""
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem != "__init__" and not path.stem.endswith("parts"):
            import_module(f"tests.support.zoo.{path.stem}")
    return FAMILIES
