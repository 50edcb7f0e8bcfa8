"""Test what a configuration shows of a model's parts."""

import shutil
from pathlib import Path
from typing import Any, NoReturn

import pytest

from evaluator.engines.registry import REGISTRY
from submissions.checks.model_checks import check_model
from submissions.hub_models.shown_architecture import shown_architecture, with_base_tensors


def test_parts_of_a_vision_language_model_are_read() -> None:
    shown = shown_architecture(
        {
            "architectures": ["LlavaOnevisionForConditionalGeneration"],
            "model_type": "llava_onevision",
            "text_config": {"model_type": "qwen3", "num_hidden_layers": 40, "hidden_size": 5120, "vocab_size": 151_936},
            "vision_config": {"model_type": "siglip_vision_model", "num_hidden_layers": 27, "hidden_size": 1152},
        }
    )
    assert (shown.class_name, shown.text_type, shown.text_layers) == (
        "LlavaOnevisionForConditionalGeneration",
        "qwen3",
        40,
    )
    assert (shown.text_width, shown.vocabulary) == (5120, 151_936)
    assert (shown.vision_type, shown.vision_layers, shown.vision_width) == ("siglip_vision_model", 27, 1152)


def test_width_of_a_vision_encoder_is_not_that_of_its_output() -> None:
    vision = {"depth": 32, "embed_dim": 1280, "hidden_size": 3584}
    shown = shown_architecture({"model_type": "qwen2_vl", "hidden_size": 3584, "vision_config": vision})
    assert (shown.vision_layers, shown.vision_width, shown.text_width) == (32, 1280, 3584)


def test_parts_of_a_thinker_are_read() -> None:
    text = {"model_type": "qwen2_5_omni_text", "num_hidden_layers": 28, "hidden_size": 3584, "vocab_size": 152_064}
    vision = {"model_type": "qwen2_5_omni_vision_encoder", "depth": 32, "hidden_size": 1280}
    thinker = {"model_type": "qwen2_5_omni_thinker", "text_config": text, "vision_config": vision}
    shown = shown_architecture({"model_type": "qwen2_5_omni", "thinker_config": thinker})
    assert (shown.text_type, shown.text_layers, shown.vocabulary) == ("qwen2_5_omni_text", 28, 152_064)
    assert (shown.vision_type, shown.vision_layers, shown.vision_width) == ("qwen2_5_omni_vision_encoder", 32, 1280)


def _unreachable(*_: object) -> NoReturn:
    raise OSError("no route to host")


OWN = {
    "model.language_model.layers.0.q.weight": (8, 4),
    "model.language_model.layers.1.q.weight": (8, 4),
    "model.vision.patch.weight": (3, 3),
    "lm_head.weight": (9, 4),
}


@pytest.mark.parametrize(
    ("base", "tensors", "found"),
    [
        ({"layers.0.q.weight": (8, 4), "layers.1.q.weight": (8, 4), "lm_head.weight": (10, 4)}, 3, 2),
        (OWN, 4, 4),
        ({"model.layers.0.q.weight": (8, 4), "model.layers.1.q.weight": (8, 4), "lm_head.weight": (9, 4)}, 3, 3),
        ({"layers.0.q.weight": (4, 8)}, 1, 0),
        ({"weight": (9, 4)}, 1, 1),
        ({}, None, None),
    ],
)
def test_tensors_of_the_declared_base_are_counted(
    base: dict[str, tuple[int, ...]], tensors: int | None, found: int | None
) -> None:
    shown = with_base_tensors(shown_architecture({}), OWN, base)
    assert (shown.base_tensors, shown.base_tensors_found) == (tensors, found)


def test_check_compares_a_model_with_the_base_that_its_card_names(
    models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base that cannot be read is no reason to refuse the model."""
    monkeypatch.setattr("submissions.hub_models.open_repository._hub_repository", _unreachable)
    for name, base in (("made", "tiny/image-text"), ("alone", "no/such-model")):
        folder = shutil.copytree(models_dir / "tiny/image-text", tmp_path / "own" / name)
        (folder / "README.md").write_text(f"---\nlicense: mit\nbase_model: {base}\n---\n")
    shutil.copytree(models_dir / "tiny/image-text", tmp_path / "tiny/image-text")
    shown = {}
    for name in ("made", "alone"):
        report = check_model(f"own/{name}", None, tmp_path, REGISTRY, max_bytes=10**9)
        assert report.facts and report.facts.shown
        shown[name] = report.facts.shown
    assert shown["made"].base_tensors and shown["made"].base_tensors == shown["made"].base_tensors_found
    assert shown["alone"].base_tensors is None


def test_flat_configuration_shows_its_language_model() -> None:
    shown = shown_architecture(
        {
            "model_type": "qwen2_5_vl",
            "num_hidden_layers": 36,
            "hidden_size": 2048,
            "vision_config": {"depth": 32, "embed_dim": 1280},
        }
    )
    assert (shown.text_type, shown.text_layers, shown.text_width) == ("qwen2_5_vl", 36, 2048)
    assert (shown.vision_type, shown.vision_layers, shown.vision_width) == (None, 32, 1280)


@pytest.mark.parametrize(
    "value", [None, True, 1.5, -1, 0, 10**30, "27", [27], {"a": 1}, "<script>", "a" * 101, "두 층", float("nan")]
)
def test_values_of_another_form_are_not_stated(value: Any) -> None:
    part = {"model_type": value, "num_hidden_layers": value, "hidden_size": value, "vocab_size": value}
    shown = shown_architecture({"architectures": value, "text_config": part, "vision_config": part})
    if value == "27":  # a plain string is a name, but no size
        assert shown.model_dump(exclude_none=True).keys() <= {"text_type", "vision_type"}
    else:
        assert shown.model_dump(exclude_none=True) == {}
    assert shown_architecture({"text_config": value, "vision_config": value}).model_dump(exclude_none=True) == {}
