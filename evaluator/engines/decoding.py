"""Greedy decoding that ignores the repository's sampling settings, with token budgets for reasoning and answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from transformers import GenerationConfig, StoppingCriteria

from evaluator.core.data_types import RequestedDecoding
from evaluator.engines.generation_config import TOKEN_IDS
from submissions.hub_models.reasoning import THINK, Tags, reopens

MAX_SECONDS = 1800.0  # for one batch; answers that are not finished by then are cut off
# Settings of a generation config that do not change an answer, or that set the number of answers. Decoding "repository"
# keeps all others.
IGNORED_SETTINGS = {
    "max_length",
    "num_return_sequences",
    "return_dict_in_generate",
    "prompt_lookup_num_tokens",
    "cache_config",
    "max_matching_ngram_size",
    "assistant_early_exit",
    "output_scores",
    "output_logits",
    "output_attentions",
    "output_hidden_states",
    "cache_implementation",
    "prefill_chunk_size",
    "_from_model_config",
}
OPENING_TAG_TOKENS = 12  # new tokens within which the opening tag must appear if an answer starts with reasoning


def plain_config(settings: Mapping[str, Any]) -> Any:
    """Return a generation config that has the repository's token ids and no other of its settings."""
    ids: dict[str, Any] = {name: settings.get(name) for name in TOKEN_IDS if _is_id(settings.get(name))}
    return GenerationConfig(**ids | {"eos_token_id": token_ids(settings.get("eos_token_id")) or None})


def greedy_config(
    model_config: Any, decoding: RequestedDecoding, stops: Iterable[int], pad: int, max_new_tokens: int
) -> Any:
    """Return the generation config to decode with, from the model's own. Sampling is always off.

    Decoding "repository" keeps the model's penalties, as `generate(do_sample=False)` would.
    """
    if decoding == "repository":
        changed = model_config.to_diff_dict().items()
        settings = {name: value for name, value in changed if name not in IGNORED_SETTINGS}
    else:
        settings = {name: getattr(model_config, name, None) for name in ("bos_token_id", "decoder_start_token_id")}
    settings |= {"do_sample": False, "max_new_tokens": max_new_tokens, "max_time": MAX_SECONDS}
    return GenerationConfig(**{**settings, "eos_token_id": sorted(stops) or None, "pad_token_id": pad})


def token_ids(value: Any) -> list[int]:
    """Return the token ids in a config value, which may be one id, a list of ids or None."""
    values = value if isinstance(value, list) else [value]
    return [v for v in values if _is_id(v)]


class Budgets(StoppingCriteria):  # type: ignore[misc]
    """Stop each row at its budget: `reasoning` new tokens up to the closing tag, then `answer` tokens after it.

    A row that does not start with reasoning has the answer budget only. `ended` has the number of new tokens at which
    each row was cut off, or None.
    """

    def __init__(
        self, tokenizer: Any, tags: Tags | None, opened: Sequence[bool], start: int, answer: int, reasoning: int
    ) -> None:
        """Create the criterion for one batch.

        `opened` has for each row whether its prompt already ends inside the reasoning; `start` is the number of tokens
        of the padded prompts.
        """
        self._tokenizer = tokenizer
        self._tags = tags or THINK
        self._start, self._answer, self._reasoning = start, answer, reasoning
        self._inside = list(opened)
        self._answer_at = [0] * len(opened)
        self._tail = 4 + 2 * len(tokenizer(self._tags.closing, add_special_tokens=False)["input_ids"])
        self.ended: list[int | None] = [None] * len(opened)

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        new = input_ids.shape[1] - self._start
        for row in range(len(self.ended)):
            if self.ended[row] is not None:
                continue
            self._track_reasoning(row, new, input_ids)
            spent = new >= self._reasoning if self._inside[row] else new - self._answer_at[row] >= self._answer
            if spent:
                self.ended[row] = new
        return torch.tensor([end is not None for end in self.ended], device=input_ids.device)

    def _track_reasoning(self, row: int, new: int, input_ids: Any) -> None:
        """Update whether a row is inside its reasoning, and where its answer starts."""
        if self._inside[row]:
            if self._tags.closing in self._text(input_ids[row, -min(new, self._tail) :]):
                self._inside[row], self._answer_at[row] = False, new
        elif self._answer_at[row]:
            self._inside[row] = reopens(
                self._text(input_ids[row, self._start + self._answer_at[row] :][-self._tail :]), self._tags
            )
        elif new <= OPENING_TAG_TOKENS:
            text = self._text(input_ids[row, -new:]).lstrip()
            self._inside[row] = text.startswith(self._tags.opening.strip()) and self._tags.closing not in text

    def _text(self, tokens: Any) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=False))


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
