"""Fit a page that is too long for a model's context: cut it into windows and keep the most relevant ones."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from evaluator.core.data_types import PAGE, Prompt

WINDOW_CHARS = 600  # characters of a page that are kept or dropped together
_BLOCK_END = re.compile(r"(?<=</p>)|(?<=</tr>)|(?<=</li>)|(?<=</dd>)|(?<=</table>)|(?<=</h[1-6]>)|(?<=\n)")


def fit_page(prompt: Prompt, room: int | None, length: Callable[[str], int]) -> tuple[str, int | None]:
    """Return the prompt's text with as much of its page as fits, and the number of windows kept (None: the whole page).

    `room` is the limit for the text and `length` measures text in the same unit (tokens or characters). If `room` is
    None, there is no limit.
    """
    if prompt.page is None:
        return prompt.text, None
    whole = prompt.text.replace(PAGE, prompt.page)
    if room is None:
        return whole, None
    left = room - length(prompt.text)
    windows, lengths = _measure(prompt.page, length)
    if sum(lengths) <= left and length(whole) <= room:
        return whole, None
    kept: list[int] = []
    for index in rank(prompt.question, windows):
        left -= lengths[index]
        if left < 0:
            break
        kept.append(index)
    return prompt.text.replace(PAGE, "".join(windows[i] for i in sorted(kept))), len(kept)


@lru_cache(maxsize=1)  # questions on the same page follow each other
def _measure(page: str, length: Callable[[str], int]) -> tuple[list[str], list[int]]:
    windows = page_windows(page)
    return windows, [length(window) for window in windows]


def page_windows(page: str) -> list[str]:
    """Split a page after paragraphs, rows and list items into windows of about WINDOW_CHARS characters.

    Concatenated, the windows give the page again.
    """
    windows = [""]
    for block in _BLOCK_END.split(page):
        if windows[-1] and len(windows[-1]) + len(block) > WINDOW_CHARS:
            windows.append("")
        windows[-1] += block
    return [w[i : i + 2 * WINDOW_CHARS] for w in windows for i in range(0, len(w), 2 * WINDOW_CHARS)]


def rank(question: str, windows: Sequence[str]) -> list[int]:
    """Return window indexes, most relevant to the question first, by BM25 over character bigrams, which suit Korean."""
    scores = _index(tuple(windows)).get_scores(_bigrams(question))
    return sorted(range(len(windows)), key=lambda i: (-scores[i], i))


@lru_cache(maxsize=1)
def _index(windows: tuple[str, ...]) -> Any:
    import bm25s

    retriever = bm25s.BM25()
    retriever.index([_bigrams(w) for w in windows], show_progress=False)
    return retriever


def _bigrams(text: str) -> list[str]:
    letters = "".join(re.sub(r"<[^>]*>", " ", text).lower().split())
    return [letters[i : i + 2] for i in range(len(letters) - 1)] or [letters]
