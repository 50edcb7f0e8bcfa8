"""A figure as an office scanner gives it: a little askew, soft and noisy, grey where no colour carries a meaning."""

import io
import random

import numpy as np
from PIL import Image, ImageFilter


def scanned(image: Image.Image, chance: random.Random, *, grey: bool) -> Image.Image:
    """Turned by up to 1.6 degrees, softened, its paper tinted, with noise on every pixel."""
    paper = chance.randint(236, 250)
    turned = image.rotate(chance.uniform(-1.6, 1.6), Image.Resampling.BICUBIC, expand=False, fillcolor=(255, 255, 255))
    soft = turned.filter(ImageFilter.GaussianBlur(chance.uniform(0.3, 0.8)))
    pixels = np.asarray(soft.convert("L").convert("RGB") if grey else soft, dtype=np.int32) * paper // 255
    noise = np.random.default_rng(chance.getrandbits(64)).integers(-14, 15, (*pixels.shape[:2], 1), dtype=np.int32)
    page = io.BytesIO()
    Image.fromarray(np.clip(pixels + noise, 0, 255).astype(np.uint8)).save(page, "JPEG", quality=chance.randint(55, 80))
    return Image.open(page).convert("RGB")
