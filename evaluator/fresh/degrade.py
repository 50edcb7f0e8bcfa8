"""Make a picture look scanned, photographed, faxed, small or compressed: the steps of the degradation ladder.

Noise consists of whole numbers, so that the same seed gives the same bytes on every host.
"""

import io
import random
from collections.abc import Callable
from typing import Literal

import numpy as np
from PIL import Image, ImageFilter

from evaluator.fresh.charts import PPI

Version = Literal["clean", "scan", "photo", "fax", "72dpi", "jpeg"]


def degraded(page: bytes, version: Version, chance: random.Random) -> bytes:
    """Return a page, a PNG file, in one version, as a PNG or JPEG file (see SUFFIXES)."""
    return page if version == "clean" else _STEPS[version](Image.open(io.BytesIO(page)).convert("RGB"), chance)


def _scan(image: Image.Image, chance: random.Random) -> bytes:
    """Rotate by up to 1.6 degrees, blur, darken white to the grey of paper, add noise and compress."""
    rotated = image.rotate(chance.uniform(-1.6, 1.6), Image.Resampling.BICUBIC, fillcolor="white")
    blurred = rotated.filter(ImageFilter.GaussianBlur(0.7))
    paper = chance.randint(236, 248)
    return _jpeg(_noisy(blurred, chance, paper), 70)


def _photo(image: Image.Image, chance: random.Random) -> bytes:
    """Skew like a photograph taken at an angle, shade one side, blur and compress."""
    width, height = image.size
    shift = [chance.uniform(0.0, 0.055) for _ in range(8)]
    # The upper left, lower left, lower right and upper right corner of what is shown: a little more than the page.
    corners = (
        -shift[0] * width,
        -shift[1] * height,
        -shift[2] * width,
        (1 + shift[3]) * height,
        (1 + shift[4]) * width,
        (1 + shift[5]) * height,
        (1 + shift[6]) * width,
        -shift[7] * height,
    )
    skewed = image.transform(image.size, Image.Transform.QUAD, corners, Image.Resampling.BICUBIC, fillcolor="#6b5f52")
    shade = np.linspace(chance.randint(150, 190), 250, width).astype(np.int32)[None, :, None]
    pixels = np.asarray(skewed.filter(ImageFilter.GaussianBlur(0.9)), dtype=np.int32) * shade // 255
    return _jpeg(_noisy(Image.fromarray(pixels.astype(np.uint8)), chance, 255), 60)


def _fax(image: Image.Image, chance: random.Random) -> bytes:
    """Reduce to black and white pixels, with a slant and specks."""
    grey = image.convert("L").rotate(chance.uniform(-1.0, 1.0), Image.Resampling.BICUBIC, fillcolor=255)
    pixels = np.asarray(grey, dtype=np.int32) + _noise(chance, (grey.height, grey.width), 30)
    return png(Image.fromarray(np.where(pixels > 170, 255, 0).astype(np.uint8)).convert("1"))


def _small(image: Image.Image, chance: random.Random) -> bytes:
    """Reduce to 72 dpi."""
    return png(image.resize((image.width * 72 // PPI, image.height * 72 // PPI), Image.Resampling.BILINEAR))


def _compressed_twice(image: Image.Image, chance: random.Random) -> bytes:
    """Compress as JPEG at low quality, shift by a few pixels, and compress again.

    After the shift the blocks of both compressions do not coincide, which loses more.
    """
    once = Image.open(io.BytesIO(_jpeg(image, chance.randint(22, 30)))).convert("RGB")
    shifted = once.crop((3, 3, once.width, once.height))
    return _jpeg(shifted, chance.randint(18, 26))


def _noisy(image: Image.Image, chance: random.Random, paper: int) -> Image.Image:
    """Darken an image so that white becomes the grey level `paper`, and add grey noise."""
    pixels = np.asarray(image.convert("RGB"), dtype=np.int32) * paper // 255
    noise = _noise(chance, (image.height, image.width, 1), 12)
    return Image.fromarray(np.clip(pixels + noise, 0, 255).astype(np.uint8))


def _noise(
    chance: random.Random, shape: tuple[int, ...], most: int
) -> "np.ndarray[tuple[int, ...], np.dtype[np.int32]]":
    return np.random.default_rng(chance.getrandbits(64)).integers(-most, most + 1, shape, dtype=np.int32)


def _jpeg(image: Image.Image, quality: int) -> bytes:
    buffer = io.BytesIO()
    image.convert("RGB").save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def png(image: Image.Image) -> bytes:
    """Return an image as a PNG file."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


_STEPS: dict[Version, Callable[[Image.Image, random.Random], bytes]] = {
    "scan": _scan,
    "photo": _photo,
    "fax": _fax,
    "72dpi": _small,
    "jpeg": _compressed_twice,
}
DEGRADED = tuple(_STEPS)  # in the order of the ladder
SUFFIXES: dict[Version, str] = {
    "clean": "png",
    "scan": "jpg",
    "photo": "jpg",
    "fax": "png",
    "72dpi": "png",
    "jpeg": "jpg",
}
