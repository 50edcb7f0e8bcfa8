"""Test that chat templates cannot hang, exhaust or escape the process that renders them."""

import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator.core.errors import SandboxError
from evaluator.engines.registry import REGISTRY
from evaluator.sandbox.policy import try_sandbox
from submissions.hub_models import template_renderer as module
from submissions.hub_models.template_renderer import Isolate, TemplateRenderer, default_template, not_isolated
from submissions.texts.errors import TemplateError, TemplateProcessError
from tests.submissions.hub_models.conftest import Renderers

CONVERSATION = [{"role": "user", "content": "표에서 합계는?"}]


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
def test_render_blocks_sandbox_escape(template: str, renderer: Renderers) -> None:
    try:
        (output,) = renderer(template).render([CONVERSATION])
    except TemplateError as error:
        output = str(error)
    assert not any(word in output for word in ("root:", "PATH", "<class", "uid=", "builtins"))


@pytest.mark.parametrize(
    "template",
    [
        "{{ tojson | default('') }}{{ messages | tojson(indent=1, sort_keys=true) }}",
        "{% filter tojson(ensure_ascii=true) %}표{% endfilter %}",
        "{{ dict(a=1) | tojson }}{{ dict.fromkeys(['a'], 2) }}",
        "{% set n = namespace(count=1) %}{% set n.count = 2 %}{{ n.count }}",
        "{{ strftime_now(format='%%') }}",
        "{% if false %}{{ raise_exception(message='no') }}{% endif %}",
        "{% for m in messages %}{% if loop.first %}{% break %}{% endif %}{% endfor %}-",
    ],
)
def test_render_has_the_functions_of_transformers(template: str, renderer: Renderers) -> None:
    from transformers.utils.chat_template_utils import render_jinja_template

    (expected,), _ = render_jinja_template([CONVERSATION], chat_template=template)
    assert renderer(template).render([CONVERSATION]) == [expected]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("template", "message"),
    [
        pytest.param("{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}", "does not end", marks=pytest.mark.slow),
        pytest.param("{{ 9 ** (9 ** 9) }}", "does not end|OverflowError|MemoryError|ValueError", marks=pytest.mark.slow),
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
    template: str, message: str, renderer: Renderers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RENDER_SECONDS", 2.0)
    started = renderer(template)
    with pytest.raises(TemplateError) as error:
        started.render([CONVERSATION])
    assert re.search(message, str(error.value))
    if "does not end" in str(error.value):  # the rendering process is gone, so the error is raised again
        with pytest.raises(TemplateError):
            started.render([CONVERSATION])


def child_environment(renderer: TemplateRenderer) -> str:
    """Return the environment of the process that renders, as its kernel knows it."""
    renderer.render([[{"role": "user", "content": "?"}]])
    children = Path(f"/proc/{renderer.process_id}/task/{renderer.process_id}/children").read_text().split()
    tree = [str(renderer.process_id), *children]
    return "".join(Path(f"/proc/{pid}/environ").read_text(errors="replace") for pid in tree)


@pytest.mark.parametrize("isolate", [not_isolated, REGISTRY.isolate])
def test_renderer_has_no_secret_in_its_environment(isolate: Isolate, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HANNUN_HUB_TOKEN", "HANNUN_DETAILS_KEY", "HF_TOKEN"):
        monkeypatch.setenv(name, "secret-of-the-operator")
    renderer = TemplateRenderer("{{ messages[0].content }}", {}, isolate)
    try:
        assert "secret-of-the-operator" not in child_environment(renderer)
        status = Path(f"/proc/{renderer.process_id}/status").read_text()
        assert isolate is not not_isolated or "NoNewPrivs:\t1" in status
    finally:
        renderer.close()


def test_check_renders_in_sandbox(tmp_path: Path) -> None:
    """What an escape from Jinja's sandbox could read: nothing but this project's code."""
    try:
        try_sandbox()
    except SandboxError as error:
        pytest.skip(str(error))
    secret = tmp_path / "secret"
    secret.write_text("private")
    secret.chmod(0o644)
    environment = {"PATH": os.environ["PATH"]}
    program = f"import os, socket; print(os.path.exists({str(secret)!r}), os.getuid() != 0)"
    command = REGISTRY.isolate([sys.executable, "-c", program], environment)
    shown = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert shown.stdout.split() == ["False", "True"], shown.stderr


def test_renderer_works_in_a_process_with_many_open_files(renderer: Renderers) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limits[1], 4096), limits[1]))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        assert renderer("{{ messages[0].content }}").render([CONVERSATION]) == ["표에서 합계는?"]
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize(
    ("setting", "template"),
    [
        ("t", "t"),
        ({"tool_use": "u", "default": "t"}, "t"),
        ([{"name": "tool_use", "template": "u"}, {"name": "default", "template": "t"}], "t"),
        ([{"name": "tool_use", "template": "u"}], "u"),
        ([{"name": ["default"], "template": "t"}], None),
        ([{"name": "default", "template": ["t"]}], None),
        ([{"template": "t"}, "t", None], None),
        ([], None),
        (1, None),
    ],
)
def test_default_template_of_any_setting(setting: Any, template: str | None) -> None:
    """The setting is a stranger's, so its names and templates may be anything that JSON has."""
    assert default_template(setting) == template


def test_renderer_has_time_for_all_batches_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check renders a template several times, each of which may be slow."""
    renderer = TemplateRenderer("{% for a in range(99999) %}{% endfor %}x", {}, seconds=0.05)
    try:
        with pytest.raises(TemplateError, match="does not end"):
            for _ in range(1000):
                renderer.render([CONVERSATION])
    finally:
        renderer.close()


def test_killed_renderer_is_no_fault_of_the_template(renderer: Renderers) -> None:
    """As when the kernel ends it because memory runs out."""
    killed = renderer("{{ messages[0].content }}")
    assert killed.render([CONVERSATION])
    os.kill(killed.process_id, signal.SIGKILL)
    with pytest.raises(TemplateProcessError):
        killed.render([CONVERSATION])


def test_renderer_that_cannot_start_is_no_fault_of_the_template() -> None:
    renderer = TemplateRenderer("{{ messages[0].content }}", {}, lambda command, _: ["false"])
    with pytest.raises(TemplateProcessError):
        renderer.render([[{"role": "user", "content": "hi"}]])


def test_template_that_ends_its_process_is_at_fault() -> None:
    """A process that has answered, and then ends by itself without an answer."""
    script = "import sys; print('\"ready\"', flush=True); sys.stdin.readline(); sys.stdin.readline()"
    renderer = TemplateRenderer("x", {}, lambda command, _: [sys.executable, "-c", script])
    with pytest.raises(TemplateError, match="ended its process"):
        renderer.render([[{"role": "user", "content": "hi"}]])
