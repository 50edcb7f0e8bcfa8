"""Test how reasoning is separated from the answer, in texts and by chat templates."""

import pytest

from submissions.hub_models.reasoning import (
    KNOWN_TAGS,
    THINK,
    find_tags,
    reasoning_tags_of,
    split,
    strip_reasoning,
    switch_values,
    switches,
    thinking_modes,
)
from tests.submissions.hub_models.conftest import Renderers

QUESTION = {"role": "user", "content": "합계는?"}
HYBRID = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.reasoning_content is defined %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}"
    "{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
# Like HyperCLOVA X: the separator is not a tag.
TURNS = (
    "{% for m in messages %}{% if m.role == 'user' %}<user>{{ m.content }}<end>{% else %}"
    "{% if m.thinking is defined %}<assistant>/think {{ m.thinking }}<end>{% endif %}<assistant>{{ m.content }}<end>"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)


@pytest.mark.parametrize(
    ("text", "reasoned", "answer"),
    [
        ("12억 원", False, "12억 원"),
        ("<think>표를 보면</think>\n\n12억 원", True, "12억 원"),
        ("표를 보면</think>12억 원", True, "12억 원"),
        ("<think>끝나지 않는", True, ""),
        ("<think>a</think>7개<think>42개", True, ""),
        ("<think>a</think>7개<think>b</think>42개", True, "42개"),
        ("<think>use [/THINK] here</think>42개", True, "42개"),
        ("[THINK]a[/THINK]42개</s>", True, "42개"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>42<|return|>", True, "42"),
        ("<thinking>q</thinking><answer>42</answer>", True, "42"),
        ("답은 <think> 태그가 아닙니다", False, "답은 <think> 태그가 아닙니다"),
    ],
)
def test_strip_reasoning_returns_text_after_reasoning(text: str, reasoned: bool, answer: str) -> None:
    found, rest = strip_reasoning(text)
    assert (found is not None, rest) == (reasoned, answer)


def test_strip_reasoning_removes_many_end_marks_in_linear_time() -> None:
    assert strip_reasoning("<think>a</think>42" + "</s> " * 500_000) == ("<think>a</think>", "42")


@pytest.mark.parametrize("tags", KNOWN_TAGS, ids=lambda tags: tags.closing)
def test_split_knows_common_tags_without_template(tags: object) -> None:
    assert isinstance(tags, type(THINK))
    output = f"{tags.opening}왜냐하면{tags.closing}42"
    parts = split(output, None)
    assert parts.answer_at is not None and output[parts.answer_at :] == "42"
    assert split(f"{tags.opening}왜냐하면", None).answer_at is None


def test_reasoning_tags_of_finds_separator(renderer: Renderers) -> None:
    assert reasoning_tags_of(HYBRID, renderer(HYBRID), QUESTION) == THINK._replace(separator="</think>")
    learned = reasoning_tags_of(TURNS, renderer(TURNS), QUESTION)
    assert learned and (learned.opening, learned.closing) == ("/think", "<end><assistant>")
    assert split("/think 왜냐하면<end><assistant>42<end>", learned).answer_at == len("/think 왜냐하면<end><assistant>")
    assert find_tags("{{ messages }}") is None


def test_thinking_modes_ignores_switch_without_effect(renderer: Renderers) -> None:
    idle = "{% if thinking is defined and thinking %}{% endif %}{{ messages[0].content }}"
    spoken = "We are thinking. {{ messages[0].content }} {# enable_thinking #}"
    assert (switches(HYBRID), switches(idle), switches(spoken)) == (("enable_thinking",), ("thinking",), ())
    assert thinking_modes(HYBRID, renderer(HYBRID), [QUESTION]) == ("on", ("on", "off"))
    assert thinking_modes(idle, renderer(idle), [QUESTION]) == (None, ())


EFFORT_TEMPLATES = {
    # Like gpt-oss: the effort is printed and has a default.
    "printed": (
        "{% if reasoning_effort is not defined %}{% set reasoning_effort = 'medium' %}{% endif %}"
        "Reasoning: {{ reasoning_effort }} {{ messages[0].content }}",
        ("medium", ("low", "medium", "high")),
    ),
    # Like Mistral: one value besides the default; others raise.
    "raises": (
        "{% set effort = reasoning_effort | default('none') %}{% if effort not in ('none', 'high') %}"
        "{{ raise_exception('unknown effort') }}{% endif %}[{{ effort }}]{{ messages[0].content }}",
        (None, ("high",)),
    ),
    "ignored": ("{% if reasoning_effort %}{% endif %}{{ messages[0].content }}", (None, ())),
    "with a switch": (
        "{{ 'off' if enable_thinking is defined and not enable_thinking else reasoning_effort | default('low') }}"
        "{{ messages[0].content }}",
        ("on", ("on", "off", "low", "medium", "high")),
    ),
}


@pytest.mark.parametrize("name", EFFORT_TEMPLATES)
def test_thinking_modes_finds_efforts(name: str, renderer: Renderers) -> None:
    template, expected = EFFORT_TEMPLATES[name]
    assert thinking_modes(template, renderer(template), [QUESTION]) == expected


def test_switch_values_of_effort_enable_thinking() -> None:
    both = EFFORT_TEMPLATES["with a switch"][0]
    assert switch_values(both, "high") == {"enable_thinking": True, "reasoning_effort": "high"}
    assert switch_values(both, "off") == {"enable_thinking": False}
    assert switch_values(HYBRID, "low") == {"enable_thinking": True}


def test_strip_reasoning_uses_template_tags() -> None:
    """Check that server answers are split like those of the built-in engine, which knows the template."""
    text = "a</think>b"
    assert strip_reasoning(text) == ("a</think>", "b")
    assert strip_reasoning(text, None) == (None, text), "a template without tags opens no reasoning"
    assert strip_reasoning(text, THINK, begins_in_reasoning=True) == ("a</think>", "b")
