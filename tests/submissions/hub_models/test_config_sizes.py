"""Test the comparison of config sizes with the weights: real configs pass, even if they share or omit sizes."""

import pytest

from submissions.hub_models.config_sizes import describe_excess_image_setting, describe_excess_size

# Published config sizes, each with the real number of parameters.
REAL: dict[str, tuple[dict[str, object], int]] = {
    "bert-base": ({"hidden_size": 768, "num_hidden_layers": 12, "intermediate_size": 3072, "vocab_size": 30522}, 109_482_240),
    "albert-xlarge": (
        {"hidden_size": 2048, "num_hidden_layers": 24, "intermediate_size": 8192, "embedding_size": 128, "vocab_size": 30000},
        58_724_864,
    ),
    "albert-xxlarge": (
        {"hidden_size": 4096, "num_hidden_layers": 12, "intermediate_size": 16384, "embedding_size": 128, "vocab_size": 30000},
        222_595_584,
    ),
    "mobilebert": ({"hidden_size": 512, "num_hidden_layers": 24, "intermediate_size": 512, "vocab_size": 30522}, 24_581_888),
    "qwen3-30b-a3b": (
        {"hidden_size": 2048, "num_hidden_layers": 48, "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128, "vocab_size": 151936},
        30_532_122_624,
    ),
    "llama-4-maverick": (
        {"text_config": {"hidden_size": 5120, "num_hidden_layers": 48, "intermediate_size": 8192, "num_local_experts": 128, "vocab_size": 202048}},
        401_583_781_376,
    ),
    "deepseek-v3": (
        {"hidden_size": 7168, "num_hidden_layers": 61, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256, "vocab_size": 129280},
        684_531_386_000,
    ),
    "qwen2.5-vl-3b": (
        {"hidden_size": 2048, "num_hidden_layers": 36, "intermediate_size": 11008, "vocab_size": 151936, "vision_config": {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420}},
        3_754_622_976,
    ),
    "doge-320m": ({"hidden_size": 1024, "num_hidden_layers": 32, "intermediate_size": 2048, "num_experts": 16384, "is_moe": False, "vocab_size": 32768}, 335_000_000),
    "gemma-3-270m": ({"hidden_size": 640, "num_hidden_layers": 18, "intermediate_size": 2048, "vocab_size": 262144}, 268_098_176),
    "swin-base": ({"embed_dim": 128, "depths": [2, 2, 18, 2], "num_heads": [4, 8, 16, 32], "image_size": 224}, 87_768_224),
    "gemma-3n-e2b": ({"hidden_size": 2048, "num_hidden_layers": 30, "intermediate_size": [8192] * 30, "vocab_size": 262400}, 5_439_438_272),
    "t5-small": ({"d_model": 512, "num_layers": 6, "d_ff": 2048, "vocab_size": 32128}, 60_506_624),
}  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_oversized_accepts_published_config(name: str) -> None:
    config, parameters = REAL[name]
    assert describe_excess_size(config, parameters) == ""


def test_oversized_describes_excess() -> None:
    config = dict(REAL["bert-base"][0])
    assert describe_excess_size({**config, "num_hidden_layers": 10**9}, 10**6) == "1,000,000,000 > 1,000 layers"
    assert "parameters" in describe_excess_size({**config, "hidden_size": 10**6}, 109_482_240)
    assert "layers" in describe_excess_size({"vision_config": {"depths": [2, 2, 10**9, 2]}}, 10**9)
    assert "layers" in describe_excess_size({"parts": [[{"num_layers": 10**9}]]}, 10**9)
    assert "parameters" in describe_excess_size({"hidden_size": 10**4000, "num_layers": 1}, 1), (
        "a number of 4,000 digits is formatted without an error"
    )
    assert describe_excess_size({"text_config": [{"num_layers": True, "hidden_size": "x"}], "vocab_size": -1}, 1) == ""


def test_oversized_images_describes_excess() -> None:
    real = {"size": {"shortest_edge": 3136, "longest_edge": 12845056}, "crop_size": {"height": 336, "width": 336}}
    assert describe_excess_image_setting(real) == ""
    assert (
        describe_excess_image_setting({"image_processor": {"size": {"height": 30000, "width": 30}}})
        == "height: 30,000 > 16,384"
    )
    for setting in ({"crop_size": 10**6}, {"size": [224, 10**6]}, {"parts": [{"image_size": 10**6}]}):
        assert "1,000,000 > 16,384" in describe_excess_image_setting(setting)
    assert "longest_edge" in describe_excess_image_setting({"size": {"longest_edge": 10**9, "shortest_edge": 3136}})
    assert "num_additional_image_tokens" in describe_excess_image_setting({"num_additional_image_tokens": 10**9})
