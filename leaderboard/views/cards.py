"""Draw the pictures that previews of links show (Open Graph): a title and bars with scores.

`leaderboard/pages/share.py` decides what is on the picture of a page.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from PIL import Image, ImageDraw, ImageFont

from leaderboard.views.texts import Language, text

# All measures are pixels.
WIDTH, HEIGHT = 1200, 630  # the size that sites expect of a preview, https://ogp.me
MARGIN = 72
FIRST_BAR, LAST_BAR = 282, 596  # y of the middle of the first and of the last possible bar
MAX_BARS = 8
MAX_DISTANCE = 66  # from one bar to the next, if there are few
INK, QUIET, ACCENT, REST, PAPER = "#16202e", "#5b6675", "#1d4ed8", "#e3e7ed", "#ffffff"  # REST is the bar up to 100 %
FONTS = ("NotoSansKR-Regular.otf", "NotoSansCJK-Regular.ttc", "NanumGothic.ttf")  # used if installed
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@dataclass(frozen=True)
class Bar:
    """A line of a card: a name and a score in percent."""

    name: str
    score: float
    note: str = ""  # after the score, such as "#1–3"


def drawable(language: Language) -> Language:
    """Return the language that cards can be drawn in: English if the host has no Korean font."""
    return language if _font_name() else "en"


@lru_cache(maxsize=200)
def draw_card(
    title: str, bars: tuple[Bar, ...], subtitle: str = "", language: Language = "en", remark: str = ""
) -> bytes:
    """Return a PNG of 1200 × 630 pixels with a title, two lines below it and up to MAX_BARS bars."""
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    draw = ImageDraw.Draw(image)
    # The board's mark, an eye, and its name beside it.
    draw.ellipse((MARGIN, 56, MARGIN + 64, 92), outline=ACCENT, width=5)
    draw.ellipse((MARGIN + 24, 66, MARGIN + 40, 82), fill=ACCENT)
    draw.text((MARGIN + 84, 74), text("card_board", language), QUIET, _font(28), anchor="lm")
    draw.text((MARGIN, 150), _fitted(title, WIDTH - 2 * MARGIN, 52), INK, _font(52), anchor="lm")
    if subtitle:
        draw.text((MARGIN, 200), _fitted(subtitle, WIDTH - 2 * MARGIN, 26), QUIET, _font(26), anchor="lm")
    if remark:
        draw.text((MARGIN, 234), _fitted(remark, WIDTH - 2 * MARGIN, 22), QUIET, _font(22), anchor="lm")
    _draw_bars(draw, bars[:MAX_BARS])
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _draw_bars(draw: ImageDraw.ImageDraw, bars: Sequence[Bar]) -> None:
    """Draw names on the left, bars from 0 to 100 in the middle, and scores on the right."""
    left = MARGIN + 420
    right = WIDTH - MARGIN - 240
    distance = min(MAX_DISTANCE, (LAST_BAR - FIRST_BAR) / max(1, len(bars) - 1))
    for number, bar in enumerate(bars):
        middle = FIRST_BAR + distance * number
        draw.text((MARGIN, middle), _fitted(bar.name, 400, 28), INK, _font(28), anchor="lm")
        draw.rectangle((left, middle - 12, right, middle + 12), fill=REST)
        end = left + (right - left) * min(max(bar.score, 0.0), 100.0) / 100
        draw.rectangle((left, middle - 12, end, middle + 12), fill=ACCENT)
        draw.text((right + 20, middle), f"{bar.score:.1f} {bar.note}".strip(), INK, _font(28), anchor="lm")


def _fitted(text: str, width: int, size: int) -> str:
    """Return a text in a font size, shortened to a width: "Qwen3-VL-235B…"."""
    font = _font(size)
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(f"{text}…") > width:
        text = text[:-1]
    return f"{text}…"


@cache
def _font_name() -> str | None:
    """Return the first Korean font that is installed, or None."""
    for name in FONTS:
        try:
            ImageFont.truetype(name, 10)
        except OSError:
            continue
        return name
    return None


@lru_cache(maxsize=16)
def _font(size: int) -> Font:
    name = _font_name()
    return ImageFont.truetype(name, size) if name else ImageFont.load_default(size)
