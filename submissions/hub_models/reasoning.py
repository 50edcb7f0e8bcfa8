"""Reasoning and answer are two things: which tags a model's chat template knows, and which switch turns reasoning off.

Nothing here is a list of models: tags and switches are looked for in the template itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from jinja2 import TemplateSyntaxError
from jinja2.meta import find_undeclared_variables

from submissions.hub_models.chat_template import Conversation, TemplateRenderer, environment
from submissions.records.options import EFFORTS, Thinking
from submissions.texts.errors import TemplateError


class Tags(NamedTuple):
    """What a model writes before its reasoning and after it."""

    opening: str
    closing: str
    separator: str = ""  # all that the template writes between reasoning and answer, where that is known


THINK = Tags("<think>", "</think>")  # what most families write, and those whose template says nothing
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
ANY = Tags("", "")  # of a model whose template is not known
OPENINGS = {tags.opening.strip() for tags in TAGS}
REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")  # of messages, in templates and from servers
END_MARKS = ("<|return|>", "<|end|>", "<|im_end|>", "</s>")
ANSWER_MARKS = ("<|begin_of_box|>", "<|end_of_box|>", "<answer>", "</answer>")
# Variables of templates, with their values for reasoning and for none.
SWITCHES: dict[str, tuple[Any, Any]] = {
    "enable_thinking": (True, False),
    "thinking": (True, False),
    "enable_reasoning": (True, False),
    "force_reasoning": (True, False),
    "skip_reasoning": (False, True),
    "think": (True, False),
    "reasoning": (True, False),
}
EFFORT = "reasoning_effort"  # the variable of templates, and of chat requests to servers


@dataclass(frozen=True)
class Split:
    """A model's output, taken apart. `answer` is where the answer begins in it; None where it never does."""

    reasoned: bool
    answer: int | None
    tags: Tags = THINK  # by which it was


def learn_tags(template: str, renderer: TemplateRenderer, asked: Mapping[str, Any]) -> Tags | None:
    """What a model writes around its reasoning: seen by rendering a turn that has both, else by the tags that stand in
    the template; None where there is nothing of the kind. `asked` is a user's message, in the form the model takes."""
    question, thought, answer = _text_of(asked), "7thought7", "7answer7"
    content: Any = answer if isinstance(asked["content"], str) else [{"type": "text", "text": answer}]
    told = {"role": "assistant", "content": content, **dict.fromkeys(REASONING_FIELDS, thought)}
    try:
        (prompt,) = renderer.render([[asked]])
        before, thinks, after = renderer.render_whole([asked, told]).partition(thought)
    except TemplateError:
        return find_tags(template)
    between, answers, _ = after.partition(answer)
    closing = between.strip()
    if not (thinks and answers and closing):
        return find_tags(template)
    if known := next((tags for tags in TAGS if closing.endswith(tags.closing)), None):
        return known._replace(separator=closing)
    # Of what stands before the reasoning, the prompt writes the beginning and the model the rest.
    written, turn = prompt.rpartition(question)[2], before.rpartition(question)[2]
    shared = next((n for n in range(len(written), 0, -1) if turn.startswith(written[:n])), 0)
    return Tags(turn[shared:].strip() or turn.strip(), closing, closing)


def _text_of(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else next(part["text"] for part in content if part["type"] == "text")


def find_tags(template: str) -> Tags | None:
    """The tags that a chat template names; None where it has nothing of the kind."""
    if all(word in template for word in ("<|channel|>", "analysis", "final")):
        return TAGS[0]  # there they are put together from pieces
    return next((tags for tags in TAGS[1:] if tags.closing in template or tags.opening in template), None)


def split(output: str, tags: Tags | None, *, opened: bool = False) -> Split:
    """Where the reasoning of an output ends. `opened`: the prompt ended within the reasoning already.

    Without a closing tag an output that has begun to reason holds no answer, nor does one that begins anew. A model
    whose template names no tags may still write the usual ones, but then it has to begin with them.
    """
    known = tags or beginning(output) or THINK
    begun = opened or output.lstrip().startswith(known.opening.strip())
    end = output.rfind(known.closing) if tags or begun else -1
    if end < 0:
        return Split(begun, None if begun else 0, known)
    end += len(known.closing)
    return Split(True, None if reopens(output[end:], known) else end, known)


def beginning(output: str) -> Tags | None:
    """The usual tags that an output begins with."""
    return next((tags for tags in TAGS if output.lstrip().startswith(tags.opening.strip())), None)


def reopens(answer: str, tags: Tags) -> bool:
    """Whether there is more reasoning behind what looked like the answer. Tags that were learned may be plain words."""
    mark = tags.opening.strip()
    return mark in OPENINGS and mark in answer


def opens(rendered: str, tags: Tags | None) -> bool:
    """Whether a prompt ends within the reasoning, so that the model goes on with it."""
    return rendered.rstrip().endswith((tags or THINK).opening.strip())


def strip_reasoning(text: str, tags: Tags | None = ANY, *, opened: bool = False) -> tuple[str | None, str]:
    """Return reasoning and answer of a transcript.

    `tags` are those of the model's template, None if it has none; ANY stands for whichever tags are in the text. The reasoning
    is None if there is none, the answer empty if the reasoning never ends.
    """
    known = tags
    if tags is ANY:
        known = beginning(text) or next((own for own in TAGS if own.closing in text), None)
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
    """An answer without the marks that some models put around it."""
    for mark in ANSWER_MARKS:
        answer = answer.replace(mark, "")
    return answer.strip()


@lru_cache(maxsize=8)  # asked several times about one template
def switches(template: str) -> tuple[str, ...]:
    """Return the variables that a template reads of those that say whether and how much to reason."""
    try:
        read = find_undeclared_variables(environment().parse(template))
    except (TemplateSyntaxError, RecursionError):
        return ()
    return tuple(name for name in (*SWITCHES, EFFORT) if name in read)


def values_of(template: str, thinking: Thinking | None) -> dict[str, Any]:
    """Return the values of a template's switches for a way to reason; none if it is left to the template."""
    if thinking is None:
        return {}
    values = {name: SWITCHES[name][thinking == "off"] for name in switches(template) if name != EFFORT}
    return values | ({EFFORT: thinking} if thinking in EFFORTS and EFFORT in switches(template) else {})


def thinking_modes(
    template: str, renderer: TemplateRenderer, conversation: Conversation
) -> tuple[Thinking | None, tuple[Thinking, ...]]:
    """Return how a template has its model reason if nothing is said, and all ways that it can be asked for.

    A way counts if the template renders it, and renders another one differently. Raises TemplateError if it cannot be
    rendered at all.
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
    # What a template renders if nothing is said may be none of these, such as an effort of its own.
    fallback: Thinking | None = "on" if "on" in found else None
    return next((mode for mode, prompt in found.items() if prompt == default), fallback), tuple(found)


def _rendered(
    template: str, renderer: TemplateRenderer, conversation: Conversation, mode: Thinking
) -> list[str] | None:
    """Return a conversation rendered in a mode, None if the template refuses it."""
    try:
        return renderer.render([conversation], **values_of(template, mode))
    except TemplateError:
        return None


def reasoning_of(message: Mapping[str, Any]) -> str | None:
    """The reasoning that a server has told apart, under the names that servers use."""
    found = next((message[name] for name in REASONING_FIELDS if message.get(name)), None)
    return found if isinstance(found, str) else None
