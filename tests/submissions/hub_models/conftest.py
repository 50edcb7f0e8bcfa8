"""Render chat templates in a process that ends with the test."""

from collections.abc import Callable, Iterator

import pytest

from submissions.hub_models.template_renderer import TemplateRenderer

Renderers = Callable[[str], TemplateRenderer]


@pytest.fixture
def renderer() -> Iterator[Renderers]:
    """Return a function that starts the renderer of a template."""
    started: list[TemplateRenderer] = []

    def start(template: str) -> TemplateRenderer:
        started.append(TemplateRenderer(template, {"eos_token": "</s>"}))
        return started[-1]

    yield start
    for one in started:
        one.close()
