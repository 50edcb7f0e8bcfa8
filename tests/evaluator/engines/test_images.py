"""Test the picture that a model sees: the same for the built-in engine and for servers, whatever the maker's file is like."""

import base64
import io
import json
import random
import struct
import zlib
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngImageFile

from evaluator.core.data_types import Prompt
from evaluator.engines.images import ORIENTATION, changes, fitted_size, image_urls, load_image, picture_fault
from submissions.config.paths import ROOT

SIZE = (60, 40)
MARK = (10, 10, 30, 30)  # a dark rectangle on white
BUDGETS = (10**6, 1200)


def marked(mode: str, background: object, mark: object) -> Image.Image:
    image = Image.new(mode, SIZE, background)  # type: ignore[arg-type]
    image.paste(mark, MARK)  # type: ignore[arg-type]
    return image


def deep(kind: str, white: float, dark: float) -> Image.Image:
    values = np.full((SIZE[1], SIZE[0]), white, dtype=kind)
    values[MARK[1] : MARK[3], MARK[0] : MARK[2]] = dark
    return Image.fromarray(values)


def palette(transparent: int | bytes) -> tuple[Image.Image, dict[str, object]]:
    image = marked("P", 0, 1)
    image.putpalette([0, 0, 0, 20, 20, 20])
    return image, {"transparency": transparent}


def black_page() -> Image.Image:
    """Return a page whose transparent background is stored as black, as many drawing programs do."""
    return marked("RGBA", (0, 0, 0, 0), (20, 20, 20, 255))


FILES: dict[str, tuple[Image.Image, str, dict[str, object]]] = {
    "RGBA PNG": (black_page(), "PNG", {}),
    "RGBA WebP": (black_page(), "WEBP", {"lossless": True}),
    "RGBA TIFF": (black_page(), "TIFF", {}),
    "grey with alpha": (marked("LA", (0, 0), (20, 255)), "PNG", {}),
    "palette with one transparent colour": (palette(0)[0], "PNG", {"transparency": 0}),
    "palette with alpha": (palette(0)[0], "PNG", {"transparency": b"\x00\xff"}),
    "GIF": (palette(0)[0], "GIF", {"transparency": 0}),
    "grey with a transparent value": (marked("L", 0, 20), "PNG", {"transparency": 0}),
    "RGB with a transparent colour": (marked("RGB", (0, 0, 0), (20, 20, 20)), "PNG", {"transparency": (0, 0, 0)}),
    "16-bit PNG": (deep("uint16", 65_535, 5000), "PNG", {}),
    "16-bit TIFF": (deep("uint16", 65_535, 5000), "TIFF", {}),
    "16-bit big-endian TIFF": (deep(">u2", 65_535, 5000), "TIFF", {}),
    "32-bit TIFF": (deep("int32", 65_535, 5000), "TIFF", {}),
    "32-bit TIFF with values above 16 bits": (deep("int32", 10**6, 76_000), "TIFF", {}),
    "32-bit TIFF with values of 8 bits": (deep("int32", 255, 20), "TIFF", {}),
    "float TIFF from 0 to 1": (deep("float32", 1.0, 0.05), "TIFF", {}),
    "float TIFF from 0 to 255": (deep("float32", 255.0, 12.0), "TIFF", {}),
    "several frames": (
        palette(0)[0],
        "GIF",
        {"transparency": 0, "save_all": True, "append_images": [marked("L", 255, 20)]},
    ),
    "CMYK JPEG": (marked("RGB", (255, 255, 255), (20, 20, 20)).convert("CMYK"), "JPEG", {"quality": 100}),
    "one bit": (marked("1", 1, 0), "TIFF", {}),
    "plain": (marked("RGB", (255, 255, 255), (20, 20, 20)), "PNG", {}),
}


def saved(folder: Path, name: str) -> Path:
    image, kind, options = FILES[name]
    path = folder / f"{name}.{kind.lower()}"
    image.save(path, kind, **options)
    return path


def sent(path: Path, budget: int) -> tuple[str, Image.Image]:
    """Return the media type and the pixels that a server decodes."""
    (url,), _ = image_urls(Prompt("1", "?", (path,)), False, budget)
    head, _, content = url.partition(";base64,")
    return head, Image.open(io.BytesIO(base64.b64decode(content)))


@pytest.mark.parametrize("white", [1.0, 255.0, 65_535.0])
def test_infinite_values_do_not_decide_the_scale(white: float, tmp_path: Path) -> None:
    values = np.asarray(deep("float32", white, white / 20)).copy()
    values[0, :3] = (np.inf, -np.inf, np.nan)
    Image.fromarray(values).save(tmp_path / "1.tiff")
    pixels = np.asarray(load_image(tmp_path / "1.tiff"))
    assert pixels[15:25, 15:25].max() < 40 and pixels[1:8].min() > 230
    assert pixels[0, 0].min() == 255 and pixels[0, 1].max() == 0


@pytest.mark.parametrize("name", FILES)
def test_page_is_dark_on_white(name: str, tmp_path: Path) -> None:
    pixels = np.asarray(load_image(saved(tmp_path, name)))
    assert pixels.shape == (SIZE[1], SIZE[0], 3)
    assert pixels[15:25, 15:25].max() < 40, "the mark is dark"
    assert pixels[:8].min() > 230 and pixels[:, 34:].min() > 230, "the page is white"


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", FILES)
def test_server_gets_same_pixels_as_engine(name: str, budget: int, tmp_path: Path) -> None:
    path = saved(tmp_path, name)
    width, height, _ = fitted_size(path, budget)
    media_type, decoded = sent(path, budget)
    assert media_type == f"data:image/{(decoded.format or '').lower()}"
    assert media_type in ("data:image/png", "data:image/jpeg", "data:image/webp"), "what servers accept"
    assert np.array_equal(np.asarray(load_image(path, (width, height))), np.asarray(decoded.convert("RGB")))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_picture_with_a_broken_tag_is_upright_too(orientation: int, tmp_path: Path) -> None:
    """A tag for text that holds a number, as some scanners write it, cannot be written again."""
    entry = struct.Struct("<HHII")  # tag, type, number of values, value
    entries = entry.pack(0x010E, 11, 1, 7) + entry.pack(ORIENTATION, 3, 1, orientation)
    exif = b"Exif\0\0II*\0" + struct.pack("<IH", 8, 2) + entries + bytes(4)
    path = tmp_path / "1.png"
    stored = marked("L", 255, 0)
    stored.save(path, exif=exif)
    stored.getexif()[ORIENTATION] = orientation
    assert load_image(path).convert("L").tobytes() == ImageOps.exif_transpose(stored).tobytes()
    with Image.open(path) as image, pytest.raises(AttributeError) if orientation > 1 else nullcontext():
        ImageOps.exif_transpose(image)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP"])
@pytest.mark.parametrize("orientation", [1, 3, 6, 8, 0, 99])
def test_turned_picture_is_upright_everywhere(orientation: int, kind: str, budget: int, tmp_path: Path) -> None:
    path = tmp_path / "picture"
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    marked("RGB", (255, 255, 255), (20, 20, 20)).save(path, kind, exif=exif)
    width, height, _ = fitted_size(path, budget)
    upright = load_image(path, (width, height))
    assert (width < height) == (orientation in (6, 8)) and load_image(path).size in ((60, 40), (40, 60))
    assert (load_image(path).width < load_image(path).height) == (width < height)
    _, decoded = sent(path, budget)
    assert decoded.getexif().get(ORIENTATION, 1) not in range(2, 9), "a server has nothing to turn"
    assert np.array_equal(np.asarray(upright), np.asarray(decoded.convert("RGB")))


def insert_tags(png: Path, tags: bytes, before: bytes) -> None:
    """Insert a chunk of EXIF tags into a PNG file, before the chunk of this kind."""
    body = b"eXIf" + tags
    chunk = struct.pack(">I", len(tags)) + body + struct.pack(">I", zlib.crc32(body))
    content = png.read_bytes()
    start = content.index(before) - 4  # the length of a chunk is before its kind
    png.write_bytes(content[:start] + chunk + content[start:])


def test_tags_after_pixels_turn_a_png(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    path = saved(tmp_path, "plain")
    width, height, _ = fitted_size(path, 10**6)
    insert_tags(path, exif.tobytes().removeprefix(b"Exif\0\0"), before=b"IEND")
    assert fitted_size(path, 10**6)[:2] == load_image(path).size == (height, width)


@pytest.mark.parametrize("tags", [b"II*\0", b"", b"no tags at all", b"II*\0\xff\xff\xff\xff"])
@pytest.mark.parametrize("before", [b"IDAT", b"IEND"])
def test_picture_with_broken_tags_is_upright(before: bytes, tags: bytes, tmp_path: Path) -> None:
    path = saved(tmp_path, "plain")
    whole = load_image(path)
    insert_tags(path, tags, before)
    assert fitted_size(path, 10**6)[:2] == SIZE
    assert np.array_equal(np.asarray(load_image(path)), np.asarray(whole))
    assert picture_fault(path) == "" and changes(path) == []
    assert np.array_equal(np.asarray(sent(path, 10**6)[1]), np.asarray(whole))


def test_size_of_png_needs_no_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, "plain")
    monkeypatch.setattr(PngImageFile, "load", lambda self: pytest.fail("the pixels were decoded"))
    assert fitted_size(path, 10**6)[:2] == SIZE


@pytest.mark.parametrize(("kind", "name"), [("JPEG", "a.png"), ("PNG", "a.jpg"), ("JPEG", "a"), ("TIFF", "a.png")])
def test_media_type_follows_content(kind: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    marked("RGB", (255, 255, 255), (20, 20, 20)).save(path, kind)
    media_type, decoded = sent(path, 10**6)
    assert media_type == f"data:image/{(decoded.format or '').lower()}" and decoded.format in ("JPEG", "PNG")


def test_broken_picture_is_an_error_of_the_file(tmp_path: Path) -> None:
    whole = saved(tmp_path, "plain").read_bytes()
    for length in (0, 20, 60, len(whole) // 2):
        (tmp_path / "broken").write_bytes(whole[:length])
        with pytest.raises(OSError):
            load_image(tmp_path / "broken")


@pytest.mark.parametrize("kind", ["GIF", "TIFF", "PNG", "WEBP"])
def test_picture_cut_off_in_later_frame_is_accepted(kind: str, tmp_path: Path) -> None:
    """Only the first frame is shown. An import first accepts a picture and then counts what is changed in it."""
    page = marked("RGB", (255, 255, 255), (20, 20, 20))
    path = tmp_path / "picture"
    page.save(path, kind, save_all=True, append_images=[page.rotate(180)])
    whole = path.read_bytes()
    assert changes(path) == ["with several frames, of which the first is shown"]
    for length in range(0, len(whole), max(1, len(whole) // 280)):
        path.write_bytes(whole[:length])
        if not picture_fault(path):
            changes(path)


DAMAGED_VERSIONS = 60  # of each file


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Return a file that was cut off or has some wrong bytes, most of them in its header."""
    if chance.random() < 0.3:
        return content[: chance.randrange(len(content))]
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        length = len(content) if chance.random() < 0.4 else min(len(content), 200)
        changed[chance.randrange(length)] = chance.randrange(256)
    return bytes(changed)


@pytest.mark.parametrize("name", FILES)
def test_damaged_picture_raises_only_os_errors(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10**5)  # a wrong size in a header would take long
    whole = saved(tmp_path, name).read_bytes()
    chance = random.Random(name)
    path = tmp_path / "damaged"
    for _ in range(DAMAGED_VERSIONS):
        path.write_bytes(damaged(whole, chance))
        with suppress(OSError):
            fitted_size(path, 10**6)
        with suppress(OSError):
            load_image(path)
        if not picture_fault(path):
            fitted_size(path, 10**6)
            changes(path)
            image_urls(Prompt("1", "?", (path,)), False, 10**6)


CASES = ROOT / "tests/cases/images"  # files from reports about other tools
EXPECTED: dict[str, dict[str, Any]] = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", EXPECTED)
def test_reported_file_is_the_same_for_engine_and_server(name: str, budget: int) -> None:
    width, height, _ = fitted_size(CASES / name, budget)
    media_type, decoded = sent(CASES / name, budget)
    assert media_type == f"data:image/{(decoded.format or '').lower()}"
    assert np.array_equal(np.asarray(load_image(CASES / name, (width, height))), np.asarray(decoded.convert("RGB")))


@pytest.mark.parametrize("name", [name for name, right in EXPECTED.items() if "mark" in right])
def test_reported_page_is_dark_on_white(name: str) -> None:
    left, top, right, bottom = EXPECTED[name]["mark"]
    image = load_image(CASES / name)
    pixels = np.asarray(image)
    assert list(image.size) == EXPECTED[name]["size"]
    assert pixels[top + 2 : bottom - 2, left + 2 : right - 2].max() < 100
    assert pixels[: top - 2].min() > 230 and pixels[:, right + 2 :].min() > 230


@pytest.mark.parametrize("name", [name for name, right in EXPECTED.items() if "media_type" in right])
def test_reported_file_is_announced_as_its_content(name: str) -> None:
    assert sent(CASES / name, 10**6)[0] == f"data:{EXPECTED[name]['media_type']}"
