"""Extractive question answering: an encoder reads the page in sliding windows and predicts the span of the answer.

A page is tokenised once for all consecutive questions on it. The windows of several questions are batched together,
sorted by length.
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

OVERLAP_TOKENS = 128  # shared by neighbouring windows
SPAN_CANDIDATES = 20  # best starts and best ends of each window that are combined to spans
MIN_PAGE_TOKENS = 8  # that must fit into a window
QUESTIONS_PER_GROUP = 16  # whose windows are batched together

Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class Page:
    """A tokenised page."""

    text: str
    tokens: Tokens
    offsets: Tokens  # (tokens, 2): start and end of each token in the text


@dataclass(frozen=True)
class Window:
    """One row of model input: a question with a part of a page."""

    question: int  # index in its group
    tokens: Tokens
    type_ids: Tokens
    page_start: int  # index of the first token on the page
    prefix_length: int  # tokens in front of the page tokens
    page_tokens: int  # number of page tokens


@dataclass(frozen=True)
class Frame:
    """The special tokens that a tokenizer adds around a pair of texts. Each part is (token ids, type ids)."""

    head: tuple[list[int], list[int]]
    middle: tuple[list[int], list[int]]
    tail: tuple[list[int], list[int]]
    text_type_ids: tuple[int, int]  # type ids of the two texts

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
        self._tokenizer.model_max_length = int(1e9)  # no warning about long pages, which are cut into windows here
        self._frame = _frame(self._tokenizer)
        if self._length < 2 * self._frame.size + MIN_PAGE_TOKENS:
            raise EvaluationError(
                FailureCode.UNSUPPORTED_ARCHITECTURE, f"the model takes only {self._length} tokens at once"
            )
        self._takes_type_ids = self._supports_type_ids()
        self._can_pad = self._padding_is_harmless()
        self.batch_size = options.batch_size or (64 if self._device == "cuda" else 16)

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        remaining = iter(prompts)
        page: Page | None = None
        while group := list(islice(remaining, QUESTIONS_PER_GROUP)):
            started = time.perf_counter()
            pages: list[Page] = []
            for prompt in group:
                if page is None or page.text != prompt.page:
                    page = self._read(prompt.page or "")
                pages.append(page)
            windows = [w for n, p in enumerate(group) for w in self._windows(n, p.question, pages[n])]
            spans = self._best_spans(windows, len(group))
            seconds = (time.perf_counter() - started) / len(group)
            for number, (prompt, read, span) in enumerate(zip(group, pages, spans, strict=True)):
                text = read.text[read.offsets[span[0], 0] : read.offsets[span[1], 1]] if span else ""
                count = sum(w.question == number for w in windows)
                yield Answer(prompt.id, text, "ok" if text.strip() else "empty", seconds, count)

    def close(self) -> None:
        """Do nothing: the engine starts nothing outside this process."""

    def _read(self, text: str) -> Page:
        # Without special tokens, some tokenizers include spaces in the offsets. They are added here and dropped again.
        encoded = self._tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
        is_text = np.array(encoded["special_tokens_mask"]) == 0
        offsets = np.array(encoded["offset_mapping"], np.int64).reshape(-1, 2)
        return Page(text, np.array(encoded["input_ids"], np.int64)[is_text], offsets[is_text])

    def _windows(self, number: int, question: str, page: Page) -> Iterator[Window]:
        """Yield overlapping windows of the page, each preceded by the question, which is cut to half a window."""
        frame = self._frame
        question_ids = self._tokenizer(question, add_special_tokens=False)["input_ids"][: self._length // 2]
        prefix = [*frame.head[0], *question_ids, *frame.middle[0]]
        type_ids = [*frame.head[1], *([frame.text_type_ids[0]] * len(question_ids)), *frame.middle[1]]
        room = self._length - len(question_ids) - frame.size
        step = room - min(OVERLAP_TOKENS, room // 2)
        for start in range(0, len(page.tokens), step):
            part = page.tokens[start : start + room]
            yield Window(
                number,
                np.concatenate([prefix, part, frame.tail[0]]).astype(np.int64),
                np.concatenate([type_ids, np.full(len(part), frame.text_type_ids[1]), frame.tail[1]]).astype(np.int64),
                start,
                len(prefix),
                len(part),
            )
            if start + room >= len(page.tokens):
                return

    def _best_spans(self, windows: Sequence[Window], questions: int) -> list[tuple[int, int] | None]:
        """Return the best span of each question over all its windows, as indexes of its first and last page token.

        Of spans with equal scores, the one in the earliest window wins. The span is None if the page has no tokens.
        """
        best: list[tuple[float, int, int, int]] = [(float("-inf"), 0, 0, 0)] * questions
        ordered = sorted(windows, key=lambda w: -len(w.tokens))
        while ordered:
            batchable = ordered if self._can_pad else [w for w in ordered if len(w.tokens) == len(ordered[0].tokens)]
            batch = batchable[: self.batch_size]
            ordered = ordered[len(batch) :]
            for part, spans in split_batch_on_oom(batch, partial(_spans, self._model, self._padded)):
                for window, (score, start, end) in zip(part, spans, strict=True):
                    first, last = (window.page_start + index - window.prefix_length for index in (start, end))
                    key = (score, -window.page_start, first, last)
                    best[window.question] = max(best[window.question], key, key=lambda k: k[:2])
        return [None if score == float("-inf") else (first, last) for score, _, first, last in best]

    def _supports_type_ids(self) -> bool:
        """Return whether the tokenizer's token type ids can be passed to this model.

        A RoBERTa may come with BERT's tokenizer, whose type ids it does not support. By default transformers 5 does not
        return the type ids that ALBERT was trained with.
        """
        input_names = self._tokenizer.init_kwargs.get("model_input_names") or ["token_type_ids"]
        if "token_type_ids" not in {*input_names} & {*inspect.signature(self._model.forward).parameters}:
            return False
        highest = max(*self._frame.text_type_ids, *(n for _, type_ids in self._frame.parts for n in type_ids))
        tables = [m for name, m in self._model.named_modules() if name.endswith("token_type_embeddings")]
        return all(getattr(table, "num_embeddings", highest + 1) > highest for table in tables)

    def _padding_is_harmless(self) -> bool:
        """Return whether a short window gets the same scores alone and padded next to a long one.

        Some kinds of attention depend on the length of the padded input.
        """
        short, long = (
            next(self._windows(0, "?", Page("", ids, ids))) for ids in (self._probe(20), self._probe(self._length))
        )
        if hasattr(self._model.base_model, "set_attention_type"):
            return False
        length = len(short.tokens)
        scores = []
        for windows in ([long, short], [short]):
            inputs, _ = self._padded(windows)
            scores.append(_output(self._model, inputs).start_logits[-1, :length].float())
        return bool(torch.allclose(*scores, rtol=0.02, atol=0.02 * float(scores[1].abs().max())))

    def _probe(self, count: int) -> Tokens:
        """Return token ids of an artificial page with this many tokens."""
        pattern = np.array(self._tokenizer("가 나 다 라 마 a b c d", add_special_tokens=False)["input_ids"], np.int64)
        return np.resize(pattern, count)

    def _padded(self, windows: Sequence[Window]) -> tuple[dict[str, Any], Any]:
        """Return the model's inputs and the mask of page tokens, each of shape (windows, tokens)."""
        width = max(len(w.tokens) for w in windows)
        tokens = np.full((len(windows), width), self._tokenizer.pad_token_id or 0, np.int64)
        type_ids = np.zeros_like(tokens)
        attention = np.zeros_like(tokens)
        on_page = np.zeros_like(tokens, bool)
        for row, window in enumerate(windows):
            length = len(window.tokens)
            tokens[row, :length] = window.tokens
            type_ids[row, :length] = window.type_ids
            attention[row, :length] = 1
            on_page[row, window.prefix_length : window.prefix_length + window.page_tokens] = True
        check_token_ids(int(tokens.max()), self._model)
        inputs = {"input_ids": tokens, "attention_mask": attention}
        if self._takes_type_ids:
            inputs["token_type_ids"] = type_ids
        on_device = {name: torch.from_numpy(value).to(self._device) for name, value in inputs.items()}
        return on_device, torch.from_numpy(on_page).to(self._device)


def _spans(model: Any, padded: Any, windows: Sequence[Window]) -> list[tuple[float, int, int]]:
    """Return score, start and end of each window's best span. Start and end are token indexes in the window.

    The length of a span is not limited.
    """
    inputs, on_page = padded(windows)
    output = _output(model, inputs)
    k = min(SPAN_CANDIDATES, on_page.shape[1])
    start_scores, start_at = output.start_logits.float().masked_fill(~on_page, -torch.inf).topk(k)
    end_scores, end_at = output.end_logits.float().masked_fill(~on_page, -torch.inf).topk(k)
    pairs = start_scores[:, :, None] + end_scores[:, None, :]
    pairs = pairs.masked_fill(start_at[:, :, None] > end_at[:, None, :], -torch.inf).flatten(1)
    scores, places = pairs.max(dim=1)
    starts = start_at.gather(1, (places // k)[:, None])[:, 0]
    ends = end_at.gather(1, (places % k)[:, None])[:, 0]
    return list(zip(scores.tolist(), starts.tolist(), ends.tolist(), strict=True))


def _output(model: Any, inputs: dict[str, Any]) -> Any:
    # Block-sparse models switch to full attention at a short input, and would keep it for all later inputs.
    choose = getattr(model.base_model, "set_attention_type", None)
    if choose:
        choose(model.config.attention_type)
    with torch.inference_mode():
        output = model(**inputs)
    check_no_nan(output.start_logits)
    return output


def _frame(tokenizer: Any) -> Frame:
    """Find the special tokens of a tokenizer by encoding a pair of short texts."""
    encoded = tokenizer("a", "b", return_token_type_ids=True)
    ids = encoded["input_ids"]
    types = encoded["token_type_ids"]
    texts = encoded.sequence_ids(0)
    first = [place for place, text in enumerate(texts) if text == 0]
    second = [place for place, text in enumerate(texts) if text == 1]
    ranges = [(0, first[0]), (first[-1] + 1, second[0]), (second[-1] + 1, len(ids))]
    head, middle, tail = ((ids[start:end], types[start:end]) for start, end in ranges)
    return Frame(head, middle, tail, (types[first[0]], types[second[0]]))


def _window_length(model: Any, tokenizer: Any) -> int:
    """Return how many tokens the encoder takes at once, by its tokenizer, config and position embeddings."""
    positions = getattr(model.config, "max_position_embeddings", None) or 0  # -1: no limit
    limit = min(tokenizer.model_max_length, positions if positions > 0 else 512)
    for name, module in model.named_modules():
        # RoBERTa-like position embeddings reserve their first rows for padding.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            limit = min(limit, module.weight.shape[0] - module.padding_idx - 1)
    return int(limit)
