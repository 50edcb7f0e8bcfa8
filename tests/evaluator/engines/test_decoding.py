"""Test that decoding is greedy whatever a repository requests, and that reasoning has a separate budget."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, decoders, models
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from evaluator.core.data_types import Answer, Prompt
from evaluator.engines.decoding import Budgets
from evaluator.engines.generation_config import dropped_settings
from evaluator.engines.load import load_engine
from evaluator.engines.options import EngineOptions
from evaluator.engines.output import before_stop, control_tokens, read_output
from submissions.config.paths import ROOT
from submissions.hub_models.reasoning import THINK
from tests.support.slow import every_nth
from tests.support.zoo import all_families
from tests.support.zoo.parts import change_json
from tests.support.zoo.tokenizer_parts import byte_level, llama_pieces

pytestmark = pytest.mark.model

PROMPTS = [Prompt(str(n), text) for n, text in enumerate(("합계는 얼마입니까?", "가장 큰 것은 무엇입니까?", "1"))]
# Each changes the output of `generate(do_sample=False)` or makes it raise.
REPOSITORY_SETTINGS: list[dict[str, Any]] = [
    {"repetition_penalty": 1.9},
    {"num_beams": 3, "length_penalty": 2.0, "early_stopping": True},
    {"no_repeat_ngram_size": 1},
    {"sequence_bias": [[[5], 50.0]]},
    {"bad_words_ids": [[5], [6]]},
    {"guidance_scale": 3.0},
    {"watermarking_config": {"greenlist_ratio": 0.5, "bias": 20.0}},
    {"forced_eos_token_id": 5},
    {"forced_bos_token_id": 5},
    {"suppress_tokens": [1, 2, 3]},
    {"min_new_tokens": 20},
    {"exponential_decay_length_penalty": [1, 9.0]},
    {"stop_strings": ["a"]},
    {"num_return_sequences": 3, "do_sample": True},
    {"prompt_lookup_num_tokens": 3},
    {"penalty_alpha": 0.6, "top_k": 4},
    {"dola_layers": "low"},
    {"do_sample": True, "temperature": 5.0, "top_p": 0.9},
    {"cache_implementation": "no such"},
    {"max_new_tokens": -5},
    {"renormalize_logits": "yes", "watermarking_config": "x"},
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decoding") / "qwen2"
    all_families()["qwen2"].build(folder)
    return folder


def answers(folder: Path, **options: Any) -> dict[str, Answer]:
    engine = load_engine("chat", EngineOptions(folder, "float32", **{"max_new_tokens": 12, **options}))
    try:
        return {answer.id: answer for answer in engine.answer(PROMPTS)}
    finally:
        engine.close()


def texts(folder: Path, **options: Any) -> dict[str, str]:
    return {name: answer.text for name, answer in answers(folder, **options).items()}


def with_generation_config(model: Path, tmp_path: Path, requested: dict[str, Any]) -> Path:
    folder = tmp_path / "configured"
    shutil.copytree(model, folder)
    change_json(folder / "generation_config.json", **requested)
    return folder


@pytest.mark.parametrize("requested", every_nth(REPOSITORY_SETTINGS, 3), ids=lambda requested: next(iter(requested)))
def test_answers_ignore_settings_of_repository(model: Path, tmp_path: Path, requested: dict[str, Any]) -> None:
    plain = with_generation_config(
        model, tmp_path, dict.fromkeys(("do_sample", "temperature", "top_p", "top_k", "repetition_penalty"))
    )
    expected = texts(plain)
    shutil.rmtree(plain)
    folder = with_generation_config(model, tmp_path, requested)
    assert texts(folder) == expected
    assert dropped_settings(folder) or set(requested) <= {"cache_implementation", "max_new_tokens"}


def test_answer_that_a_stop_string_ends_is_complete(model: Path, tmp_path: Path) -> None:
    plain = answers(model, decoding="repository")
    name, text = next((name, answer.text) for name, answer in plain.items() if len(answer.text) > 3)
    assert plain[name].status == "truncated"
    folder = with_generation_config(model, tmp_path, {"stop_strings": [text[2]]})
    stopped = answers(folder, decoding="repository")[name]
    assert stopped.status == "ok" and text[2] in stopped.text


def test_model_without_the_best_attention_is_loaded_without_it(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = texts(model)
    monkeypatch.setattr("evaluator.engines.loading._best_attention", lambda precision: "flash_attention_2")
    assert texts(model) == expected


def test_decoding_repository_applies_penalties(model: Path, tmp_path: Path) -> None:
    folder = with_generation_config(model, tmp_path, {"repetition_penalty": 1.9, "do_sample": True, "temperature": 0.7})
    given = texts(folder, decoding="repository")
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    loaded: Any = AutoModelForCausalLM.from_pretrained(folder).eval()
    for prompt in PROMPTS:
        inputs = tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt.text}],
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
        )
        inputs.pop("token_type_ids", None)
        output = loaded.generate(**inputs, do_sample=False, max_new_tokens=12)
        expected = tokenizer.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True).strip()
        assert given[prompt.id] == expected
    assert given != texts(folder), "the penalty has an effect"


def test_dropped_settings_names_ignored_settings(tmp_path: Path) -> None:
    settings = {"do_sample": True, "temperature": 0.6, "top_k": 50, "repetition_penalty": 1.0, "made_up": 1}
    (tmp_path / "generation_config.json").write_text(json.dumps(settings))
    assert dropped_settings(tmp_path) == ["do_sample", "temperature"], "settings without an effect are not named"
    (tmp_path / "generation_config.json").write_text("[" * 100_000)
    assert dropped_settings(tmp_path) == []


class LetterTokenizer:
    """Decode one letter per token."""

    def decode(self, tokens: Any, skip_special_tokens: bool = True) -> str:
        return "".join(map(chr, tokens.tolist()))


def cut_off_at(output: str, *, begins_in_reasoning: bool = False, answer: int = 9, reasoning: int = 20) -> int | None:
    """Return the number of letters at which an output is cut off, or None if it is not."""
    budgets = Budgets(LetterTokenizer(), THINK, [begins_in_reasoning], 0, answer, reasoning)
    for length in range(1, len(output) + 1):
        if budgets(torch.tensor([[ord(letter) for letter in output[:length]]]), None)[0]:
            break
    return budgets.ended[0]


def test_budgets_limit_reasoning_and_answer_separately() -> None:
    assert cut_off_at("abcdefghijkl") == 9, "without reasoning, only the answer budget applies"
    assert cut_off_at("<think>ab</think>cdefghijklmn") == len("<think>ab</think>") + 9
    assert cut_off_at("ab</think>cdefghijklmn", begins_in_reasoning=True) == len("ab</think>") + 9
    assert cut_off_at("<think>" + "a" * 50) == 20, "the reasoning budget applies"
    assert cut_off_at("a" * 50, begins_in_reasoning=True) == 20
    assert cut_off_at("<think>ab</think>cd") is None
    assert cut_off_at("<think>a</think><think>" + "b" * 50, reasoning=30) == 30, (
        "reasoning that opens again is not an answer"
    )


@pytest.mark.parametrize(
    "family", ["qwen3", "qwen3_thinking", "deepseek_r1_distill_qwen", "gpt_oss", "solar_open", "hyperclovax"]
)
def test_answer_excludes_reasoning(family: str, tmp_path: Path) -> None:
    """Use models that were trained to reason and then to answer with a text that begins with `a`."""
    all_families()[family].build(tmp_path / family)
    found = answers(tmp_path / family, thinking="on" if family == "qwen3" else None, max_reasoning_tokens=40)
    for answer in found.values():
        assert answer.raw and answer.reasoning_tokens and answer.text.startswith("a"), answer
        assert "<" not in answer.text and answer.status != "empty"


def test_answer_is_empty_if_reasoning_is_cut_off(tmp_path: Path) -> None:
    all_families()["qwen3_thinking"].build(tmp_path / "m")
    for answer in answers(tmp_path / "m", max_reasoning_tokens=1).values():
        assert (answer.text, answer.status) == ("", "truncated") and answer.raw


def answer_of(generated: str, tokenizer: Any) -> str:
    """Return the answer in the tokens of a text, which ends with the end token."""
    stops = {tokenizer.eos_token_id}
    removed = control_tokens(tokenizer, [], stops)
    tokens = before_stop(tokenizer(generated, add_special_tokens=False)["input_ids"], stops)
    return read_output(tokenizer, tokens, None, removed, begins_in_reasoning=False).answer


def with_merges(*merges: tuple[str, str]) -> Any:
    """Return a tokenizer of letters that joins some of them."""
    letters = [chr(code) for code in range(32, 127)]
    pieces = [*letters, *map("".join, merges), "<unk>", "</s>"]
    model = models.BPE({piece: number for number, piece in enumerate(pieces)}, list(merges), unk_token="<unk>")
    tokenizer = Tokenizer(model)
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", unk_token="<unk>")


@pytest.mark.parametrize("answer", ["(A) 42", "-5.2", "7"])
def test_answer_keeps_what_shares_a_token_with_the_closing_tag(answer: str) -> None:
    tokenizer = with_merges((">", "("), (">", "-"))
    assert answer_of(f"<think>2+2</think>{answer}", tokenizer) == answer


def test_control_tokens_name_no_text_that_the_tokenizer_lacks() -> None:
    tokenizer = with_merges()
    texts = control_tokens(tokenizer, ["<image>"], []).values()
    assert set(texts) == {"<unk>", "</s>"}


@pytest.mark.parametrize(
    "text",
    [
        "<table><tr><th>서울</th><td>15</td></tr></table>",
        "<otsl><ched>구<fcel>15<nl><fcel>20<nl></otsl>",
        "<s>취소선</s> 1 < 2",
    ],
)
def test_special_tokens_that_are_text_stay(text: str) -> None:
    tags = [tag for tag in re.findall(r"<[^ >]+>", text) if tag not in ("<s>", "</s>")]
    tokenizer = byte_level([*tags, "<|box_start|>", "<|box_end|>"], eos_token="<|im_end|>", pad_token="<pad>")
    assert answer_of(f"{text}<|im_end|>", tokenizer) == text
    assert answer_of(f"<|box_start|>{text}<|box_end|><pad><|im_end|>", tokenizer) == text


@pytest.mark.parametrize("forced", [False, True])
def test_spaces_before_punctuation_stay(forced: bool) -> None:
    text = "제 1 조 .\n서울 , 부산 '가' 's ? ! n't"
    settings: dict[str, Any] = {"clean_up_tokenization_spaces": True}
    if forced:
        settings["clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"] = True
    for make in (byte_level, llama_pieces):
        assert answer_of(text, make(**{"eos_token": "</s>", **settings})) == text


REPORTED = json.loads((ROOT / "tests/cases/models/decoding.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", REPORTED, ids=lambda case: case["name"])
def test_reported_output_is_kept(case: dict[str, Any]) -> None:
    tags = [token["content"] for token in case.get("added_tokens", [])]
    settings = {"eos_token": "<|end|>", **case.get("tokenizer_config", {})}
    tokenizer = llama_pieces(**settings) if "Unigram" in case["name"] else byte_level(tags, **settings)
    assert answer_of(case["generated"], tokenizer) == case["right"]
