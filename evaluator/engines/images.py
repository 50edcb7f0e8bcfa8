"""Load images as models get them: RGB, in the stored orientation, no larger than the pixel budget."""

import base64
import io
import mimetypes
from pathlib import Path

from PIL import Image

from evaluator.core.data_types import Prompt


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


def image_urls(prompt: Prompt, use_links: bool, max_pixels: int) -> tuple[list[str], float | None]:
    """Return the URLs of a prompt's images for a server, and the scale of the most reduced one (None if all are links).

    If `use_links`, the prompt's public links belong to its first images. All other images are sent as data URLs: files
    that exceed the pixel budget are scaled down, the others are sent unchanged.
    """
    urls: list[str] = list(prompt.links) if use_links else []
    scales: list[float] = []
    for path in prompt.images[len(urls) :]:
        width, height, scale = fitted_size(path, max_pixels)
        image = load_image(path, (width, height))  # decoded here, so that a broken file never reaches the server
        if scale == 1.0:
            media_type, content = mimetypes.guess_type(path.name)[0] or "image/png", path.read_bytes()
        else:
            scaled = io.BytesIO()
            image.save(scaled, "PNG")
            media_type, content = "image/png", scaled.getvalue()
        urls.append(f"data:{media_type};base64,{base64.b64encode(content).decode()}")
        scales.append(scale)
    return urls, min(scales, default=None)


def _open(path: Path) -> Image.Image:
    try:
        return Image.open(path)
    except Image.DecompressionBombError as error:
        raise ValueError(str(error)) from None
