"""Test what a configuration shows of a model's parts."""

from typing import Any

import pytest

from submissions.hub_models.shown_architecture import shown_architecture


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
