"""Recognise digits by their likeness to those of the font."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scripts.readers.text import BOX, GLYPHS, Classifier, glyph_crop, glyph_picture

SIZES = (9.5, 10.0, 10.5, 11.0, 12.0, 16.0, 25.0)  # points
UNLIKE = 0.42  # of a crop's own weight: a glyph further from all digits than this is none

Crops = npt.NDArray[np.float32]


def by_font() -> Classifier:
    """The nearest of the font's digits, in all sizes that figures use; none where nothing is near."""
    pictures = [
        (digit, glyph_crop(_cut(glyph_picture(digit, size, bold=bold) > 0.4), BOX))
        for digit in GLYPHS[:10]
        for size in SIZES
        for bold in (False, True)
    ]
    names = [digit for digit, _ in pictures]
    known = np.stack([picture for _, picture in pictures]).reshape(len(pictures), -1)

    def classify(crops: Crops) -> Sequence[str]:
        flat = crops.reshape(len(crops), -1)
        distances = ((flat[:, None] - known[None]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        weight = np.maximum((flat**2).sum(axis=1), 1)
        return [
            names[n] if distance < UNLIKE * own else ""
            for n, distance, own in zip(nearest, distances.min(axis=1), weight, strict=True)
        ]

    return classify


def _cut(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
