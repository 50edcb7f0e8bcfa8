"""Load images as models get them: RGB, in the stored orientation, no larger than the pixel budget."""

from pathlib import Path

from PIL import Image


def fitted_size(path: Path, max_pixels: int) -> tuple[int, int, float]:
    """Return width and height within the pixel budget, and the scale factor (1.0: not reduced).

    Only the file's header is read. Raises OSError if the image cannot be read, ValueError if opening it is not safe.
    """
    with _open(path) as image:
        width, height = image.size
    factor = min(1.0, (max_pixels / (width * height)) ** 0.5)
    return max(1, int(width * factor)), max(1, int(height * factor)), factor


def load_image(path: Path, size: tuple[int, int]) -> Image.Image:
    """Return the image scaled to `size`. Raises the same errors as `fitted_size`."""
    with _open(path) as image:
        try:
            rgb = image.convert("RGB")
        except (SyntaxError, EOFError) as error:  # raised by Pillow for some broken files
            raise OSError(str(error)) from None
    return rgb if rgb.size == size else rgb.resize(size, Image.Resampling.LANCZOS)


def _open(path: Path) -> Image.Image:
    try:
        return Image.open(path)
    except Image.DecompressionBombError as error:
        raise ValueError(str(error)) from None
