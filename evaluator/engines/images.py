"""Images as models get them: RGB, upright as stored, no larger than the pixel budget."""

from pathlib import Path

from PIL import Image


def fitted_size(path: Path, max_pixels: int) -> tuple[int, int, float]:
    """Width and height within the budget, and the factor they were scaled by (1: not at all).

    Only the file's head is read. Raises OSError, or ValueError for an image that cannot be opened safely.
    """
    with _opened(path) as image:
        width, height = image.size
    factor = min(1.0, (max_pixels / (width * height)) ** 0.5)
    return max(1, int(width * factor)), max(1, int(height * factor)), factor


def load_image(path: Path, size: tuple[int, int]) -> Image.Image:
    """The image at this size. Raises as `fitted_size` does."""
    with _opened(path) as image:
        try:
            whole = image.convert("RGB")
        except (SyntaxError, EOFError) as error:  # what Pillow raises for some broken files
            raise OSError(str(error)) from None
    return whole if whole.size == size else whole.resize(size, Image.Resampling.LANCZOS)


def _opened(path: Path) -> Image.Image:
    try:
        return Image.open(path)
    except Image.DecompressionBombError as error:
        raise ValueError(str(error)) from None
