"""Recognise digits by comparing them with the digits of the font."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scripts.readers.text import BOX, GLYPHS, Classifier, glyph_crop, glyph_picture

SIZES = (9.5, 10.0, 10.5, 11.0, 12.0, 16.0, 25.0)  # points
MAX_DISTANCE = (
    0.42  # squared distance to the nearest digit, relative to the squared norm of the crop; beyond it is no digit
)

Crops = npt.NDArray[np.float32]


def by_font() -> Classifier:
    """Return a classifier that gives the nearest digit of the font in any size that figures use, or "" if none is near."""
    pictures = [
        (digit, glyph_crop(_crop_to_ink(glyph_picture(digit, size, bold=bold) > 0.4), BOX))
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
        norms = np.maximum((flat**2).sum(axis=1), 1)
        return [
            names[n] if distance < MAX_DISTANCE * norm else ""
            for n, distance, norm in zip(nearest, distances.min(axis=1), norms, strict=True)
        ]

    return classify


def _crop_to_ink(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
