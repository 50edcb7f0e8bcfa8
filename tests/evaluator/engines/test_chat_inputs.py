"""Test that the template renderer gives a chat model the same prompts as transformers."""

import json
import shutil
from pathlib import Path

import pytest
from transformers import AutoProcessor

from evaluator.engines.chat import ChatEngine
from evaluator.engines.options import EngineOptions
from submissions.hub_models.template_renderer import TemplateRenderer
from tests.support.tiny_models import TEMPLATE

pytestmark = pytest.mark.model


def test_render_matches_transformers(models_dir: Path) -> None:
    """Check images, special tokens and Korean: the separate process changes nothing."""
    folder = models_dir / "tiny/image-text"
    processor = AutoProcessor.from_pretrained(folder)
    conversations = [
        [{"role": "user", "content": [{"type": "image", "image": "image"}, {"type": "text", "text": text}]}]
        for text in ("합계는 몇 천 명입니까?", "{{ 7 * 7 }} {% raw %}", 'quote " and \\ and </s>', "여러\n줄\t끝 ")
    ]
    renderer = TemplateRenderer(TEMPLATE, processor.tokenizer.special_tokens_map)
    try:
        rendered = renderer.render(conversations)
    finally:
        renderer.close()
    expected = [
        processor.apply_chat_template(
            [{"role": "user", "content": [{"type": "image"}, c[0]["content"][1]]}], add_generation_prompt=True
        )
        for c in conversations
    ]
    assert rendered == expected


def test_chat_engine_uses_default_of_named_templates(models_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "named"
    shutil.copytree(models_dir / "tiny/image-text", folder)
    (folder / "chat_template.jinja").unlink()
    named = {"default": TEMPLATE, "tool_use": "{{ raise_exception('no tools') }}"}
    (folder / "additional_chat_templates").mkdir()
    for name, text in named.items():
        target = folder / ("chat_template.jinja" if name == "default" else f"additional_chat_templates/{name}.jinja")
        target.write_text(text)
    engine = ChatEngine(EngineOptions(folder, "float32", 4))
    engine.close()
    assert json.loads((folder / "config.json").read_text())["model_type"] == "llava"
