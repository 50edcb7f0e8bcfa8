"""A page that is too long for a model's context: cut into windows, the most relevant first."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from evaluator.core.data_types import PAGE, Prompt

WINDOW = 600  # characters of a page that are kept or left out together
_BLOCK_END = re.compile(r"(?<=</p>)|(?<=</tr>)|(?<=</li>)|(?<=</dd>)|(?<=</table>)|(?<=</h[1-6]>)|(?<=\n)")


def fit_page(prompt: Prompt, room: int | None, length: Callable[[str], int]) -> tuple[str, int | None]:
    """The prompt's text with as much of its page as there is room for, and how many windows that is (None: all).

    `room` and `length` are in the same unit; no room stated is room for everything.
    """
    if prompt.page is None:
        return prompt.text, None
    whole = prompt.text.replace(PAGE, prompt.page)
    if room is None:
        return whole, None
    left = room - length(prompt.text)
    windows, lengths = _measured(prompt.page, length)
    if sum(lengths) <= left and length(whole) <= room:
        return whole, None
    kept: list[int] = []
    for index in rank(prompt.question, windows):
        left -= lengths[index]
        if left < 0:
            break
        kept.append(index)
    return prompt.text.replace(PAGE, "".join(windows[i] for i in sorted(kept))), len(kept)


@lru_cache(maxsize=1)  # the questions on a page stand together
def _measured(page: str, length: Callable[[str], int]) -> tuple[list[str], list[int]]:
    windows = page_windows(page)
    return windows, [length(window) for window in windows]


def page_windows(page: str) -> list[str]:
    """A page cut after paragraphs, rows and list items into pieces of about WINDOW characters; joined, the page."""
    windows = [""]
    for block in _BLOCK_END.split(page):
        if windows[-1] and len(windows[-1]) + len(block) > WINDOW:
            windows.append("")
        windows[-1] += block
    return [w[i : i + 2 * WINDOW] for w in windows for i in range(0, len(w), 2 * WINDOW)]


def rank(question: str, windows: Sequence[str]) -> list[int]:
    """Window indexes, most relevant to the question first: BM25 over character bigrams, which suit Korean."""
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
