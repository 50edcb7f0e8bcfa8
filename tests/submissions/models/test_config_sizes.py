"""Tests of the comparison of a config's sizes with the weights: real configs pass, whatever they share or leave out."""

import pytest

from submissions.models.config_sizes import oversized

# Sizes as their makers publish them, and the parameters there are.
REAL: dict[str, tuple[dict[str, object], int, int]] = {
    "bert-base": ({"hidden_size": 768, "num_hidden_layers": 12, "intermediate_size": 3072, "vocab_size": 30522}, 199, 109_482_240),
    "albert-xlarge": (
        {"hidden_size": 2048, "num_hidden_layers": 24, "intermediate_size": 8192, "embedding_size": 128, "vocab_size": 30000},
        25,
        58_724_864,
    ),
    "albert-xxlarge": (
        {"hidden_size": 4096, "num_hidden_layers": 12, "intermediate_size": 16384, "embedding_size": 128, "vocab_size": 30000},
        25,
        222_595_584,
    ),
    "mobilebert": ({"hidden_size": 512, "num_hidden_layers": 24, "intermediate_size": 512, "vocab_size": 30522}, 1113, 24_581_888),
    "qwen3-30b-a3b": (
        {"hidden_size": 2048, "num_hidden_layers": 48, "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128, "vocab_size": 151936},
        18867,
        30_532_122_624,
    ),
    "llama-4-maverick": (
        {"text_config": {"hidden_size": 5120, "num_hidden_layers": 48, "intermediate_size": 8192, "num_local_experts": 128, "vocab_size": 202048}},
        1061,
        401_583_781_376,
    ),
    "deepseek-v3": (
        {"hidden_size": 7168, "num_hidden_layers": 61, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256, "vocab_size": 129280},
        91991,
        684_531_386_000,
    ),
    "qwen2.5-vl-3b": (
        {"hidden_size": 2048, "num_hidden_layers": 36, "intermediate_size": 11008, "vocab_size": 151936, "vision_config": {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420}},
        824,
        3_754_622_976,
    ),
    "gemma-3-270m": ({"hidden_size": 640, "num_hidden_layers": 18, "intermediate_size": 2048, "vocab_size": 262144}, 236, 268_098_176),
    "t5-small": ({"d_model": 512, "num_layers": 6, "d_ff": 2048, "vocab_size": 32128}, 131, 60_506_624),
}  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_published_configs_fit_their_weights(name: str) -> None:
    config, tensors, parameters = REAL[name]
    assert oversized(config, tensors, parameters) == ""


def test_oversized_names_what_is_too_much() -> None:
    config = dict(REAL["bert-base"][0])
    assert oversized({**config, "num_hidden_layers": 10**9}, 199, 10**6) == "1,000,000,000 layers, 199 tensors"
    assert "parameters" in oversized({**config, "hidden_size": 10**6}, 199, 109_482_240)
    assert oversized({"text_config": [{"num_layers": True, "hidden_size": "x"}], "vocab_size": -1}, 1, 1) == ""
