"""Extractive question answering: an encoder reads the page in sliding windows and points at the answer.

A page is tokenised once for all questions that follow each other on it. The windows of several questions go through
the model together, those of like length in one batch.
"""

import inspect
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForQuestionAnswering, AutoTokenizer
from transformers.models.auto.modeling_auto import MODEL_FOR_QUESTION_ANSWERING_MAPPING

from evaluator.core.data_types import Answer, Prompt
from evaluator.core.errors import EvaluationError
from evaluator.engines.base import split_batch_on_oom
from evaluator.engines.hardware import best_device, torch_environment
from evaluator.engines.loading import check_no_nan, check_token_ids, from_pretrained, load_config
from evaluator.engines.options import EngineOptions
from submissions.texts.failure_codes import FailureCode

OVERLAP = 128  # tokens two neighbouring windows share
CANDIDATES = 20  # best starts and ends of each window that are paired
MIN_ROOM = 8  # tokens of a page that a window must hold
GROUP = 16  # questions whose windows are mixed

Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class Page:
    text: str
    tokens: Tokens
    offsets: Tokens  # (tokens, 2): where each begins and ends in the text


@dataclass(frozen=True)
class Window:
    """One row for the model: a question with a piece of a page."""

    question: int  # place in its group
    tokens: Tokens
    types: Tokens
    first: int  # of its tokens on the page, there
    before: int  # tokens before them here
    count: int  # of tokens on the page


@dataclass(frozen=True)
class Frame:
    """What a tokenizer puts around two texts, and their type ids. Each part is (token ids, type ids)."""

    head: tuple[list[int], list[int]]
    middle: tuple[list[int], list[int]]
    tail: tuple[list[int], list[int]]
    types: tuple[int, int]  # of the two texts

    @property
    def parts(self) -> tuple[tuple[list[int], list[int]], ...]:
        return self.head, self.middle, self.tail

    @property
    def size(self) -> int:
        return sum(len(ids) for ids, _ in self.parts)


class ExtractiveEngine:
    environment = staticmethod(torch_environment)

    def __init__(self, options: EngineOptions) -> None:
        config = load_config(options)
        if type(config) not in MODEL_FOR_QUESTION_ANSWERING_MAPPING:
            raise EvaluationError(
                FailureCode.UNSUPPORTED_ARCHITECTURE, f"{config.model_type} has no question-answering head"
            )
        self._tokenizer = AutoTokenizer.from_pretrained(options.model, trust_remote_code=False, local_files_only=True)
        if not self._tokenizer.is_fast:
            raise EvaluationError(FailureCode.UNSUPPORTED_ARCHITECTURE, "no fast tokenizer, so no character offsets")
        self._model = from_pretrained(AutoModelForQuestionAnswering, options)
        self.params = self._model.num_parameters()
        self._device = best_device()
        self._length = _window_length(self._model, self._tokenizer)
        self._tokenizer.model_max_length = int(1e9)  # windows are cut here: no warning about long pages
        self._frame = _frame(self._tokenizer)
        if self._length < 2 * self._frame.size + MIN_ROOM:
            raise EvaluationError(
                FailureCode.UNSUPPORTED_ARCHITECTURE, f"the model takes {self._length} tokens at once"
            )
        self._takes_types = self._knows_types()
        self._pads = self._padding_is_harmless()
        self.batch_size = options.batch_size or (64 if self._device == "cuda" else 16)

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        remaining = iter(prompts)
        page: Page | None = None
        while group := list(islice(remaining, GROUP)):
            started = time.perf_counter()
            pages: list[Page] = []
            for prompt in group:
                if page is None or page.text != prompt.page:
                    page = self._read(prompt.page or "")
                pages.append(page)
            windows = [w for n, p in enumerate(group) for w in self._windows(n, p.question, pages[n])]
            spans = self._best_spans(windows, len(group))
            seconds = (time.perf_counter() - started) / len(group)
            for number, (prompt, own, span) in enumerate(zip(group, pages, spans, strict=True)):
                text = own.text[own.offsets[span[0], 0] : own.offsets[span[1], 1]] if span else ""
                count = sum(w.question == number for w in windows)
                yield Answer(prompt.id, text, "ok" if text.strip() else "empty", seconds, count)

    def close(self) -> None:
        """Nothing outlives the process."""

    def _read(self, text: str) -> Page:
        # With special tokens, which are dropped again: without, some tokenizers leave spaces in the offsets.
        encoded = self._tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
        own = np.array(encoded["special_tokens_mask"]) == 0
        offsets = np.array(encoded["offset_mapping"], np.int64).reshape(-1, 2)
        return Page(text, np.array(encoded["input_ids"], np.int64)[own], offsets[own])

    def _windows(self, number: int, question: str, page: Page) -> Iterator[Window]:
        """The page in pieces that overlap, each behind the question; a long question is cut to half a window."""
        frame = self._frame
        asked = self._tokenizer(question, add_special_tokens=False)["input_ids"][: self._length // 2]
        before = [*frame.head[0], *asked, *frame.middle[0]]
        types = [*frame.head[1], *([frame.types[0]] * len(asked)), *frame.middle[1]]
        room = self._length - len(asked) - frame.size
        step = room - min(OVERLAP, room // 2)
        for first in range(0, len(page.tokens), step):
            piece = page.tokens[first : first + room]
            yield Window(
                number,
                np.concatenate([before, piece, frame.tail[0]]).astype(np.int64),
                np.concatenate([types, np.full(len(piece), frame.types[1]), frame.tail[1]]).astype(np.int64),
                first,
                len(before),
                len(piece),
            )
            if first + room >= len(page.tokens):
                return

    def _best_spans(self, windows: Sequence[Window], questions: int) -> list[tuple[int, int] | None]:
        """The best range of page tokens of each question over all its windows, the earliest of equals."""
        best: list[tuple[float, int, int, int]] = [(float("-inf"), 0, 0, 0)] * questions
        ordered = sorted(windows, key=lambda w: -len(w.tokens))
        while ordered:
            alike = ordered if self._pads else [w for w in ordered if len(w.tokens) == len(ordered[0].tokens)]
            batch = alike[: self.batch_size]
            ordered = ordered[len(batch) :]
            for part, spans in split_batch_on_oom(batch, partial(_spans, self._model, self._padded)):
                for window, (score, start, end) in zip(part, spans, strict=True):
                    begin, close = (window.first + place - window.before for place in (start, end))
                    key = (score, -window.first, begin, close)
                    best[window.question] = max(best[window.question], key, key=lambda k: k[:2])
        return [None if score == float("-inf") else (begin, close) for score, _, begin, close in best]

    def _knows_types(self) -> bool:
        """Whether the type ids that the tokenizer can hand out are for this model.

        A RoBERTa may come with BERT's tokenizer, and transformers 5 withholds the type ids that ALBERT was trained with.
        """
        stated = self._tokenizer.init_kwargs.get("model_input_names") or ["token_type_ids"]
        if "token_type_ids" not in {*stated} & {*inspect.signature(self._model.forward).parameters}:
            return False
        highest = max(*self._frame.types, *(n for _, types in self._frame.parts for n in types))
        tables = [m for name, m in self._model.named_modules() if name.endswith("token_type_embeddings")]
        return all(getattr(table, "num_embeddings", highest + 1) > highest for table in tables)

    def _padding_is_harmless(self) -> bool:
        """Whether a short window is read alike beside a long one and alone. Some attention heeds the length of its input."""
        short, long = (
            next(self._windows(0, "?", Page("", ids, ids))) for ids in (self._probe(20), self._probe(self._length))
        )
        if hasattr(self._model.base_model, "set_attention_type"):
            return False
        last = len(short.tokens)
        scores = []
        for windows in ([long, short], [short]):
            inputs, _ = self._padded(windows)
            scores.append(_output(self._model, inputs).start_logits[-1, :last].float())
        return bool(torch.allclose(*scores, rtol=0.02, atol=0.02 * float(scores[1].abs().max())))

    def _probe(self, count: int) -> Tokens:
        """Some page of this many tokens."""
        few = np.array(self._tokenizer("가 나 다 라 마 a b c d", add_special_tokens=False)["input_ids"], np.int64)
        return np.resize(few, count)

    def _padded(self, windows: Sequence[Window]) -> tuple[dict[str, Any], Any]:
        """Model inputs and the mask of what lies on the page, each (windows, tokens)."""
        width = max(len(w.tokens) for w in windows)
        tokens = np.full((len(windows), width), self._tokenizer.pad_token_id or 0, np.int64)
        types, attended = np.zeros_like(tokens), np.zeros_like(tokens)
        on_page = np.zeros_like(tokens, bool)
        for row, window in enumerate(windows):
            length = len(window.tokens)
            tokens[row, :length], types[row, :length], attended[row, :length] = window.tokens, window.types, 1
            on_page[row, window.before : window.before + window.count] = True
        check_token_ids(int(tokens.max()), self._model)
        inputs = {"input_ids": tokens, "attention_mask": attended}
        if self._takes_types:
            inputs["token_type_ids"] = types
        on_device = {name: torch.from_numpy(value).to(self._device) for name, value in inputs.items()}
        return on_device, torch.from_numpy(on_page).to(self._device)


def _spans(model: Any, padded: Any, windows: Sequence[Window]) -> list[tuple[float, int, int]]:
    """Score and token range of each window's best span; of any length, start before end."""
    inputs, on_page = padded(windows)
    output = _output(model, inputs)
    k = min(CANDIDATES, on_page.shape[1])
    start_scores, start_at = output.start_logits.float().masked_fill(~on_page, -torch.inf).topk(k)
    end_scores, end_at = output.end_logits.float().masked_fill(~on_page, -torch.inf).topk(k)
    pairs = start_scores[:, :, None] + end_scores[:, None, :]
    pairs = pairs.masked_fill(start_at[:, :, None] > end_at[:, None, :], -torch.inf).flatten(1)
    scores, places = pairs.max(dim=1)
    starts = start_at.gather(1, (places // k)[:, None])[:, 0]
    ends = end_at.gather(1, (places % k)[:, None])[:, 0]
    return list(zip(scores.tolist(), starts.tolist(), ends.tolist(), strict=True))


def _output(model: Any, inputs: dict[str, Any]) -> Any:
    # Block-sparse attention gives way to full attention at a short input, and would stay so for all that follow.
    choose = getattr(model.base_model, "set_attention_type", None)
    if choose:
        choose(model.config.attention_type)
    with torch.inference_mode():
        output = model(**inputs)
    check_no_nan(output.start_logits)
    return output


def _frame(tokenizer: Any) -> Frame:
    """Found out by framing two short texts."""
    encoded = tokenizer("a", "b", return_token_type_ids=True)
    ids, types, texts = encoded["input_ids"], encoded["token_type_ids"], encoded.sequence_ids(0)
    first, second = ([n for n, text in enumerate(texts) if text == which] for which in (0, 1))
    parts = [(0, first[0]), (first[-1] + 1, second[0]), (second[-1] + 1, len(ids))]
    head, middle, tail = ((ids[a:b], types[a:b]) for a, b in parts)
    return Frame(head, middle, tail, (types[first[0]], types[second[0]]))


def _window_length(model: Any, tokenizer: Any) -> int:
    """Tokens the encoder takes at once: what its tokenizer says and its position table holds."""
    stated = getattr(model.config, "max_position_embeddings", None) or 0  # -1 for no limit
    limit = min(tokenizer.model_max_length, stated if stated > 0 else 512)
    for name, module in model.named_modules():
        # RoBERTa-like position tables keep their first rows for padding.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            limit = min(limit, module.weight.shape[0] - module.padding_idx - 1)
    return int(limit)
