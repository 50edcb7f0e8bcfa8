"""Make a figure look like the output of an office scanner: slightly rotated, blurred and noisy."""

import io
import random

import numpy as np
from PIL import Image, ImageFilter


def as_scanned(image: Image.Image, chance: random.Random, *, grey: bool) -> Image.Image:
    """Return the image rotated by up to 1.6 degrees, blurred, tinted like paper and with noise; in grey if `grey`."""
    paper = chance.randint(236, 250)
    rotated = image.rotate(chance.uniform(-1.6, 1.6), Image.Resampling.BICUBIC, expand=False, fillcolor=(255, 255, 255))
    blurred = rotated.filter(ImageFilter.GaussianBlur(chance.uniform(0.3, 0.8)))
    pixels = np.asarray(blurred.convert("L").convert("RGB") if grey else blurred, dtype=np.int32) * paper // 255
    noise = np.random.default_rng(chance.getrandbits(64)).integers(-14, 15, (*pixels.shape[:2], 1), dtype=np.int32)
    buffer = io.BytesIO()
    Image.fromarray(np.clip(pixels + noise, 0, 255).astype(np.uint8)).save(
        buffer, "JPEG", quality=chance.randint(55, 80)
    )
    return Image.open(buffer).convert("RGB")
