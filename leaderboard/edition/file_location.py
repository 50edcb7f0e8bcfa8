"""Addresses and links of pages that are files."""

import re
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote

from leaderboard.views.location import LANGUAGE_FOLDERS, Location, asset_version, query_text
from leaderboard.views.texts import Language

_UNSAFE = re.compile(r"[^\w.-]|^\.+")


@dataclass(frozen=True)
class FileLocation(Location):
    """The address of a page that is a file. Links are relative, so that the files work below any address, and without one.

    They name files, not folders: a static Space does not serve `index.html` for a folder.
    """

    live: str = ""  # address of the live board, for what needs a server; empty if there is none

    is_static = True

    def has(self, path: str) -> bool:
        return path != "compare" or bool(self.live)

    def link(self, path: str, /, **params: object) -> str:
        if path == "compare":
            return f"{self.live}/{LANGUAGE_FOLDERS[self.language]}compare{query_text(params)}"
        return self._relative(page_file(path, self.language)) + query_text(params)

    def in_language(self, language: Language) -> str:
        return self._relative(page_file(self.path, language))

    def file(self, path: str, /, **params: object) -> str:
        return self._relative(data_file(path, str(params.get("lang", "")), str(params.get("axis", ""))))

    def asset(self, name: str) -> str:
        return f"{self._relative(f'assets/{name}')}?v={asset_version(name)}"

    def canonical(self, language: Language | None = None) -> str:
        return f"{self.origin}/{quote(page_file(self.path, language or self.language))}"

    def public_file(self, path: str, /, **params: object) -> str:
        return f"{self.origin}/{quote(data_file(path, str(params.get('lang', ''))))}"

    def card(self, name: str, **params: object) -> str:
        own = "overview" if "/" in name else name  # models have no picture of their own
        return self.public_file(f"cards/{own}.png", lang=self.language)

    def _relative(self, file: str) -> str:
        return "../" * page_file(self.path, self.language).count("/") + quote(file)


def page_file(path: str, language: Language) -> str:
    """Return the file of a page, relative to the folder of the edition."""
    return f"{LANGUAGE_FOLDERS[language]}{'/'.join(map(_safe, path.split('/'))) if path else 'index'}.html"


def data_file(path: str, language: str = "", axis: str = "") -> str:
    """Return the file that has the data of an address of the live board, such as "feed.xml" with `lang=en`."""
    stem, _, kind = path.rpartition(".")
    if axis:
        stem = f"{stem}-{axis}"
    if language:
        stem = f"{stem}.{language}"
    return f"{stem}.{kind}"


def _safe(part: str) -> str:
    """Return a part of a path as a file name. A part that has to be changed gets a hash, so that names stay distinct."""
    changed = _UNSAFE.sub("_", part) or "_"
    return changed if changed == part else f"{changed}-{sha256(part.encode()).hexdigest()[:8]}"
