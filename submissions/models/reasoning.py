"""Reasoning and answer are two things: which tags a model's chat template knows, and which switch turns reasoning off.

Nothing here is a list of models: tags and switches are looked for in the template itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from jinja2 import TemplateSyntaxError
from jinja2.meta import find_undeclared_variables

from submissions.catalog import THINKING, Thinking
from submissions.errors import TemplateError
from submissions.models.chat_template import Conversation, TemplateRenderer, environment


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


def strip_reasoning(text: str, *, opened: bool = False) -> tuple[str | None, str]:
    """Reasoning and answer of a transcript, by whichever tags are in it; no reasoning (None) where there are none, and
    no answer where the reasoning never ends."""
    known = beginning(text) or next((tags for tags in TAGS if tags.closing in text), None)
    parts = split(text, known, opened=opened)
    if not parts.reasoned:
        return None, text
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


@lru_cache(maxsize=8)  # asked several times of a model's own
def switches(template: str) -> tuple[str, ...]:
    """The variables by which a template can be told to reason or not, as far as it reads them."""
    try:
        read = find_undeclared_variables(environment().parse(template))
    except (TemplateSyntaxError, RecursionError):
        return ()
    return tuple(name for name in SWITCHES if name in read)


def values_of(template: str, thinking: Thinking | None) -> dict[str, Any]:
    """What to give a template's switches for this; nothing where it is left to the template."""
    if thinking is None:
        return {}
    return {name: SWITCHES[name][0 if thinking == "on" else 1] for name in switches(template)}


def default_thinking(template: str, renderer: TemplateRenderer, conversation: Conversation) -> Thinking | None:
    """Whether a template has its model reason when nothing is said; None where it has no switch that works.

    Raises TemplateError where it cannot be rendered.
    """
    if not switches(template):
        return None
    on, off = (renderer.render([conversation], **values_of(template, mode)) for mode in THINKING)
    if on == off:
        return None
    return "off" if renderer.render([conversation]) == off else "on"


def reasoning_of(message: Mapping[str, Any]) -> str | None:
    """The reasoning that a server has told apart, under the names that servers use."""
    found = next((message[name] for name in REASONING_FIELDS if message.get(name)), None)
    return found if isinstance(found, str) else None
