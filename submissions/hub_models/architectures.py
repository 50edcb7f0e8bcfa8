"""What the pinned transformers can run, by model type; read from a file, for the board does not install it."""

import json
from functools import cache
from typing import Any, cast

from submissions.config.paths import ASSETS

ARCHITECTURES = ASSETS / "architectures.json"  # made by scripts.make_architectures


@cache
def architectures() -> dict[str, Any]:
    """Return model types under "image", "text" and "extractive", chat classes under "classes", and the version."""
    return cast(dict[str, Any], json.loads(ARCHITECTURES.read_text(encoding="utf-8")))
