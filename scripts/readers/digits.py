"""Two ways to tell digits: by likeness to the font's own, and by a small network trained on other seeds."""

from collections.abc import Callable, Sequence

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


def trained(crops: Crops, labels: Sequence[str], seconds: float, show: Callable[[str], None] = print) -> Classifier:
    """A network of two convolutions, trained for so many seconds; `""` among the labels is what is no digit."""
    import time

    import torch
    from torch import nn

    torch.manual_seed(0)
    names = ["", *GLYPHS[:10]]
    x = torch.from_numpy(crops)[:, None]
    y = torch.tensor([names.index(label) for label in labels])
    network = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * (BOX[0] // 4) * (BOX[1] // 4), 64),
        nn.ReLU(),
        nn.Linear(64, len(names)),
    )
    optimizer = torch.optim.Adam(network.parameters(), 2e-3)
    started, steps, loss = time.monotonic(), 0, torch.tensor(0.0)
    while time.monotonic() - started < seconds:
        batch = torch.randint(len(x), (256,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
        steps += 1
    show(f"{len(x):,} glyphs, {steps:,} steps, loss {loss.item():.4f}")
    network.eval()

    def classify(crops: Crops) -> Sequence[str]:
        with torch.inference_mode():
            return [names[n] for n in network(torch.from_numpy(crops)[:, None]).argmax(dim=1).tolist()]

    return classify
