"""Glyphs of figures of other seeds, each with what it is, for the reader that is trained."""

import random
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from matplotlib.text import Text
from scipy import ndimage

from evaluator.fresh.facts import facts_of
from evaluator.fresh.figures import drawn_canvas
from scripts.readers.text import BOX, HIGHEST, LOWEST, Page, glyph_crop

SEED = "readers train on this"  # no set that anybody is measured on has it


def glyphs(figures: int) -> tuple[npt.NDArray[np.float32], list[str]]:
    """Crops of shape (n, *BOX) and their digits; `""` for what is none. Every second figure has a scanner's noise."""
    crops, labels = [], []
    chance = random.Random(0)
    for number in range(figures):
        for crop, label in _of_figure(number, noisy=chance.random() < 0.5):
            crops.append(crop)
            labels.append(label)
    return np.stack(crops), labels


def _of_figure(number: int, *, noisy: bool) -> Iterator[tuple[npt.NDArray[np.float32], str]]:
    canvas = drawn_canvas(facts_of(SEED, number, "a"))
    pixels = np.asarray(canvas.buffer_rgba())[..., :3]
    grey = pixels.astype(np.float32) @ np.array([0.299, 0.587, 0.114], dtype=np.float32)
    if noisy:
        random_numbers = np.random.default_rng(number)
        grey = ndimage.gaussian_filter(grey, 0.6) * 0.96 + random_numbers.integers(-14, 15, grey.shape)
    page = Page(grey.astype(np.float32), lambda crops: [""] * len(crops))
    labels, _ = ndimage.label(page.ink, structure=np.ones((3, 3)))
    boxes = [b for b in ndimage.find_objects(labels) if b and LOWEST <= b[0].stop - b[0].start <= HIGHEST]
    height = grey.shape[0]
    told: dict[int, str] = {}
    for text in canvas.figure.findobj(Text):
        digits = [c for c in text.get_text() if c.isdigit()]
        if not digits or text.get_rotation():
            continue
        place = text.get_window_extent()
        inside = [
            n
            for n, (ys, xs) in enumerate(boxes)
            if place.x0 - 1 <= xs.start and xs.stop <= place.x1 + 1
            and height - place.y1 - 2 <= ys.start and ys.stop <= height - place.y0 + 2
        ]  # fmt: skip
        if len(inside) == len(digits) and set(text.get_text()) <= set("0123456789,."):
            told |= dict(zip(sorted(inside, key=lambda n: boxes[n][1].start), digits, strict=True))
        elif len(inside) != len(digits):
            told |= dict.fromkeys(
                (n for n in inside if n not in told), "?"
            )  # words with digits in them: not told apart
    for n, box in enumerate(boxes):
        if told.get(n) != "?" and box[1].stop - box[1].start <= 0.95 * (box[0].stop - box[0].start):
            yield glyph_crop(labels[box] == labels[box].max(), BOX), told.get(n, "")
