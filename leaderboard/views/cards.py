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
BAR_FONT = 28  # of names and scores
NAME_WIDTH = 400  # of the names on the left; longer ones are shortened
MAX_SCORE_WIDTH = 400  # of the scores on the right, which take as much as the longest of them needs
GAP = 20  # between a name, its bar and its score
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
    """Return the language to draw a card in: the given one, or English if the host has no Korean font."""
    return language if _font_name() else "en"


@lru_cache(maxsize=200)
def draw_card(
    *, title: str, subtitle: str = "", remark: str = "", bars: tuple[Bar, ...], language: Language = "en"
) -> bytes:
    """Return a PNG of 1200 × 630 pixels with a title, a subtitle, a remark and up to MAX_BARS bars, in this order."""
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    draw = ImageDraw.Draw(image)
    # The board's mark, an eye, and its name beside it.
    draw.ellipse((MARGIN, 56, MARGIN + 64, 92), outline=ACCENT, width=5)
    draw.ellipse((MARGIN + 24, 66, MARGIN + 40, 82), fill=ACCENT)
    draw.text((MARGIN + 84, 74), text("card_board", language), QUIET, _font(28), anchor="lm")
    for line, y, size, colour in ((title, 150, 52, INK), (subtitle, 200, 26, QUIET), (remark, 234, 22, QUIET)):
        draw.text((MARGIN, y), _fitted(line, WIDTH - 2 * MARGIN, size), colour, _font(size), anchor="lm")
    _draw_bars(draw, bars[:MAX_BARS])
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _draw_bars(draw: ImageDraw.ImageDraw, bars: Sequence[Bar]) -> None:
    """Draw names on the left, bars from 0 to 100 in the middle, and scores on the right."""
    font = _font(BAR_FONT)
    scores = [_fitted(f"{bar.score:.1f} {bar.note}".strip(), MAX_SCORE_WIDTH, BAR_FONT) for bar in bars]
    score_width = max((font.getlength(score) for score in scores), default=0)
    left = MARGIN + NAME_WIDTH + GAP
    right = WIDTH - MARGIN - score_width - GAP
    distance = min(MAX_DISTANCE, (LAST_BAR - FIRST_BAR) / max(1, len(bars) - 1))
    for number, (bar, score) in enumerate(zip(bars, scores, strict=True)):
        middle = FIRST_BAR + distance * number
        draw.text((MARGIN, middle), _fitted(bar.name, NAME_WIDTH, BAR_FONT), INK, font, anchor="lm")
        draw.rectangle((left, middle - 12, right, middle + 12), fill=REST)
        end = left + (right - left) * min(max(bar.score, 0.0), 100.0) / 100
        if end > left:  # a rectangle without width would be a line of one pixel
            draw.rectangle((left, middle - 12, end, middle + 12), fill=ACCENT)
        draw.text((right + GAP, middle), score, INK, font, anchor="lm")


def _fitted(line: str, width: int, size: int) -> str:
    """Return a line in a font size, shortened to a width: "Qwen3-VL-235B…"."""
    font = _font(size)
    if font.getlength(line) <= width:
        return line
    while line and font.getlength(f"{line}…") > width:
        line = line[:-1]
    return f"{line}…"


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
