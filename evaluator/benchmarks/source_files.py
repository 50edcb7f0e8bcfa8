"""Find the files of a test set in its makers' folder or archive.

`python -m evaluator import` finds tables and pictures with these functions. Operating systems put files of their own among
them (`__MACOSX`, `~$table.xlsx`), and macOS decomposes the Korean letters of file names, so that names differ in bytes from
those in a table.
"""

import io
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath, PurePosixPath

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")  # formats of pictures that Pillow may open
IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")  # endings of their files


def composed(text: str) -> str:
    """Return a text with each Korean syllable as one character (Unicode NFC), as people write and compare it."""
    return unicodedata.normalize("NFC", text)


def is_left_by_computer(path: PurePath) -> bool:
    """Return whether a program left the file: `._name` and `__MACOSX` of macOS, the lock `~$name` of Excel, hidden files."""
    return any(part.startswith((".", "~$")) or part == "__MACOSX" for part in path.parts)


def files_below(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    """Return the files at any depth whose names end in one of `endings`, in either case, sorted by path.

    Links to other folders are left out: a folder that somebody else made could name any file of this machine.
    """
    own_folders = _own_folders(folder)
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in endings
        and not is_left_by_computer(path.relative_to(folder))
        and path.is_file()
        and _is_inside(path.resolve(), own_folders)
    )


def _own_folders(folder: Path) -> list[Path]:
    """Return where the files below a folder may be stored: in it, or in the `blobs` of the Hub's cache that it belongs to.

    The cache has links such as `datasets--OWNER--NAME/snapshots/COMMIT/table.csv` to files in `datasets--OWNER--NAME/blobs`.
    """
    folder = folder.resolve()
    repositories = [place.parent for place in (folder, *folder.parents) if place.name == "snapshots"]
    return [folder, *(repository / "blobs" for repository in repositories)]


def _is_inside(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


@dataclass(frozen=True)
class EmbeddedImage:
    """A picture inside a table."""

    content: bytes


Picture = Path | EmbeddedImage


def file_of(picture: Picture) -> tuple[bytes, str]:
    """Return the content of a picture and the ending for its file, such as ".png".

    Raises ValueError if an embedded picture is not a readable image.
    """
    if isinstance(picture, Path):
        return picture.read_bytes(), picture.suffix.lower()
    return picture.content, _ending(picture.content)


def _ending(content: bytes) -> str:
    """Return the file ending for the format of an image. Raises ValueError if it is not a readable image."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            return f".{str(image.format).lower()}"
    except UnidentifiedImageError:
        raise ValueError(
            f"the embedded picture ({len(content):,} bytes) is in none of the formats {', '.join(FORMATS)}"
        ) from None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"the embedded picture cannot be read: {error}") from None


class ImageFolder:
    """Find images by name anywhere below a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, name: str, hint: str = "") -> Path:
        """Return the image with this name.

        Its ending is optional and may differ, and folders in the name are ignored. A number behind a dot is not an ending:
        "1.2" is not 1.png.

        If several images have the name, return the one whose folder path contains `hint`. For example, `find("charts/7.jpg",
        "보고서")` finds `보고서/그림/7.png`. Raises ValueError if there is no such image or more than one.
        """
        wanted = PurePosixPath(composed(name).replace("\\", "/"))  # tables written on Windows have backslashes
        found = self._by_name.get(wanted.name, [])
        if not found and not wanted.suffix[1:].isdecimal():
            found = self._by_name.get(wanted.stem, [])
        if not found:
            raise ValueError(f"image {name!r} is not below {self.root}")
        if len(found) > 1:
            found = [path for path in found if hint and composed(hint) in self._folder(path)] or found
        if len(found) == 1:
            return found[0]
        if len({path.parent for path in found}) == 1:
            names = " and ".join(path.name for path in found)
            raise ValueError(f"image {name!r} may be {names} of one folder; add the ending to the name")
        raise ValueError(f"image {name!r} is in several folders, and not exactly one of them matches {hint!r}")

    def _folder(self, path: Path) -> str:
        """Return the folder of an image, relative to the root."""
        return composed(path.relative_to(self.root).parent.as_posix())

    @cached_property
    def _by_name(self) -> dict[str, list[Path]]:
        """The images by file name, with and without ending."""
        images: dict[str, list[Path]] = {}
        for path in files_below(self.root, IMAGES):
            images.setdefault(composed(path.name), []).append(path)
            images.setdefault(composed(path.stem), []).append(path)
        return images
