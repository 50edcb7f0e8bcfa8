"""The pinned fonts of ko-fresh, which make the pixels the same on every host."""

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from evaluator.core.errors import DataError

# Package, file → SHA-256. All are under the SIL Open Font License 1.1. The first one is the regular font of charts. As with
# every file of this folder, an edit changes the generator's hash (`seed.generator_hash`).
FONTS = {
    (
        "koreanize_matplotlib",
        "fonts/NanumGothic.ttf",
    ): "48a28e97b34fc8e5b157657633670cd1b7de126cfc414da65ce9c3d5bc8be733",
    (
        "koreanize_matplotlib",
        "fonts/NanumGothicBold.ttf",
    ): "454eb3f503f377782a99eb84fc4bb7dde22a0f075d41b47427737f2985053bc9",
    ("pylopdf_fonts_ko", "NotoSansKR-Regular.otf"): "69975a0ac8472717870aefeab0a4d52739308d90856b9955313b2ad5e0148d68",
    ("pylopdf_fonts_ko", "NotoSerifKR-Regular.otf"): "5ea012e15cb7eacc1f680aee1703f3b164791b1443ea3e52b65080cca5d179cf",
}


@cache
def font_files() -> tuple[Path, ...]:
    """Return the files of the pinned fonts. Raises DataError if one is missing or has another hash."""
    found = []
    for (package, name), digest in FONTS.items():
        spec = find_spec(package)
        folders = spec.submodule_search_locations if spec else None
        file = Path(folders[0] if folders else package, name)
        if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != digest:
            raise DataError(
                f"a font of ko-fresh is missing or another version: pip install -r evaluator/requirements.lock ({file})"
            )
        found.append(file)
    return tuple(found)
