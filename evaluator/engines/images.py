"""Make the picture that a model sees: RGB on white, upright, within the pixel budget. The same for every engine and server.

The pictures of test sets are of every kind: pages with transparency, 16-bit scans, photographs with an orientation tag,
JPEG files whose name ends in .png. Local engines use `fitted_size` and `load_image`, the API engine `image_urls`;
`check_pictures` and `changes` look at a test set before it is used.
"""

import base64
import io
import struct
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from evaluator.benchmarks.source_files import FORMATS
from evaluator.core.data_types import Item, Prompt
from evaluator.core.errors import DataError

ORIENTATION = 0x0112  # EXIF tag
TURNED = (5, 6, 7, 8)  # its values that exchange width and height
# What makes an image upright, by orientation. `ImageOps.exif_transpose` would also write all EXIF tags again, which fails if
# any of them is broken.
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# Formats that servers accept, with their media types. Files of these formats in these modes are sent as they are.
MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
PLAIN_MODES = ("RGB", "L")
DECODERS = 4  # threads that check pictures
DEEP_MODES = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")  # grey with more than 8 bits
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_CHUNK = struct.Struct(">I4s")  # length and kind, before the content
PNG_CHECKSUM = 4  # bytes after the content
PNG_TAGS = (b"eXIf", b"tEXt", b"zTXt", b"iTXt")  # kinds of chunks that Pillow takes an orientation from


def fitted_size(path: Path, max_pixels: int) -> tuple[int, int, float]:
    """Return width and height within the pixel budget, and the scale factor (1.0: not reduced).

    Only the file's header is read, except of a PNG file with tags after its pixels, which is decoded.
    Raises OSError if the image cannot be read or has so many pixels that opening it is not safe.
    """
    with _open(path) as image:
        width, height = image.size
        # Pillow turns TIFF files itself, and has the size of the turned image.
        if _orientation(image) in TURNED and image.format != "TIFF":
            width, height = height, width
    factor = min(1.0, (max_pixels / (width * height)) ** 0.5)
    return max(1, int(width * factor)), max(1, int(height * factor)), factor


def load_image(path: Path, size: tuple[int, int] | None = None) -> Image.Image:
    """Return the image as RGB, scaled to `size` if that is given. Raises OSError as `fitted_size` does."""
    with _open(path) as image:
        image.load()  # turns a TIFF file, whose orientation is 1 afterwards
        orientation = _orientation(image)
        upright = image if orientation == 1 else image.transpose(UPRIGHT[orientation])
        rgb = _on_white(upright)
    return rgb if size is None or rgb.size == size else rgb.resize(size, Image.Resampling.LANCZOS)


def image_urls(prompt: Prompt, use_links: bool, max_pixels: int) -> tuple[list[str], float | None]:
    """Return the URLs of a prompt's images for a server, and the scale of the most reduced one (None if all are links).

    If `use_links`, the prompt's public links belong to its first images. All other images are sent as data URLs.
    """
    urls: list[str] = list(prompt.links) if use_links else []
    scales: list[float] = []
    for path in prompt.images[len(urls) :]:
        width, height, scale = fitted_size(path, max_pixels)
        image = load_image(path, (width, height))  # decoded here, so that a broken file never reaches the server
        media_type = _plain_media_type(path) if scale == 1.0 else None
        content = path.read_bytes() if media_type else _as_png(image)
        urls.append(f"data:{media_type or 'image/png'};base64,{base64.b64encode(content).decode()}")
        scales.append(scale)
    return urls, min(scales, default=None)


def check_pictures(items: Sequence[Item]) -> None:
    """Decode every picture of a set, as models will see it. Raises DataError, naming the item, if one is broken."""
    item_of = {path: item for item in items for path in item.images}
    with ThreadPoolExecutor(DECODERS) as pool:
        for path, fault in zip(item_of, pool.map(picture_fault, item_of), strict=True):
            if fault:
                raise DataError(f"item {item_of[path].id!r}: {fault}")


def picture_fault(path: Path, name: str = "") -> str:
    """Return why a picture cannot be decoded, or "". `name` is what its makers call it, by default the file's name."""
    try:
        load_image(path)
    except OSError as error:
        name = name or path.name
        return f"{name} is not a readable image: {error}".replace(str(path), name)
    return ""


def changes(path: Path) -> list[str]:
    """Return what is changed in a picture before a model sees it, apart from its size.

    Raises OSError if the header cannot be read. What `picture_fault` accepts is not refused here.
    """
    with _open(path) as image:
        found = {
            "with transparency, shown on white": image.has_transparency_data,
            "with more than 8 bits for each grey value, scaled to 8": image.mode in DEEP_MODES,
            "stored turned, shown upright": _orientation(image) != 1,
            "with several frames, of which the first is shown": _has_several_frames(image),
        }
    return [change for change, is_needed in found.items() if is_needed]


def _on_white(image: Image.Image) -> Image.Image:
    """Return an image as RGB. Transparent parts are white."""
    if image.mode in DEEP_MODES:
        return _from_deep_grey(image)
    if image.has_transparency_data:
        layered = image.convert("RGBA")
        white = Image.new("RGBA", layered.size, "white")
        return Image.alpha_composite(white, layered).convert("RGB")
    return image.convert("RGB")


def _from_deep_grey(image: Image.Image) -> Image.Image:
    """Scale grey values of more than 8 bits to 8 bits. Pillow's own conversion would cut them off at white."""
    values: Any = np.asarray(image).astype(np.float64)
    finite = np.where(np.isfinite(values), values, 0)  # a few infinite values shall not decide the scale
    grey = np.clip(np.round(_scaled_to_255(finite, image.mode)), 0, 255).astype(np.uint8)
    grey[np.isposinf(values)] = 255
    transparent = image.info.get("transparency")
    if isinstance(transparent, int):  # the grey value of a PNG file that is transparent
        grey[values == transparent] = 255
    return Image.fromarray(grey).convert("RGB")


def _scaled_to_255(values: Any, mode: str) -> Any:
    """Return grey values on a scale on which 255 is white.

    A 16-bit image has a fixed scale. Modes "I" and "F" have none, so the highest value decides:

    mode                 highest value    white is
    "I;16", "I;16B" …    any              65,535
    "I", "F"             256 to 65,535    65,535
    "I", "F"             above            the highest value
    "F"                  up to 1          1, if no value is negative
    "I", "F"             other            255: these are 8 bits already
    """
    highest = values.max(initial=0.0)
    if mode.startswith("I;16") or 255 < highest <= 65_535:
        return values / 257  # 65,535 becomes 255
    if highest > 65_535:
        return values * (255 / highest)
    if mode == "F" and values.min(initial=0.0) >= 0 and highest <= 1:
        return values * 255
    return values


def _plain_media_type(path: Path) -> str | None:
    """Return the media type of a file that may be sent as it is, or None if a PNG file of its pixels is sent instead."""
    with _open(path) as image:
        media_type = MEDIA_TYPES.get(image.format or "")
        is_plain = (
            media_type is not None  # first, because counting frames reads the whole file
            and image.mode in PLAIN_MODES
            and not image.has_transparency_data
            and _orientation(image) == 1
            and not _has_several_frames(image)
        )
        return media_type if is_plain else None


def _as_png(image: Image.Image) -> bytes:
    content = io.BytesIO()
    image.save(content, "PNG")
    return content.getvalue()


def _has_several_frames(image: Image.Image) -> bool:
    """Return whether an image has more than one frame.

    For some formats Pillow reads all frames to count them. If one cannot be read, something follows the first.
    """
    try:
        with _as_os_error():
            return getattr(image, "n_frames", 1) > 1
    except OSError:
        return True


def _orientation(image: Image.Image) -> int:
    """Return how an image is stored, as an EXIF orientation from 1 to 8. Broken tags count as 1, upright."""
    try:
        with _as_os_error():
            value = _tags(image).get(ORIENTATION, 1)
    except OSError:
        return 1
    return value if value in range(1, 9) else 1


def _tags(image: Image.Image) -> Image.Exif:
    """Return the EXIF tags of an image, as `image.getexif()` does, but faster.

    `PngImageFile.getexif` decodes all pixels, to reach tags that follow them. If a file has none there, `getexif` of the
    base class is called, which needs only the header.
    """
    if image.format == "PNG" and not _has_late_tags(Path(image.filename)):  # type: ignore[attr-defined]
        return Image.Image.getexif(image)
    return image.getexif()


def _has_late_tags(png: Path) -> bool:
    """Return whether a PNG file has tags after its pixels (IDAT chunks). Only the heads of its chunks are read."""
    after_pixels = False
    with png.open("rb") as file:
        file.seek(len(PNG_SIGNATURE))
        while len(head := file.read(PNG_CHUNK.size)) == PNG_CHUNK.size:
            length, kind = PNG_CHUNK.unpack(head)
            if after_pixels and kind in PNG_TAGS:
                return True
            after_pixels = after_pixels or kind == b"IDAT"
            file.seek(length + PNG_CHECKSUM, io.SEEK_CUR)
    return False


@contextmanager
def _open(path: Path) -> Iterator[Image.Image]:
    """Open an image of an allowed format, and close it after the block.

    Raises OSError for all errors of Pillow, in the block too, so all uses of an image belong into the block.
    """
    with _as_os_error(), Image.open(path, formats=FORMATS) as image:
        yield image


@contextmanager
def _as_os_error() -> Iterator[None]:
    """Raise errors of Pillow as OSError, and too little memory as MemoryError.

    For broken files Pillow raises errors of almost any kind: IndexError for a GIF that is cut off, TypeError for a TIFF
    without a width, struct.error for tags that are cut off. DecompressionBombError is for images with too many pixels.
    """
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}") from error
