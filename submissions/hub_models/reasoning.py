"""Separate a model's reasoning from its answer, and find the template switches that turn reasoning on and off.

A reasoning model writes, for example, `<think>Each bar is …</think>The sum is 42.` Only what follows is its answer. This
module does not list models: the tags around the reasoning and the variables that switch it are found in the chat template
itself.

The engines of the evaluator find a model's tags once (`reasoning_tags_of`) and split its outputs by them (`split`,
`strip_reasoning`). The submission check finds the modes that a submitter may choose (`thinking_modes`), and an engine passes
the chosen one to the template (`switch_values`).
"""

import os.path
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from jinja2 import TemplateSyntaxError
from jinja2.meta import find_undeclared_variables

from submissions.hub_models.template_renderer import Conversation, TemplateRenderer, environment
from submissions.records.options import EFFORTS, Thinking
from submissions.texts.errors import TemplateError


class Tags(NamedTuple):
    """The text that a model writes before and after its reasoning."""

    opening: str
    closing: str
    # All text between reasoning and answer in the template, if known. It ends with `closing`. An engine must not stop at its
    # tokens (`ChatInputs.stop_tokens`).
    separator: str = ""


THINK = Tags("<think>", "</think>")  # used by most families, and assumed if the template names no tags
KNOWN_TAGS = (
    Tags("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),  # harmony, the format of gpt-oss
    Tags("<|channel>thought\n", "<channel|>"),
    Tags("<|START_THINKING|>", "<|END_THINKING|>"),
    Tags("<|begin_of_thought|>", "<|end_of_thought|>"),
    Tags("<seed:think>", "</seed:think>"),
    Tags("◁think▷", "◁/think▷"),
    Tags("[THINK]", "[/THINK]"),
    Tags("<thinking>", "</thinking>"),
    Tags("<thought>", "</thought>"),
    Tags("<reasoning>", "</reasoning>"),
    THINK,
)
ANY_TAGS = Tags("", "")  # stands for any known tags, if the model's template is unknown; compared by identity
KNOWN_OPENINGS = {tags.opening.strip() for tags in KNOWN_TAGS}
REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")  # of messages in templates and server replies
# END_MARKS are end-of-turn tokens, which are removed from the end of an answer that follows reasoning. ANSWER_MARKS are
# removed from all answers.
END_MARKS = ("<|return|>", "<|end|>", "<|im_end|>", "</s>")
ANSWER_MARKS = ("<|begin_of_box|>", "<|end_of_box|>", "<answer>", "</answer>")
# Template variables, each with its values for reasoning on and off.
SWITCHES: dict[str, tuple[Any, Any]] = {
    "enable_thinking": (True, False),
    "thinking": (True, False),
    "enable_reasoning": (True, False),
    "force_reasoning": (True, False),
    "skip_reasoning": (False, True),
    "think": (True, False),
    "reasoning": (True, False),
}
EFFORT_PARAMETER = "reasoning_effort"  # both a template variable and a parameter of requests to servers


@dataclass(frozen=True)
class Split:
    """Where the answer starts in a model's output."""

    reasoned: bool  # whether the output contains reasoning
    answer_at: int | None  # the index of the answer's first character; None if there is no answer
    tags: Tags = THINK  # the tags that the output was split by


def reasoning_tags_of(template: str, renderer: TemplateRenderer, message: Mapping[str, Any]) -> Tags | None:
    """Return the tags that a model writes around its reasoning, or None if its template has none.

    A conversation whose reply has reasoning and an answer is rendered. The text between the two is the closing tag. The
    opening tag is the part of the text before the reasoning that the prompt does not have yet. If that fails, known tags are
    searched for in the template. `message` is a user message in the form that the template accepts.

    For the prompt `…<|assistant|>` and the conversation `…<|assistant|>[R]7thought7[/R]7answer7`, the tags are `[R]` and
    `[/R]`.
    """
    # The digits make it unlikely that the template itself contains these texts.
    thought = "7thought7"
    answer = "7answer7"
    content: Any = answer if isinstance(message["content"], str) else [{"type": "text", "text": answer}]
    # Templates read the reasoning from different fields, so all of them have it.
    reply = {"role": "assistant", "content": content, **dict.fromkeys(REASONING_FIELDS, thought)}
    try:
        (prompt,) = renderer.render([[message]])
        turn = renderer.render_whole([message, reply])
    except TemplateError:
        return find_tags(template)
    before, thought_found, after = turn.partition(thought)
    between, answer_found, _ = after.partition(answer)
    closing = between.strip()
    if not (thought_found and answer_found and closing):
        return find_tags(template)
    if known := next((tags for tags in KNOWN_TAGS if closing.endswith(tags.closing)), None):
        return known._replace(separator=closing)
    # The prompt contains the first part of the text before the reasoning, and the model writes the rest. If the prompt
    # contains all of it, it ends with the opening tag.
    question = _text_of(message)
    after_question = prompt.rpartition(question)[2]
    before_thought = before.rpartition(question)[2]
    in_prompt = os.path.commonprefix([after_question, before_thought])  # noqa: RUF071 - of characters
    written_by_model = before_thought.removeprefix(in_prompt).strip()
    return Tags(opening=written_by_model or before_thought.strip(), closing=closing, separator=closing)


def _text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message, whose content is a string or a list of parts."""
    content = message["content"]
    return content if isinstance(content, str) else next(part["text"] for part in content if part["type"] == "text")


def find_tags(template: str) -> Tags | None:
    """Return the known tags that a chat template contains, or None."""
    # A harmony template never contains its tags as a whole, because it builds them from these pieces.
    if all(piece in template for piece in ("<|channel|>", "analysis", "final")):
        return KNOWN_TAGS[0]
    return next((tags for tags in KNOWN_TAGS[1:] if tags.closing in template or tags.opening in template), None)


def split(output: str, tags: Tags | None, *, begins_in_reasoning: bool = False) -> Split:
    """Find where the reasoning of an output ends.

    Args:
        output: The text that the model wrote.
        tags: The tags in the model's template. If None, known tags count only at the start of the output.
        begins_in_reasoning: Whether the prompt ended inside the reasoning.

    An output whose reasoning is never closed, or starts again after it was closed, has no answer. Examples:

        split("<think>a</think>b", THINK)   Split(reasoned=True, answer_at=16)
        split("b", THINK)                   Split(reasoned=False, answer_at=0)
        split("<think>a", THINK)            Split(reasoned=True, answer_at=None)
        split("a</think>b", THINK)          Split(reasoned=True, answer_at=9)
        split("a</think>b", None)           Split(reasoned=False, answer_at=0)
    """
    used = tags or leading_tags(output) or THINK
    starts_with_reasoning = begins_in_reasoning or output.lstrip().startswith(used.opening.strip())
    may_reason = tags is not None or starts_with_reasoning
    closing_at = output.rfind(used.closing) if may_reason else -1
    if closing_at >= 0:
        answer_at = closing_at + len(used.closing)
        is_answer = not reopens(output[answer_at:], used)
        return Split(reasoned=True, answer_at=answer_at if is_answer else None, tags=used)
    if starts_with_reasoning:  # and there is no closing tag
        return Split(reasoned=True, answer_at=None, tags=used)
    return Split(reasoned=False, answer_at=0, tags=used)


def leading_tags(output: str) -> Tags | None:
    """Return the known tags whose opening tag an output begins with, or None."""
    return next((tags for tags in KNOWN_TAGS if output.lstrip().startswith(tags.opening.strip())), None)


def reopens(answer: str, tags: Tags) -> bool:
    """Return whether the text after the reasoning contains more reasoning, and so is not an answer.

    Only known tags count, because tags learned from a template may be ordinary words.
    """
    opening = tags.opening.strip()
    return opening in KNOWN_OPENINGS and opening in answer


def prompt_ends_in_reasoning(prompt: str, tags: Tags | None) -> bool:
    """Return whether a prompt ends with the opening tag, so that the model's output begins inside the reasoning."""
    return prompt.rstrip().endswith((tags or THINK).opening.strip())


def strip_reasoning(
    text: str, tags: Tags | None = ANY_TAGS, *, begins_in_reasoning: bool = False
) -> tuple[str | None, str]:
    """Return the reasoning, including its tags, and the answer in a model's output.

    `"<think>a</think>b<|im_end|>" -> ("<think>a</think>", "b")`

    `tags` are the tags of the model's template, None if it has none, or ANY_TAGS to use the tags found in the text.
    `begins_in_reasoning` is whether the prompt ended inside the reasoning. The reasoning is None if there is none. The answer
    is empty if the reasoning never ends.
    """
    used_tags = tags
    if tags is ANY_TAGS:
        closed_tags = (candidate for candidate in KNOWN_TAGS if candidate.closing in text)
        used_tags = leading_tags(text) or next(closed_tags, None)
    found = split(text, used_tags, begins_in_reasoning=begins_in_reasoning)
    if not found.reasoned:
        return None, without_answer_marks(text)
    if found.answer_at is None:
        return text, ""
    answer = _without_end_marks(text[found.answer_at :])
    return text[: found.answer_at], without_answer_marks(answer)


def _without_end_marks(answer: str) -> str:
    """Return an answer without the marks and spaces at its end, in linear time even if it has a million of them."""
    end = len(answer)
    while end > 0:
        mark = next((mark for mark in END_MARKS if answer.endswith(mark, 0, end)), None)
        if mark:
            end -= len(mark)
        elif answer[end - 1].isspace():
            end -= 1
        else:
            break
    return answer[:end]


def without_answer_marks(answer: str) -> str:
    """Return an answer without the marks that some models put around it."""
    for mark in ANSWER_MARKS:
        answer = answer.replace(mark, "")
    return answer.strip()


@lru_cache(maxsize=8)  # called several times for one template
def switches(template: str) -> tuple[str, ...]:
    """Return the variables of a template that control whether and how much to reason, such as ("enable_thinking",).

    They are the keys of SWITCHES and EFFORT_PARAMETER that the template reads without setting them itself.
    """
    try:
        variables = find_undeclared_variables(environment().parse(template))
    except (TemplateSyntaxError, RecursionError):
        return ()
    return tuple(name for name in (*SWITCHES, EFFORT_PARAMETER) if name in variables)


def switch_values(template: str, thinking: Thinking | None) -> dict[str, Any]:
    """Return the values of a template's switches for a reasoning mode, or no values for the template's default.

    For a template that reads `enable_thinking`: `"off" -> {"enable_thinking": False}`, `None -> {}`.
    """
    if thinking is None:
        return {}
    values: dict[str, Any] = {}
    for name in switches(template):
        if name != EFFORT_PARAMETER:
            value_on, value_off = SWITCHES[name]
            values[name] = value_off if thinking == "off" else value_on
        elif thinking in EFFORTS:
            values[name] = thinking
    return values


def thinking_modes(
    template: str, renderer: TemplateRenderer, conversation: Conversation
) -> tuple[Thinking | None, tuple[Thinking, ...]]:
    """Return the default reasoning mode of a template, and all modes that can be asked for.

    A mode counts if the template renders it, and either renders another mode of the same switch differently or rejects it.
    Raises TemplateError if the template cannot be rendered at all.
    """
    found_switches = switches(template)
    if not found_switches:
        return None, ()
    default_prompt = renderer.render([conversation])
    possible: list[tuple[Thinking, ...]] = []  # groups of modes that one switch distinguishes
    if any(name != EFFORT_PARAMETER for name in found_switches):
        possible.append(("on", "off"))
    if EFFORT_PARAMETER in found_switches:
        possible.append(EFFORTS)
    prompts: dict[Thinking, list[str]] = {}  # by mode
    for modes in possible:
        rendered = {mode: _rendered(template, renderer, conversation, mode) for mode in modes}
        has_effect = len({str(prompt) for prompt in rendered.values()}) > 1  # the switch may be read but change nothing
        if has_effect:
            prompts |= {mode: prompt for mode, prompt in rendered.items() if prompt}
    # The default prompt may match none of the modes. A model with an on/off switch is then evaluated in mode "on". One
    # that has efforts only keeps its default (None), as Mistral's "none".
    fallback: Thinking | None = "on" if "on" in prompts else None
    default_mode = next((mode for mode, prompt in prompts.items() if prompt == default_prompt), fallback)
    return default_mode, tuple(prompts)


def _rendered(
    template: str, renderer: TemplateRenderer, conversation: Conversation, mode: Thinking
) -> list[str] | None:
    """Return a conversation rendered in a mode, or None if the template rejects the mode."""
    try:
        return renderer.render([conversation], **switch_values(template, mode))
    except TemplateError:
        return None


def reasoning_of(message: Mapping[str, Any]) -> str | None:
    """Return the reasoning that a server returned in a field of its own, or None."""
    reasoning = next((message[name] for name in REASONING_FIELDS if message.get(name)), None)
    return reasoning if isinstance(reasoning, str) else None
