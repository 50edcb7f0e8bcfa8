"""The address of a page, and the links from it.

Templates write all links by `here`, the `Location` of the page that they fill. For the edition as files, where a link is a
relative path, it is a subclass (`leaderboard/edition/file_location.py`).
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlencode

from markupsafe import Markup

from leaderboard.views.texts import Language
from submissions.config.paths import ASSETS

Theme = Literal["light", "dark"]
LANGUAGE_FOLDERS: dict[Language, str] = {"ko": "", "en": "en/"}  # of the pages in each language
# Parameters of links to the overview. Without any, `/` is redirected to the language of the browser; `/en/` never is.
OVERVIEW_PARAMS: dict[Language, dict[str, object]] = {"ko": {"lang": "ko"}, "en": {}}


@dataclass(frozen=True)
class Location:
    """The address of a page on the live board, https://board.example.org/en/ko-vqa?sort=size, in its parts."""

    language: Language
    path: str = ""  # the same in both languages: "" for the overview, "ko-vqa", "models/OWNER/NAME"
    params: tuple[tuple[str, str], ...] = ()  # of the query string
    origin: str = ""  # scheme and host, for addresses that other sites and programs read
    theme: Theme | None = None  # set by `?__theme=dark`, as on a Space; None: as the browser prefers

    is_static = False  # whether the pages are files, written by `leaderboard/edition/build.py`

    def has(self, path: str) -> bool:
        """Return whether the board has a page at this path. The live board has all; the one as files may lack some."""
        return True

    def link(self, path: str, /, **params: object) -> str:
        """Return the link to a page in this language and theme. Parameters that are empty or None are left out.

        `link("compare", models="a/b,c/d")` is "/en/compare?models=a/b,c/d".
        """
        query = dict(params)
        if self.theme:
            query["__theme"] = self.theme
        if not path:
            query = OVERVIEW_PARAMS[self.language] | query
        return f"/{LANGUAGE_FOLDERS[self.language]}{quote(path)}{query_text(query)}"

    def changed(self, **params: object) -> str:
        """Return the link to this page with other parameters. None removes one."""
        return self.link(self.path, **{**dict(self.params), **params})

    def in_language(self, language: Language) -> str:
        """Return the link to this page in a language."""
        return replace(self, language=language).changed()

    def file(self, path: str, /, **params: object) -> str:
        """Return the link to a file with data, such as "boards/ko-vqa.csv"."""
        return f"/{quote(path)}{query_text(params)}"

    def asset(self, name: str) -> str:
        """Return the link to a file that pages load. It changes with the content, so that browsers may keep the file."""
        return f"/assets/{name}?v={asset_version(name)}"

    def canonical(self, language: Language | None = None) -> str:
        """Return the public address of this page without parameters."""
        return f"{self.origin}/{LANGUAGE_FOLDERS[language or self.language]}{quote(self.path)}"

    def public_file(self, path: str, /, **params: object) -> str:
        """Return the public address of a file with data."""
        return f"{self.origin}/{quote(path)}{query_text(params)}"

    def card(self, name: str, **params: object) -> str:
        """Return the public address of a preview picture."""
        return self.public_file(f"cards/{name}.png", lang=self.language, **params)

    def at(self, path: str) -> "Location":
        """Return the location of another page in the same language."""
        return replace(self, path=path, params=())


def query_text(params: Mapping[str, object]) -> str:
    """Return a query string with its `?`, or "" if no parameter has a value: {"n": 5, "q": ""} -> "?n=5"."""
    given = {name: value for name, value in params.items() if value not in (None, "")}
    return f"?{urlencode(given, safe=',/')}" if given else ""


def asset_path(name: str) -> Path:
    """Return the path of a file that pages load: those in assets/, and plotly.js of the installed package."""
    if name != "plotly.js":
        return ASSETS / name
    package = find_spec("plotly")
    assert package is not None and package.submodule_search_locations
    return Path(package.submodule_search_locations[0], "package_data/plotly.min.js")


@cache
def style_sheet() -> Markup:
    """Return the style sheet, which live pages contain, so that a browser can show a page without loading a second file."""
    return Markup(asset_path("style.css").read_text(encoding="utf-8"))  # noqa: S704  # a file of ours, no visitor's input


@cache
def style_sheet_hash() -> str:
    """Return the hash of the style sheet, by which a content security policy allows it: 'sha256-…'."""
    return f"'sha256-{b64encode(sha256(style_sheet().encode()).digest()).decode()}'"


@cache
def asset_version(name: str) -> str:
    """Return a hash of the content of a file that pages load, ten hex digits."""
    return sha256(asset_path(name).read_bytes()).hexdigest()[:10]
