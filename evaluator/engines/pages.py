"""Fit a page that is too long for a model's context: cut it into windows and keep the most relevant ones.

The engines that read a page with its question call `fit_page`. The extractive engine reads whole pages.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from evaluator.core.data_types import PAGE, Prompt

TARGET_WINDOW_CHARS = 600  # length of a window; a longer block is cut at twice this length
# The place after a paragraph, row, list item, table, heading or line break.
_BLOCK_END = re.compile(r"(?<=</p>)|(?<=</tr>)|(?<=</li>)|(?<=</dd>)|(?<=</table>)|(?<=</h[1-6]>)|(?<=\n)")


def fit_page(prompt: Prompt, room: int | None, length: Callable[[str], int]) -> tuple[str, int | None]:
    """Return the prompt's text with as much of its page as fits, and the number of page windows kept.

    Args:
        prompt: The prompt. Without a page its text is returned unchanged.
        room: The largest length of the text, or None if there is no limit.
        length: Measures a text in the unit of `room`, tokens or characters.

    The number of windows is None if the page is whole, or there is no page.
    """
    if prompt.page is None:
        return prompt.text, None
    if not prompt.page:
        return prompt.text.replace(PAGE, ""), None
    whole = prompt.text.replace(PAGE, prompt.page)
    if room is None:
        return whole, None
    room_for_page = room - length(prompt.text)
    windows, lengths = _measure(prompt.page, length)
    # Both must fit, because the whole text may have more tokens than its parts together. The sum of the parts is checked
    # first: their lengths are cached, so a page that is too long is not tokenised again for each question.
    if sum(lengths) <= room_for_page and length(whole) <= room:
        return whole, None
    kept: list[int] = []
    for index in rank(prompt.question, windows):
        room_for_page -= lengths[index]
        # Stop at the first window that does not fit, so that no kept window is less relevant than a dropped one.
        if room_for_page < 0:
            break
        kept.append(index)
    return prompt.text.replace(PAGE, "".join(windows[i] for i in sorted(kept))), len(kept)


@lru_cache(maxsize=1)  # questions on the same page follow each other
def _measure(page: str, length: Callable[[str], int]) -> tuple[list[str], list[int]]:
    """Return the windows of a page and their lengths."""
    windows = page_windows(page)
    return windows, [length(window) for window in windows]


def page_windows(page: str) -> list[str]:
    """Split a page after paragraphs, rows and list items into windows of about TARGET_WINDOW_CHARS characters.

    Concatenated, the windows give the page again.
    """
    windows = [""]
    for block in _BLOCK_END.split(page):
        if windows[-1] and len(windows[-1]) + len(block) > TARGET_WINDOW_CHARS:
            windows.append("")
        windows[-1] += block
    return [w[i : i + 2 * TARGET_WINDOW_CHARS] for w in windows for i in range(0, len(w), 2 * TARGET_WINDOW_CHARS)]


def rank(question: str, windows: Sequence[str]) -> list[int]:
    """Return window indexes, most relevant to the question first, by BM25 over character bigrams, which suit Korean.

    Equally relevant windows are in the order of the page, as all are if the question has no text.
    """
    asked = _bigrams(question)
    if asked == [""]:  # bm25s has no scores for it
        return list(range(len(windows)))
    scores = _index(tuple(windows)).get_scores(asked)
    return sorted(range(len(windows)), key=lambda i: (-scores[i], i))


@lru_cache(maxsize=1)
def _index(windows: tuple[str, ...]) -> Any:
    """Return a BM25 index of the windows of one page."""
    import bm25s

    retriever = bm25s.BM25()
    retriever.index([_bigrams(w) for w in windows], show_progress=False)
    return retriever


def _bigrams(text: str) -> list[str]:
    """Return the pairs of neighbouring characters of a text, without tags and white space."""
    letters = "".join(re.sub(r"<[^>]*>", " ", text).lower().split())
    return [letters[i : i + 2] for i in range(len(letters) - 1)] or [letters]
