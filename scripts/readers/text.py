"""Numbers and words on a page: connected components told apart by a classifier of glyphs, words by their own picture."""

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
BOX = (20, 14)  # pixels of a glyph as classifiers see it: height, width
CONTRAST = 45  # grey levels that ink differs from what is around it
LOWEST, HIGHEST = 9, 60  # pixels of a digit's height
WORD_SIZES = (10.5, 11.0, 12.0, 13.0)  # points in which labels are printed
FOUND = 0.62  # correlation from which a word counts as found
ANGLES = np.arange(-1.6, 1.61, 0.2)  # degrees that a scan may be turned by

Grey = npt.NDArray[np.float32]
Sums = npt.NDArray[np.float64]
Classifier = Callable[[npt.NDArray[np.float32]], Sequence[str]]  # crops, shape (n, *BOX), to one of GLYPHS or "" each


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
        """Where something is darker or lighter than what is around it, as text is, also on a bar."""
        around = ndimage.median_filter(self.grey[::2, ::2], size=19).repeat(2, 0).repeat(2, 1)
        around = around[: self.grey.shape[0], : self.grey.shape[1]]
        ink: npt.NDArray[np.bool_] = np.abs(self.grey - around) > CONTRAST
        return ink

    @cached_property
    def numbers(self) -> list[Number]:
        labels, _ = ndimage.label(self.ink, structure=np.ones((3, 3)))
        boxes = [b for b in ndimage.find_objects(labels) if b]
        sizes = [(b[0].stop - b[0].start, b[1].stop - b[1].start) for b in boxes]
        tall = [n for n, (h, w) in enumerate(sizes) if LOWEST <= h <= HIGHEST and w <= h * 0.95]
        if not tall:
            return []
        crops = np.stack([glyph_crop(labels[boxes[n]] == labels[boxes[n]].max(), BOX) for n in tall])
        read = {n: glyph for n, glyph in zip(tall, self.classify(crops), strict=True) if glyph and glyph in GLYPHS[:10]}
        small = [n for n, (h, w) in enumerate(sizes) if 2 <= h <= 18 and 1 <= w <= 10]
        return list(_joined(boxes, read, small))

    def word(self, text: str) -> list[tuple[float, float]]:
        """Centres of the places where it is printed, the surest first."""
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
    def _relief(self) -> Grey:
        """How dark it is: words are printed dark on light."""
        return np.clip((215 - self.grey) / 160, 0, 1).astype(np.float32)

    @cached_property
    def _integrals(self) -> tuple[Sums, Sums]:
        """Running sums of the darkness and of its squares, from which those of any window follow."""
        first, second = (np.pad(of.astype(np.float64), ((1, 0), (1, 0))) for of in (self._relief, self._relief**2))
        return first.cumsum(0).cumsum(1), second.cumsum(0).cumsum(1)

    def _matches(self, text: str, size: float) -> list[tuple[float, float, float]]:
        """Normalised cross-correlation with the word's own picture: score, x, y of its best places."""
        template = _word(text, size)
        if template.shape[0] >= self.grey.shape[0] or template.shape[1] >= self.grey.shape[1]:
            return []
        centred = template - template.mean()
        sums, squares = (_window_sums(integral, template.shape) for integral in self._integrals)
        spread = np.sqrt(np.maximum(squares - sums**2 / template.size, 1e-3) * (centred**2).sum())
        score = fftconvolve(self._relief, centred[::-1, ::-1], mode="valid") / spread
        peaks = np.argwhere((score > FOUND) & (score == ndimage.maximum_filter(score, size=9)))
        height, width = template.shape
        return [(float(score[y, x]), x + width / 2, y + height / 2) for y, x in peaks]


def _window_sums(integral: Sums, window: tuple[int, ...]) -> Sums:
    """Of every window of this shape that lies within the page."""
    height, width = window
    total: Sums = (
        integral[height:, width:]
        - integral[:-height, width:]
        - integral[height:, :-width]
        + integral[:-height, :-width]
    )
    return total


def _upright(grey: Grey) -> Grey:
    """Turned back by the angle at which lines of text and rules are sharpest; an even page stays as it is."""
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
    """Digits side by side on one line, with the commas and points between them."""
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
    """The comma or point between two digits: a comma reaches below the line."""
    line, height = boxes[left][0].stop, boxes[left][0].stop - boxes[left][0].start
    for n in small:
        ys, xs = boxes[n]
        middle = (xs.start + xs.stop) / 2
        between = boxes[left][1].stop - 2 <= middle <= boxes[right][1].start + 2
        if between and abs(ys.stop - line) <= 0.3 * height and ys.stop - ys.start < 0.45 * height:
            return "," if ys.stop > line + 0.08 * height else "."
    return ""


def glyph_crop(mask: npt.NDArray[np.bool_], box: tuple[int, int]) -> npt.NDArray[np.float32]:
    """A component scaled to the box's height, its width kept in proportion: 1 is narrower than 7."""
    height, width = box
    wide = max(1, min(width, round(mask.shape[1] * height / mask.shape[0])))
    picture = Image.fromarray((mask * 255).astype(np.uint8)).resize((wide, height), Image.Resampling.BILINEAR)
    crop = np.zeros(box, dtype=np.float32)
    start = (width - wide) // 2
    crop[:, start : start + wide] = np.asarray(picture, dtype=np.float32) / 255
    return crop


def glyph_picture(text: str, size: float, *, bold: bool = False) -> Grey:
    """A glyph or a word in the pinned font, cut to its ink; 0 to 1."""
    font = ImageFont.truetype(str(font_files()[bold]), size * DPI / 72)
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("L", (int(right - left) + 4, int(bottom - top) + 4))
    ImageDraw.Draw(image).text((2 - left, 2 - top), text, fill=255, font=font)
    return np.asarray(image, dtype=np.float32) / np.float32(255)


@cache
def _word(text: str, size: float) -> Grey:
    return glyph_picture(text, size)
