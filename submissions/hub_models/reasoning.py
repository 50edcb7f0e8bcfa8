"""Separate a model's reasoning from its answer, and find the template switches that turn reasoning on and off.

This module does not list models. Tags and switches are found in the chat template itself.
"""

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
    separator: str = ""  # all text between reasoning and answer in the template, if known


THINK = Tags("<think>", "</think>")  # used by most families, and assumed if the template names no tags
TAGS = (
    Tags("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),  # harmony
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
ANY_TAGS = Tags("", "")  # stands for any known tags, if the model's template is unknown
OPENINGS = {tags.opening.strip() for tags in TAGS}
REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")  # of messages in templates and server replies
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
EFFORT = "reasoning_effort"  # the name in templates and in chat requests to servers


@dataclass(frozen=True)
class Split:
    """A model's output, split. The answer starts at index `answer`, which is None if there is no answer."""

    reasoned: bool
    answer: int | None
    tags: Tags = THINK  # the tags that the output was split by


def learn_tags(template: str, renderer: TemplateRenderer, asked: Mapping[str, Any]) -> Tags | None:
    """Return the tags that a model writes around its reasoning, or None if its template has none.

    Renders a turn with reasoning and answer to see the tags. If that fails, known tags are searched for in the template.
    `asked` is a user message in the form that the model takes.
    """
    question, thought, answer = _text_of(asked), "7thought7", "7answer7"
    content: Any = answer if isinstance(asked["content"], str) else [{"type": "text", "text": answer}]
    reply = {"role": "assistant", "content": content, **dict.fromkeys(REASONING_FIELDS, thought)}
    try:
        (prompt,) = renderer.render([[asked]])
        before, thinks, after = renderer.render_whole([asked, reply]).partition(thought)
    except TemplateError:
        return find_tags(template)
    between, answers, _ = after.partition(answer)
    closing = between.strip()
    if not (thinks and answers and closing):
        return find_tags(template)
    if known := next((tags for tags in TAGS if closing.endswith(tags.closing)), None):
        return known._replace(separator=closing)
    # The prompt contains the first part of the text before the reasoning, and the model writes the rest.
    written, turn = prompt.rpartition(question)[2], before.rpartition(question)[2]
    shared = next((n for n in range(len(written), 0, -1) if turn.startswith(written[:n])), 0)
    return Tags(turn[shared:].strip() or turn.strip(), closing, closing)


def _text_of(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else next(part["text"] for part in content if part["type"] == "text")


def find_tags(template: str) -> Tags | None:
    """Return the known tags that a chat template contains, or None."""
    if all(word in template for word in ("<|channel|>", "analysis", "final")):
        return TAGS[0]  # harmony templates build the tags from pieces
    return next((tags for tags in TAGS[1:] if tags.closing in template or tags.opening in template), None)


def split(output: str, tags: Tags | None, *, opened: bool = False) -> Split:
    """Find where the reasoning of an output ends.

    Args:
        output: The text that the model wrote.
        tags: The tags in the model's template. If None, known tags count only at the start of the output.
        opened: Whether the prompt ended inside the reasoning.

    An output whose reasoning is never closed, or starts again after it was closed, has no answer.
    """
    known = tags or leading_tags(output) or THINK
    begun = opened or output.lstrip().startswith(known.opening.strip())
    end = output.rfind(known.closing) if tags or begun else -1
    if end < 0:
        return Split(begun, None if begun else 0, known)
    end += len(known.closing)
    return Split(True, None if reopens(output[end:], known) else end, known)


def leading_tags(output: str) -> Tags | None:
    """Return the known tags that an output begins with, or None."""
    return next((tags for tags in TAGS if output.lstrip().startswith(tags.opening.strip())), None)


def reopens(answer: str, tags: Tags) -> bool:
    """Return whether what looked like an answer contains more reasoning.

    Only known tags count, because tags learned from a template may be ordinary words.
    """
    mark = tags.opening.strip()
    return mark in OPENINGS and mark in answer


def opens(rendered: str, tags: Tags | None) -> bool:
    """Return whether a prompt ends inside the reasoning, so that the model continues it."""
    return rendered.rstrip().endswith((tags or THINK).opening.strip())


def strip_reasoning(text: str, tags: Tags | None = ANY_TAGS, *, opened: bool = False) -> tuple[str | None, str]:
    """Return the reasoning and the answer of a transcript.

    `tags` are the tags of the model's template, None if it has none, or ANY_TAGS to use the tags found in the text. The
    reasoning is None if there is none. The answer is empty if the reasoning never ends.
    """
    known = tags
    if tags is ANY_TAGS:
        known = leading_tags(text) or next((candidate for candidate in TAGS if candidate.closing in text), None)
    parts = split(text, known, opened=opened)
    if not parts.reasoned:
        return None, unmarked(text)
    if parts.answer is None:
        return text, ""
    answer = text[parts.answer :].rstrip()
    while end := next((mark for mark in END_MARKS if answer.endswith(mark)), ""):
        answer = answer.removesuffix(end).rstrip()
    return text[: parts.answer], unmarked(answer)


def unmarked(answer: str) -> str:
    """Return an answer without the marks that some models put around it."""
    for mark in ANSWER_MARKS:
        answer = answer.replace(mark, "")
    return answer.strip()


@lru_cache(maxsize=8)  # called several times for one template
def switches(template: str) -> tuple[str, ...]:
    """Return the variables of a template that control whether and how much to reason."""
    try:
        read = find_undeclared_variables(environment().parse(template))
    except (TemplateSyntaxError, RecursionError):
        return ()
    return tuple(name for name in (*SWITCHES, EFFORT) if name in read)


def values_of(template: str, thinking: Thinking | None) -> dict[str, Any]:
    """Return the values of a template's switches for a reasoning mode, or no values for the template's default."""
    if thinking is None:
        return {}
    values = {name: SWITCHES[name][thinking == "off"] for name in switches(template) if name != EFFORT}
    return values | ({EFFORT: thinking} if thinking in EFFORTS and EFFORT in switches(template) else {})


def thinking_modes(
    template: str, renderer: TemplateRenderer, conversation: Conversation
) -> tuple[Thinking | None, tuple[Thinking, ...]]:
    """Return the default reasoning mode of a template, and all modes that can be asked for.

    A mode counts if the template renders it, and renders at least one other mode differently. Raises TemplateError if the
    template cannot be rendered at all.
    """
    read = switches(template)
    if not read:
        return None, ()
    default = renderer.render([conversation])
    found: dict[Thinking, list[str]] = {}
    switched: tuple[Thinking, ...] = ("on", "off") if any(name != EFFORT for name in read) else ()
    for modes in (switched, EFFORTS if EFFORT in read else ()):
        rendered = {mode: _rendered(template, renderer, conversation, mode) for mode in modes}
        if len({str(prompt) for prompt in rendered.values()}) > 1:
            found |= {mode: prompt for mode, prompt in rendered.items() if prompt}
    # The default prompt may match none of the modes, for example if the template has another effort.
    fallback: Thinking | None = "on" if "on" in found else None
    return next((mode for mode, prompt in found.items() if prompt == default), fallback), tuple(found)


def _rendered(
    template: str, renderer: TemplateRenderer, conversation: Conversation, mode: Thinking
) -> list[str] | None:
    """Return a conversation rendered in a mode, or None if the template rejects the mode."""
    try:
        return renderer.render([conversation], **values_of(template, mode))
    except TemplateError:
        return None


def reasoning_of(message: Mapping[str, Any]) -> str | None:
    """Return the reasoning that a server returned separately from the answer, or None."""
    found = next((message[name] for name in REASONING_FIELDS if message.get(name)), None)
    return found if isinstance(found, str) else None
