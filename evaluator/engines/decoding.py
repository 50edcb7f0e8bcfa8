"""How answers are decoded: plain greedy whatever a repository asks for, to the budgets of reasoning and of answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from transformers import GenerationConfig, StoppingCriteria

from evaluator.core.data_types import RequestedDecoding
from evaluator.engines.generation_config import TOKEN_IDS
from submissions.hub_models.reasoning import THINK, Tags, reopens

MAX_SECONDS = 1800.0  # for one batch: an answer that is not through by then is cut off
# Of a generation config: what changes no answer, or how many of them there are.
NO_PENALTIES = {
    *("max_length", "num_return_sequences", "return_dict_in_generate", "prompt_lookup_num_tokens", "cache_config"),
    *("max_matching_ngram_size", "assistant_early_exit", "output_scores", "output_logits", "output_attentions"),
    *("output_hidden_states", "cache_implementation", "prefill_chunk_size", "_from_model_config"),
}
BEGINNING = 12  # new tokens within which an answer shows whether it begins with reasoning


def plain_config(settings: Mapping[str, Any]) -> Any:
    """A generation config with a repository's token ids, and nothing else of it."""
    ids: dict[str, Any] = {name: settings.get(name) for name in TOKEN_IDS if _is_id(settings.get(name))}
    return GenerationConfig(**ids | {"eos_token_id": token_ids(settings.get("eos_token_id")) or None})


def greedy(own: Any, decoding: RequestedDecoding, stops: Iterable[int], pad: int, max_new_tokens: int) -> Any:
    """The generation config to decode by. Under "repository" the model's own penalties stay, as with
    `generate(do_sample=False)`; sampling goes in either case."""
    if decoding == "repository":
        kept = own.to_diff_dict().items()
        settings = {name: value for name, value in kept if name not in NO_PENALTIES}
    else:
        settings = {name: getattr(own, name, None) for name in ("bos_token_id", "decoder_start_token_id")}
    settings |= {"do_sample": False, "max_new_tokens": max_new_tokens, "max_time": MAX_SECONDS}
    return GenerationConfig(**{**settings, "eos_token_id": sorted(stops) or None, "pad_token_id": pad})


def token_ids(value: Any) -> list[int]:
    """Token ids as configs have them: one, several, or none."""
    values = value if isinstance(value, list) else [value]
    return [v for v in values if _is_id(v)]


class Budgets(StoppingCriteria):  # type: ignore[misc]
    """Ends each answer at its budget: `reasoning` new tokens until the closing tag, and `answer` behind it.

    An answer that does not begin to reason has the answer's budget alone. `ended` has the number of new tokens at
    which each row was cut off.
    """

    def __init__(
        self, tokenizer: Any, tags: Tags | None, opened: Sequence[bool], start: int, answer: int, reasoning: int
    ) -> None:
        """`opened`: whether each prompt ends within the reasoning already; `start`: tokens of the padded prompt."""
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
            self._follow(row, new, input_ids)
            spent = new >= self._reasoning if self._inside[row] else new - self._answer_at[row] >= self._answer
            if spent:
                self.ended[row] = new
        return torch.tensor([end is not None for end in self.ended], device=input_ids.device)

    def _follow(self, row: int, new: int, input_ids: Any) -> None:
        """Notice where a row begins to reason, and where it has done."""
        if self._inside[row]:
            if self._tags.closing in self._text(input_ids[row, -min(new, self._tail) :]):
                self._inside[row], self._answer_at[row] = False, new
        elif self._answer_at[row]:
            self._inside[row] = reopens(
                self._text(input_ids[row, self._start + self._answer_at[row] :][-self._tail :]), self._tags
            )
        elif new <= BEGINNING:
            said = self._text(input_ids[row, -new:]).lstrip()
            self._inside[row] = said.startswith(self._tags.opening.strip()) and self._tags.closing not in said

    def _text(self, tokens: Any) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=False))


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
