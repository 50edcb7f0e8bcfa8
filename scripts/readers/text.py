"""Find numbers and words on a page.

Numbers are connected components that a classifier recognises as digits; words are found by template matching.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage
from scipy.signal import fftconvolve

from evaluator.fresh.figures import DPI, font_files

GLYPHS = "0123456789,."
BOX = (20, 14)  # height and width in pixels of the crops that classifiers get
CONTRAST = 45  # minimum difference of ink from its surroundings in grey levels
MIN_HEIGHT, MAX_HEIGHT = 9, 60  # of a digit in pixels
WORD_SIZES = (10.5, 11.0, 12.0, 13.0)  # font sizes of labels in points
MIN_CORRELATION = 0.62  # for a match of a word
ANGLES = np.arange(-1.6, 1.61, 0.2)  # in degrees, by which a scan may be rotated

Grey = npt.NDArray[np.float32]
Sums = npt.NDArray[np.float64]
Classifier = Callable[
    [npt.NDArray[np.float32]], Sequence[str]
]  # crops of shape (n, *BOX) → for each, one of GLYPHS or ""


@dataclass(frozen=True)
class Number:
    value: Decimal
    x: float  # centre, pixels
    y: float
    height: float


@dataclass
class Page:
    grey: Grey  # 0 to 255, upright
    classify: Classifier
    places: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    @classmethod
    def of(cls, image: Image.Image, classify: Classifier) -> "Page":
        return cls(_upright(np.asarray(image.convert("L"), dtype=np.float32)), classify)

    @cached_property
    def ink(self) -> npt.NDArray[np.bool_]:
        """Return a mask of the pixels that are darker or lighter than their surroundings, as text is, also on a bar."""
        around = ndimage.median_filter(self.grey[::2, ::2], size=19).repeat(2, 0).repeat(2, 1)
        around = around[: self.grey.shape[0], : self.grey.shape[1]]
        ink: npt.NDArray[np.bool_] = np.abs(self.grey - around) > CONTRAST
        return ink

    @cached_property
    def numbers(self) -> list[Number]:
        labels, _ = ndimage.label(self.ink, structure=np.ones((3, 3)))
        boxes = [b for b in ndimage.find_objects(labels) if b]
        sizes = [(b[0].stop - b[0].start, b[1].stop - b[1].start) for b in boxes]
        tall = [n for n, (h, w) in enumerate(sizes) if MIN_HEIGHT <= h <= MAX_HEIGHT and w <= h * 0.95]
        if not tall:
            return []
        crops = np.stack([glyph_crop(labels[boxes[n]] == labels[boxes[n]].max(), BOX) for n in tall])
        read = {n: glyph for n, glyph in zip(tall, self.classify(crops), strict=True) if glyph and glyph in GLYPHS[:10]}
        small = [n for n, (h, w) in enumerate(sizes) if 2 <= h <= 18 and 1 <= w <= 10]
        return list(_joined(boxes, read, small))

    def word(self, text: str) -> list[tuple[float, float]]:
        """Return the centres (x, y) of the places where a word is printed, best match first."""
        if text not in self.places:
            found = [place for size in WORD_SIZES for place in self._matches(text, size)]
            found.sort(reverse=True)
            kept: list[tuple[float, float, float]] = []
            for place in found:
                if all(abs(place[1] - other[1]) > 12 or abs(place[2] - other[2]) > 8 for other in kept):
                    kept.append(place)
            self.places[text] = [(x, y) for _, x, y in kept]
        return self.places[text]

    @cached_property
    def _darkness(self) -> Grey:
        """Return the darkness of each pixel, 0 to 1. Words are printed dark on light."""
        return np.clip((215 - self.grey) / 160, 0, 1).astype(np.float32)

    @cached_property
    def _integrals(self) -> tuple[Sums, Sums]:
        """Return the integral images of the darkness and its square, which give the sums over any window."""
        first, second = (np.pad(of.astype(np.float64), ((1, 0), (1, 0))) for of in (self._darkness, self._darkness**2))
        return first.cumsum(0).cumsum(1), second.cumsum(0).cumsum(1)

    def _matches(self, text: str, size: float) -> list[tuple[float, float, float]]:
        """Return score, x and y of the local maxima of the normalised cross-correlation with the rendered word."""
        template = _word(text, size)
        if template.shape[0] >= self.grey.shape[0] or template.shape[1] >= self.grey.shape[1]:
            return []
        centred = template - template.mean()
        sums, squares = (_window_sums(integral, template.shape) for integral in self._integrals)
        spread = np.sqrt(np.maximum(squares - sums**2 / template.size, 1e-3) * (centred**2).sum())
        score = fftconvolve(self._darkness, centred[::-1, ::-1], mode="valid") / spread
        peaks = np.argwhere((score > MIN_CORRELATION) & (score == ndimage.maximum_filter(score, size=9)))
        height, width = template.shape
        return [(float(score[y, x]), x + width / 2, y + height / 2) for y, x in peaks]


def _window_sums(integral: Sums, window: tuple[int, ...]) -> Sums:
    """Return the sum over every window of this shape within the page."""
    height, width = window
    total: Sums = (
        integral[height:, width:]
        - integral[:-height, width:]
        - integral[height:, :-width]
        + integral[:-height, :-width]
    )
    return total


def _upright(grey: Grey) -> Grey:
    """Return the page rotated to the angle at which lines are sharpest. A page that is straight is returned unchanged."""
    small = 255 - grey[::3, ::3]

    def sharpness(angle: float) -> float:
        turned = ndimage.rotate(small, angle, reshape=False, order=1) if angle else small
        return float(np.var(np.diff(turned[20:-20, 20:-20].sum(axis=1))))

    best = max(ANGLES, key=lambda angle: sharpness(round(float(angle), 2)))
    if abs(best) < 0.15 or sharpness(float(best)) < 1.25 * sharpness(0.0):
        return grey
    turned: Grey = ndimage.rotate(grey, float(best), reshape=False, order=1, mode="nearest")
    return turned


def _joined(boxes: list[tuple[slice, slice]], digits: dict[int, str], small: list[int]) -> list[Number]:
    """Return numbers: runs of adjacent digits on one line, with the commas and points between them."""
    order = sorted(digits, key=lambda n: boxes[n][1].start)
    used: set[int] = set()
    found = []
    for first in order:
        if first in used:
            continue
        run = [first]
        used.add(first)
        for n in order:
            last = boxes[run[-1]]
            height = last[0].stop - last[0].start
            same_line = abs(boxes[n][0].stop - last[0].stop) <= 0.2 * height + 1
            gap = boxes[n][1].start - last[1].stop
            alike = abs((boxes[n][0].stop - boxes[n][0].start) - height) <= 0.25 * height + 1
            if n not in used and same_line and alike and -2 <= gap <= 0.75 * height:
                run.append(n)
                used.add(n)
        text = digits[run[0]]
        for left, right in itertools.pairwise(run):
            text += _mark(boxes, left, right, small) + digits[right]
        try:
            value = Decimal(text.replace(",", ""))
        except InvalidOperation:
            continue
        xs = boxes[run[0]][1].start, boxes[run[-1]][1].stop
        ys = boxes[run[0]][0]
        found.append(Number(value, sum(xs) / 2, (ys.start + ys.stop) / 2, ys.stop - ys.start))
    return found


def _mark(boxes: list[tuple[slice, slice]], left: int, right: int, small: list[int]) -> str:
    """Return the comma or point between two digits, or "". A comma reaches below the line."""
    line, height = boxes[left][0].stop, boxes[left][0].stop - boxes[left][0].start
    for n in small:
        ys, xs = boxes[n]
        middle = (xs.start + xs.stop) / 2
        between = boxes[left][1].stop - 2 <= middle <= boxes[right][1].start + 2
        if between and abs(ys.stop - line) <= 0.3 * height and ys.stop - ys.start < 0.45 * height:
            return "," if ys.stop > line + 0.08 * height else "."
    return ""


def glyph_crop(mask: npt.NDArray[np.bool_], box: tuple[int, int]) -> npt.NDArray[np.float32]:
    """Return a component scaled to the height of the box. The proportions are kept, because a 1 is narrower than a 7."""
    height, width = box
    wide = max(1, min(width, round(mask.shape[1] * height / mask.shape[0])))
    picture = Image.fromarray((mask * 255).astype(np.uint8)).resize((wide, height), Image.Resampling.BILINEAR)
    crop = np.zeros(box, dtype=np.float32)
    start = (width - wide) // 2
    crop[:, start : start + wide] = np.asarray(picture, dtype=np.float32) / 255
    return crop


def glyph_picture(text: str, size: float, *, bold: bool = False) -> Grey:
    """Return a glyph or a word in the pinned font, cropped to its bounding box, with values from 0 to 1."""
    font = ImageFont.truetype(str(font_files()[bold]), size * DPI / 72)
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("L", (int(right - left) + 4, int(bottom - top) + 4))
    ImageDraw.Draw(image).text((2 - left, 2 - top), text, fill=255, font=font)
    return np.asarray(image, dtype=np.float32) / np.float32(255)


@cache
def _word(text: str, size: float) -> Grey:
    return glyph_picture(text, size)
