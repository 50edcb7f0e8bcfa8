"""How answers are decoded: without sampling, and with token budgets for reasoning and answer.

Decoding "greedy" takes only token ids from the repository's generation config. Decoding "repository" also takes its
penalties, beams and other settings. Sampling is off in both.

`chat.py` passes the generation config and the stopping criterion to `generate`. `generation_config.py` has what needs no torch.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import torch
from transformers import GenerationConfig, StoppingCriteria

from evaluator.core.data_types import RequestedDecoding
from evaluator.engines.generation_config import TOKEN_IDS
from submissions.hub_models.reasoning import THINK, Tags, reopens

MAX_SECONDS = 1800.0  # for one batch; answers that are not finished by then are cut off
# Settings of a generation config that do not change an answer, set the number of answers, or are replaced by the budget
# (`max_length`). Decoding "repository" keeps all others.
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
OPENING_TAG_TOKENS = 12  # new tokens within which the opening tag must appear if an output starts with reasoning


def plain_config(settings: Mapping[str, Any]) -> Any:
    """Return a generation config that has the repository's token ids and no other of its settings.

    It replaces the model's own config if the decoding is "greedy". `generate` looks up in the model's own config each setting
    that the config of the call (`decoding_config`) does not set, so the repository's settings would apply otherwise.
    """
    ids: dict[str, Any] = {name: settings.get(name) for name in TOKEN_IDS if _is_id(settings.get(name))}
    ids["eos_token_id"] = token_ids(settings.get("eos_token_id")) or None  # the only one that may be a list
    return GenerationConfig(**ids)


def decoding_config(
    model_config: Any, decoding: RequestedDecoding, stops: Iterable[int], pad: int, max_new_tokens: int
) -> Any:
    """Return the generation config that is passed to `generate`. Sampling is always off.

    Args:
        model_config: The model's own generation config.
        decoding: "greedy" takes only token ids from it. "repository" also takes all other settings that are not among
            IGNORED_SETTINGS, such as penalties and beams, as `generate(do_sample=False)` would.
        stops: The ids of the tokens that end an answer.
        pad: The id of the padding token.
        max_new_tokens: The budget of reasoning and answer together.
    """
    if decoding == "repository":
        changed = model_config.to_diff_dict().items()
        settings = {name: value for name, value in changed if name not in IGNORED_SETTINGS}
    else:
        settings = {name: getattr(model_config, name, None) for name in ("bos_token_id", "decoder_start_token_id")}
    settings |= {
        "do_sample": False,
        "max_new_tokens": max_new_tokens,
        "max_time": MAX_SECONDS,
        "eos_token_id": sorted(stops) or None,
        "pad_token_id": pad,
    }
    return GenerationConfig(**settings)


def token_ids(value: Any) -> list[int]:
    """Return the token ids in a config value, which may be one id, a list of ids or None."""
    values = value if isinstance(value, list) else [value]
    return [v for v in values if _is_id(v)]


# What a row writes: "direct" is an answer without reasoning so far, "answer" is what follows a reasoning.
_Phase = Literal["direct", "reasoning", "answer"]


class Budgets(StoppingCriteria):  # type: ignore[misc]
    """Stop each row at its budget: `reasoning` new tokens up to the closing tag, then `answer` tokens after it.

    A row that does not start with reasoning has the answer budget only. If an answer opens reasoning again, the row has to
    close it within the reasoning budget, counted from the first new token. `ended` has for each row the number of new
    tokens at which it was cut off, or None.
    """

    def __init__(
        self,
        tokenizer: Any,
        tags: Tags | None,
        begins_in_reasoning: Sequence[bool],
        start: int,
        answer: int,
        reasoning: int,
    ) -> None:
        """Create the criterion for one batch.

        Args:
            tokenizer: The model's tokenizer. The tags are searched in text, because they may be any number of tokens.
            tags: The tags of the model's template, if it has any.
            begins_in_reasoning: For each row, whether its prompt already ends inside the reasoning.
            start: Number of tokens in front of the new ones in each row of `input_ids`.
            answer: Budget of new tokens for the answer.
            reasoning: Budget of new tokens for the reasoning, closing tag included.
        """
        self._tokenizer = tokenizer
        self._tags = tags or THINK
        self._start = start
        self._answer_budget = answer
        self._reasoning_budget = reasoning
        # The state of each row.
        self._phases: list[_Phase] = ["reasoning" if is_open else "direct" for is_open in begins_in_reasoning]
        # The number of new tokens up to the last closing tag, after which the answer begins.
        self._answer_at = [0] * len(begins_in_reasoning)
        self.ended: list[int | None] = [None] * len(begins_in_reasoning)
        # The tags are searched in this many of the last tokens. A model may write a tag in other tokens than the tokenizer
        # would, but each of them has at least a byte of it.
        self._tail = max(len(self._tags.closing.encode()), len(self._tags.opening.encode()))

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """Return for each row whether it has ended. `generate` calls this after each new token.

        `input_ids` has the shape (rows, start + new tokens), the result the shape (rows,).
        """
        count = input_ids.shape[1] - self._start
        for row in range(len(self.ended)):
            if self.ended[row] is not None:
                continue
            self._update_phase(row, input_ids[row, self._start :])
            if self._phases[row] == "reasoning":
                is_spent = count >= self._reasoning_budget
            else:
                is_spent = count - self._answer_at[row] >= self._answer_budget
            if is_spent:
                self.ended[row] = count
        return torch.tensor([end is not None for end in self.ended], device=input_ids.device)

    def _update_phase(self, row: int, new_tokens: Any) -> None:
        """Update what a row writes and, at a closing tag, where its answer begins."""
        phase = self._phases[row]
        if phase == "direct":
            if self._opens_reasoning(new_tokens):
                self._phases[row] = "reasoning"
            return
        since_tag = new_tokens[self._answer_at[row] :]  # all new tokens, if there was no closing tag so far
        text = self._text(since_tag[-self._tail :])
        if phase == "reasoning" and self._tags.closing in text:
            self._phases[row] = "answer"
            self._answer_at[row] = len(new_tokens)
        elif phase == "answer" and reopens(text, self._tags):
            self._phases[row] = "reasoning"

    def _opens_reasoning(self, new_tokens: Any) -> bool:
        """Return whether the output of a row starts with an opening tag. Later than OPENING_TAG_TOKENS it is not looked for."""
        if len(new_tokens) > OPENING_TAG_TOKENS:
            return False
        text = self._text(new_tokens).lstrip()
        # One token may complete the opening tag and the closing one.
        return text.startswith(self._tags.opening.strip()) and self._tags.closing not in text

    def _text(self, tokens: Any) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=False))


def _is_id(value: Any) -> bool:
    """Return whether a value of a config, which may be anything, is a token id."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
