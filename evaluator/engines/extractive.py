"""Extractive question answering: an encoder reads the page in sliding windows and predicts the span of the answer.

For models such as KoELECTRA with AutoModelForQuestionAnswering, trained as in SQuAD. A window is a row of model input:

    [CLS] question [SEP] some tokens of the page [SEP]

The model gives each token a score as the start and as the end of the answer. The answer is the text of the span whose
start and end have the highest sum of scores over all windows of the page.

A page is tokenised once for all consecutive questions on it. The windows of several questions are batched together,
sorted by length.
"""

import inspect
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

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
MIN_PAGE_TOKENS = 4  # that must fit into a window beside the longest question
QUESTIONS_PER_GROUP = 16  # whose windows are batched together
BATCH_SIZE = {"cuda": 64, "cpu": 16}  # windows
DEFAULT_POSITIONS = 512  # tokens that a model takes at once if its config states no limit; the limit of BERT
# Largest difference of scores with and without padding, as a share of the highest score, that counts as rounding.
PADDING_TOLERANCE = 0.02

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
    page_start: int  # index of the window's first page token on the page
    prefix_length: int  # tokens in front of the page tokens
    page_tokens: int  # number of page tokens


class SpecialTokens(NamedTuple):
    """Some special tokens that follow each other."""

    ids: list[int]
    type_ids: list[int]


@dataclass(frozen=True)
class Frame:
    """The special tokens that a tokenizer adds around a pair of texts: head, first text, middle, second text, tail."""

    head: SpecialTokens
    middle: SpecialTokens
    tail: SpecialTokens
    text_type_ids: tuple[int, int]  # type ids of the two texts

    @property
    def parts(self) -> tuple[SpecialTokens, ...]:
        return self.head, self.middle, self.tail

    @property
    def size(self) -> int:
        """The number of special tokens."""
        return sum(len(part.ids) for part in self.parts)


class Span(NamedTuple):
    """A possible answer: from the token with index `start` to the one with index `end`, both included."""

    score: float  # of the start plus of the end
    start: int
    end: int


NO_SPAN = Span(float("-inf"), 0, 0)


class ExtractiveEngine:
    """Runs a question-answering encoder in this process."""

    environment = staticmethod(torch_environment)

    def __init__(self, options: EngineOptions) -> None:
        """Load the model and its tokenizer. Raises EvaluationError if they cannot be loaded or answer no questions."""
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
        # The longest question takes half a window, see `_windows`.
        if self._length // 2 - self._frame.size < MIN_PAGE_TOKENS:
            raise EvaluationError(
                FailureCode.UNSUPPORTED_ARCHITECTURE, f"the model takes only {self._length} tokens at once"
            )
        self._takes_type_ids = self._supports_type_ids()
        self._can_pad = self._padding_is_harmless()
        self.batch_size = options.batch_size or BATCH_SIZE[self._device]

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
            for number, (prompt, own_page, span) in enumerate(zip(group, pages, spans, strict=True)):
                text = ""
                if span:
                    text = own_page.text[own_page.offsets[span.start, 0] : own_page.offsets[span.end, 1]]
                count = sum(w.question == number for w in windows)
                yield Answer(prompt.id, text, "ok" if text.strip() else "empty", seconds, windows=count)

    def close(self) -> None:
        """Do nothing: the engine starts nothing outside this process."""

    def _read(self, text: str) -> Page:
        """Tokenise a page, without special tokens."""
        # Special tokens are added and dropped again, because some tokenizers include spaces in the offsets without them.
        encoded = self._tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
        is_text = np.array(encoded["special_tokens_mask"]) == 0
        offsets = np.array(encoded["offset_mapping"], np.int64).reshape(-1, 2)
        return Page(text, np.array(encoded["input_ids"], np.int64)[is_text], offsets[is_text])

    def _windows(self, number: int, question: str, page: Page) -> Iterator[Window]:
        """Yield overlapping windows of the page, each preceded by the question, which is cut to half a window.

        `number` is the index of the question in its group.
        """
        frame = self._frame
        question_type, page_type = frame.text_type_ids
        question_ids = self._tokenizer(question, add_special_tokens=False)["input_ids"][: self._length // 2]
        prefix = [*frame.head.ids, *question_ids, *frame.middle.ids]
        prefix_types = [*frame.head.type_ids, *([question_type] * len(question_ids)), *frame.middle.type_ids]
        room = self._length - len(question_ids) - frame.size  # for tokens of the page
        step = room - min(OVERLAP_TOKENS, room // 2)
        for start in range(0, len(page.tokens), step):
            part = page.tokens[start : start + room]
            part_types = np.full(len(part), page_type)
            yield Window(
                question=number,
                tokens=np.concatenate([prefix, part, frame.tail.ids]).astype(np.int64),
                type_ids=np.concatenate([prefix_types, part_types, frame.tail.type_ids]).astype(np.int64),
                page_start=start,
                prefix_length=len(prefix),
                page_tokens=len(part),
            )
            if start + room >= len(page.tokens):
                return

    def _best_spans(self, windows: Sequence[Window], questions: int) -> list[Span | None]:
        """Return the best span of each question over all its windows, as indexes of tokens of the page.

        Of spans with equal scores, the one in the earliest window wins. The span is None if the page has no tokens, or if no
        window has one of its best starts before one of its best ends.
        """
        # For each question its best span so far, and where the span's window starts on the page.
        best: list[tuple[Span, int]] = [(NO_SPAN, 0)] * questions
        ordered = sorted(windows, key=lambda w: -len(w.tokens))
        while ordered:
            batchable = ordered if self._can_pad else [w for w in ordered if len(w.tokens) == len(ordered[0].tokens)]
            batch = batchable[: self.batch_size]
            ordered = ordered[len(batch) :]
            for part, spans in split_batch_on_oom(batch, self._window_spans):
                for window, span in zip(part, spans, strict=True):
                    best_span, best_start = best[window.question]
                    # Windows come longest first. Of equal scores, the one earlier on the page must win.
                    if (span.score, -window.page_start) > (best_span.score, -best_start):
                        shift = window.page_start - window.prefix_length
                        page_span = Span(span.score, span.start + shift, span.end + shift)
                        best[window.question] = (page_span, window.page_start)
        return [None if span.score == NO_SPAN.score else span for span, _ in best]

    def _window_spans(self, windows: Sequence[Window]) -> list[Span]:
        """Return the best span of each window, as indexes of tokens of the window, however long."""
        inputs, on_page = self._padded(windows)
        output = _output(self._model, inputs)
        k = min(SPAN_CANDIDATES, on_page.shape[1])
        # The best k starts and ends of each window: scores and token indexes, each of shape (windows, k).
        start_scores, start_at = output.start_logits.float().masked_fill(~on_page, -torch.inf).topk(k)
        end_scores, end_at = output.end_logits.float().masked_fill(~on_page, -torch.inf).topk(k)
        # All pairs of them, of shape (windows, k * k). A pair whose end is before its start is not a span.
        pairs = start_scores[:, :, None] + end_scores[:, None, :]
        pairs = pairs.masked_fill(start_at[:, :, None] > end_at[:, None, :], -torch.inf).flatten(1)
        scores, places = pairs.max(dim=1)
        starts = start_at.gather(1, (places // k)[:, None])[:, 0]
        ends = end_at.gather(1, (places % k)[:, None])[:, 0]
        return list(map(Span, scores.tolist(), starts.tolist(), ends.tolist()))

    def _supports_type_ids(self) -> bool:
        """Return whether the tokenizer's token type ids can be passed to this model.

        The model must have an embedding for each of them. A RoBERTa with BERT's tokenizer often has one only, for 0.
        """
        # The tokenizer's file may list the model's inputs. Without a list, type ids are assumed. The list of the
        # tokenizer's class is not used, because that of ALBERT lacks type ids although the model was trained with them.
        input_names = self._tokenizer.init_kwargs.get("model_input_names") or ["token_type_ids"]
        parameters = inspect.signature(self._model.forward).parameters
        if "token_type_ids" not in input_names or "token_type_ids" not in parameters:
            return False
        highest = max(*self._frame.text_type_ids, *(n for part in self._frame.parts for n in part.type_ids))
        tables = [m for name, m in self._model.named_modules() if name.endswith("token_type_embeddings")]
        return all(getattr(table, "num_embeddings", highest + 1) > highest for table in tables)

    def _padding_is_harmless(self) -> bool:
        """Return whether a short window gets the same scores alone and padded next to a long one.

        Some kinds of attention depend on the length of the padded input.
        """
        if hasattr(self._model.base_model, "set_attention_type"):
            return False
        short = self._probe(20)
        long = self._probe(self._length)
        length = len(short.tokens)
        scores = []
        for windows in ([long, short], [short]):
            inputs, _ = self._padded(windows)
            scores.append(_output(self._model, inputs).start_logits[-1, :length].float())
        padded, alone = scores
        tolerance = PADDING_TOLERANCE * float(alone.abs().max())
        return bool(torch.allclose(padded, alone, rtol=PADDING_TOLERANCE, atol=tolerance))

    def _probe(self, count: int) -> Window:
        """Return the first window of an artificial page with this many tokens."""
        pattern = np.array(self._tokenizer("가 나 다 라 마 a b c d", add_special_tokens=False)["input_ids"], np.int64)
        tokens = np.resize(pattern, count)
        return next(self._windows(0, "?", Page("", tokens, offsets=tokens)))

    def _padded(self, windows: Sequence[Window]) -> tuple[dict[str, Any], Any]:
        """Return the model's inputs and the mask of page tokens, each of shape (windows, tokens), on the device."""
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


def _output(model: Any, inputs: dict[str, Any]) -> Any:
    """Run the model. Raises EvaluationError if its scores contain NaN."""
    # Block-sparse models switch to full attention at a short input, and would keep it for all later inputs.
    set_attention_type = getattr(model.base_model, "set_attention_type", None)
    if set_attention_type:
        set_attention_type(model.config.attention_type)
    with torch.inference_mode():
        output = model(**inputs)
    check_no_nan(output.start_logits)
    return output


def _frame(tokenizer: Any) -> Frame:
    """Find the special tokens of a tokenizer by encoding a pair of short texts."""
    encoded = tokenizer("a", "b", return_token_type_ids=True)
    ids = encoded["input_ids"]
    types = encoded["token_type_ids"]
    text_numbers = encoded.sequence_ids(0)  # of each token: 0, 1, or None for a special token
    first = [index for index, number in enumerate(text_numbers) if number == 0]
    second = [index for index, number in enumerate(text_numbers) if number == 1]
    ranges = [(0, first[0]), (first[-1] + 1, second[0]), (second[-1] + 1, len(ids))]
    head, middle, tail = (SpecialTokens(ids[start:end], types[start:end]) for start, end in ranges)
    return Frame(head, middle, tail, text_type_ids=(types[first[0]], types[second[0]]))


def _window_length(model: Any, tokenizer: Any) -> int:
    """Return how many tokens the encoder takes at once, by its tokenizer, config and position embeddings."""
    positions = getattr(model.config, "max_position_embeddings", None) or 0  # XLNet has -1: no limit
    limit = min(tokenizer.model_max_length, positions if positions > 0 else DEFAULT_POSITIONS)
    for name, module in model.named_modules():
        # RoBERTa-like position embeddings reserve their first rows for padding.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            limit = min(limit, module.weight.shape[0] - module.padding_idx - 1)
    return int(limit)
