"""Test that chat templates cannot hang, exhaust or escape the process that renders them."""

import re
from collections.abc import Iterator

import pytest

from submissions.hub_models import template_renderer as module
from submissions.hub_models.template_renderer import TemplateRenderer
from submissions.texts.errors import TemplateError

CONVERSATION = [{"role": "user", "content": "표에서 합계는?"}]


@pytest.fixture
def started() -> Iterator[list[TemplateRenderer]]:
    renderers: list[TemplateRenderer] = []
    yield renderers
    for renderer in renderers:
        renderer.close()


def refusal(template: str, started: list[TemplateRenderer]) -> str:
    renderer = TemplateRenderer(template, {"eos_token": "</s>"})
    started.append(renderer)
    with pytest.raises(TemplateError) as error:
        renderer.render([CONVERSATION])
    return str(error.value)


ESCAPES = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ messages.__init__.__globals__ }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ lipsum.__globals__['os'].environ }}",
    "{{ raise_exception.__globals__ }}",
    "{{ messages.append(1) }}",
    "{% set x = messages.clear() %}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}",
    "{{ ''.format_map.__func__ }}",
    "{{ '{0.__class__.__init__.__globals__}'.format(messages) }}",
]


@pytest.mark.parametrize("template", ESCAPES)
def test_render_blocks_sandbox_escape(template: str, started: list[TemplateRenderer]) -> None:
    renderer = TemplateRenderer(template, {})
    started.append(renderer)
    try:
        (output,) = renderer.render([CONVERSATION])
    except TemplateError as error:
        output = str(error)
    assert not any(word in output for word in ("root:", "PATH", "<class", "uid=", "builtins"))


@pytest.mark.integration
@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}", "does not end"),
        ("{{ 9 ** (9 ** 9) }}", "does not end|OverflowError|MemoryError|ValueError"),
        ("{% set ns = namespace(s='x') %}{% for a in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s }}", "MemoryError|does not end"),
        ("{{ 'x' * 10 ** 10 }}", "MemoryError"),
        ("{{ 'x' * 10 ** 6 }}", "characters"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError"),
        ("{{ raise_exception('only system messages') }}", "only system messages"),
        ("{{ messages[7]['role'] }}", "UndefinedError"),
        ("{% for %}", "TemplateSyntaxError"),
    ],
)  # fmt: skip
def test_render_rejects_template_over_limits(
    template: str, message: str, started: list[TemplateRenderer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RENDER_SECONDS", 2.0)
    assert re.search(message, refusal(template, started))


@pytest.mark.integration
def test_render_raises_again_after_timeout(monkeypatch: pytest.MonkeyPatch, started: list[TemplateRenderer]) -> None:
    monkeypatch.setattr(module, "RENDER_SECONDS", 2.0)
    assert "does not end" in refusal(
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", started
    )
    renderer = started[-1]
    with pytest.raises(TemplateError):
        renderer.render([CONVERSATION])  # the rendering process is gone, so the error is raised again
