"""Addresses and links of pages that are files.

Templates ask a `Location` for all links. On the live board it is `views.location.Location`, in the static edition it is a
`FileLocation`, which answers with relative links to files: from "en/models/o/m.html", the page "about" is
"../../../en/about.html".
"""

import re
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote

from leaderboard.views.location import LANGUAGE_FOLDERS, Location, asset_version, query_text
from leaderboard.views.texts import Language

_UNSAFE = re.compile(r"[^\w.-]|^\.+")  # in a file's name: characters such as ":", and dots at the beginning


@dataclass(frozen=True)
class FileLocation(Location):
    """The address of a page that is a file.

    Links are relative, so that the files work below any address, and on a disk. They name files, not folders, because a static
    Space does not serve `index.html` for a folder.
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
        # Files differ in language and axis only. Other parameters are ignored: the feed of one benchmark is the feed of all.
        return self._relative(data_file(path, str(params.get("lang", "")), str(params.get("axis", ""))))

    def asset(self, name: str) -> str:
        return f"{self._relative(f'assets/{name}')}?v={asset_version(name)}"

    def canonical(self, language: Language | None = None) -> str:
        return f"{self.origin}/{quote(page_file(self.path, language or self.language))}"

    def public_file(self, path: str, /, **params: object) -> str:
        # Without an axis, which only charts have: they are loaded by pages and have no public address.
        return f"{self.origin}/{quote(data_file(path, str(params.get('lang', ''))))}"

    def card(self, name: str, **params: object) -> str:
        # Pages of models, whose paths have a slash ("models/o/m"), have no picture of their own here.
        drawn = "overview" if "/" in name else name
        return self.public_file(f"cards/{drawn}.png", lang=self.language)

    def _relative(self, file: str) -> str:
        """Return the link from this page to a file of the edition."""
        return "../" * page_file(self.path, self.language).count("/") + quote(file)


def page_file(path: str, language: Language) -> str:
    """Return the file of a page, relative to the folder of the edition: ("models/o/m", "en") -> "en/models/o/m.html"."""
    name = "/".join(map(_safe_name, path.split("/"))) if path else "index"
    return f"{LANGUAGE_FOLDERS[language]}{name}.html"


def data_file(path: str, language: str = "", axis: str = "") -> str:
    """Return the file that has the data of an address of the live board, whose parameters are `language` and `axis`.

    ("feed.xml", "en") -> "feed.en.xml", ("charts/ko-vqa/parts.json", "en", "domain") -> "charts/ko-vqa/parts-domain.en.json".
    """
    stem, _, kind = path.rpartition(".")
    if axis:
        stem = f"{stem}-{axis}"
    if language:
        stem = f"{stem}.{language}"
    return f"{stem}.{kind}"


def _safe_name(part: str) -> str:
    """Return a part of a path as a file name that all systems accept: "a:b" -> "a_b-6783a31e".

    The hash keeps the names of different parts different.
    """
    name = _UNSAFE.sub("_", part) or "_"
    return name if name == part else f"{name}-{sha256(part.encode()).hexdigest()[:8]}"
