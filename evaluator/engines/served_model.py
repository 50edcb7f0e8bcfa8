"""What the client of a spawned server knows about the model: the inputs of the built-in engine, and how to read outputs.

Prompts are fitted and outputs are read as the built-in engine does it, so that both give the same answers. `api.py` imports
this only for a spawned server, because it needs transformers. If the built-in engine could not run the model, there is no
ServedModel, and only the chat template tells how to read outputs (`format_by_template`).
"""

import sys
import threading
from collections.abc import Sequence

from evaluator.core.data_types import Prompt
from evaluator.core.errors import EvaluationError
from evaluator.engines.api_completion import OutputFormat
from evaluator.engines.chat import chat_subconfig, choose_loader
from evaluator.engines.chat_inputs import ChatInputs, PreparedPrompt
from evaluator.engines.decoding import token_ids
from evaluator.engines.generation_config import repository_settings
from evaluator.engines.loading import load_config
from evaluator.engines.options import EngineOptions
from evaluator.engines.output import Output, before_stop, read_output
from submissions.hub_models.model_facts import TEST_QUESTION, folder_template
from submissions.hub_models.reasoning import prompt_ends_in_reasoning, reasoning_tags_of, switch_values
from submissions.hub_models.template_renderer import TemplateRenderer
from submissions.texts.errors import RefusedError, TemplateError
from submissions.texts.failure_codes import FailureCode

MIN_CONTEXT = 256  # tokens; with fewer, no question of any benchmark can be asked
MIN_ANSWER_SHARE = 0.25  # of the context, which an answer may always have


class ServedModel:
    """The prompts and outputs of a model that the built-in engine could run, too."""

    def __init__(self, options: EngineOptions, server_context: int | None) -> None:
        """Read the model's config, processor and chat template.

        `server_context` is the number of tokens that the server reports as its context, if any. Raises
        EvaluationError, with SERVER_FAILED if the server's context is too small, and with another code if the built-in engine
        could not run this model.
        """
        config = chat_subconfig(load_config(options))
        _, takes_images = choose_loader(config)
        if server_context is not None and server_context < MIN_CONTEXT:
            message = f"the server's context has only {server_context} tokens"
            raise EvaluationError(FailureCode.SERVER_FAILED, message)
        own_context = getattr(config.get_text_config(), "max_position_embeddings", None)
        is_reduced = server_context is not None and (not own_context or server_context < own_context)
        # The server's context if it is smaller than the model's own, or the model's own is unknown; else None.
        self.reduced_context = server_context if is_reduced else None
        self._context = self.reduced_context or own_context or None
        self._inputs = ChatInputs(options, takes_images, self._context, pads_left=not config.is_encoder_decoder)
        self._begins_in_reasoning = self._inputs.prompts_end_in_reasoning()
        self._stops = self._inputs.stop_tokens(token_ids(repository_settings(options.model).get("eos_token_id")))
        self._removed = self._inputs.control_tokens(self._stops)  # ids that are not text of an answer, with their text
        self.has_read_ids = False  # whether the server has sent the ids of an output
        # The number of possible token ids: models often have a few more embeddings than their tokenizer has tokens.
        self._vocabulary = max(len(self._inputs.tokenizer), getattr(config.get_text_config(), "vocab_size", 0) or 0)
        self._lock = threading.Lock()  # a tokenizer must not be used by two threads at once

    @property
    def stops(self) -> list[int]:
        """The ids of the tokens that end an answer."""
        return sorted(self._stops)

    @property
    def output_format(self) -> OutputFormat:
        """How to read the server's outputs."""
        return OutputFormat(
            writes_reasoning=self._inputs.reasons,
            begins_in_reasoning=self._begins_in_reasoning,
            switches=self._inputs.switches,
            tags=self._inputs.tags,
            special_tokens=tuple(sorted(self._removed.values(), key=len, reverse=True)),
            stop_tokens=tuple(map(str, self._inputs.tokenizer.convert_ids_to_tokens(self.stops))),
            read_tokens=self._read,
            closes_with_special_token=self._inputs.reasons and self._closes_with_special_token(),
        )

    def prepare(self, prompt: Prompt) -> PreparedPrompt:
        """Return the prompt with its page fitted to the context.

        Raises EvaluationError if it has images and the model takes none.
        """
        with self._lock:
            return self._inputs.prepare(prompt)

    def max_tokens(self, prepared: PreparedPrompt) -> int:
        """Return how many tokens may be generated: the whole budget, or what the context leaves of it.

        A page is cut so that it leaves MIN_ANSWER_SHARE or more. Images and long questions may leave less. The answer may
        have that share even then, because the cost of a prompt is an estimate.
        """
        budget = self._inputs.budget
        if self._context is None:
            return budget
        return min(budget, max(self._context - prepared.cost, int(self._context * MIN_ANSWER_SHARE)))

    def close(self) -> None:
        self._inputs.close()

    def _closes_with_special_token(self) -> bool:
        """Return whether the closing tag of reasoning is a special token, which servers leave out of the text."""
        tags = self._inputs.tags
        added = getattr(self._inputs.tokenizer, "added_tokens_decoder", {}).values()
        return tags is not None and any(token.special and str(token) == tags.closing.strip() for token in added)

    def _read(self, tokens: Sequence[int]) -> Output | None:
        """Read the ids of an output, or return None if they are not all of this model's vocabulary."""
        if max(tokens) >= self._vocabulary:
            return None
        self.has_read_ids = True
        with self._lock:
            before = before_stop(tokens, self._stops)
            return read_output(
                self._inputs.tokenizer,
                before,
                self._inputs.tags,
                self._removed,
                begins_in_reasoning=self._begins_in_reasoning,
            )


def format_by_template(options: EngineOptions) -> OutputFormat:
    """Return how to read the outputs of a model that only its server can run, from the chat template in its folder."""
    try:
        template, tokens = folder_template(options.model)
    except RefusedError:
        return OutputFormat()
    if not template:
        return OutputFormat()
    switches = switch_values(template, options.thinking)
    renderer = TemplateRenderer(template, tokens)
    try:
        # Some templates accept only a list of parts, others only a string.
        for content in ([{"type": "text", "text": TEST_QUESTION}], TEST_QUESTION):
            message = {"role": "user", "content": content}
            try:
                (rendered,) = renderer.render([[message]], **switches)
            except TemplateError:
                continue
            tags = reasoning_tags_of(template, renderer, message)
            return OutputFormat(
                writes_reasoning=tags is not None and options.thinking != "off",
                begins_in_reasoning=prompt_ends_in_reasoning(rendered, tags),
                switches=switches,
                tags=tags,
                special_tokens=tuple(sorted(tokens.values(), key=len, reverse=True)),
            )
    finally:
        renderer.close()
    return OutputFormat(switches=switches)


def load_served_model(options: EngineOptions, server_context: int | None) -> ServedModel | None:
    """Return the model of a spawned server, or None if only the server can run it."""
    try:
        return ServedModel(options, server_context)
    except EvaluationError as error:
        if error.code == FailureCode.SERVER_FAILED:  # the model is not the reason
            raise
        sys.stderr.write(f"prompts are not fitted to the model's context: {error}\n")
        return None
