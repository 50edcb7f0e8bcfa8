"""Read a repository's generation config. Plain greedy decoding uses only its token ids. Imports no model library."""

import json
import shutil
from pathlib import Path
from typing import Any

FILE_NAME = "generation_config.json"
TOKEN_IDS = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id")
# Settings that plain greedy decoding ignores, each with a value that asks for nothing special: the default of transformers
# (`top_k` 50), or one without an effect.
NEUTRAL_VALUES: dict[str, Any] = {
    "do_sample": False,
    "temperature": 1.0,
    "top_k": 50,
    "top_p": 1.0,
    "min_p": 0.0,
    "typical_p": 1.0,
    "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0,
    "num_beams": 1,
    "num_beam_groups": 1,
    "diversity_penalty": 0.0,
    "repetition_penalty": 1.0,
    "encoder_repetition_penalty": 1.0,
    "length_penalty": 1.0,
    "early_stopping": False,
    "no_repeat_ngram_size": 0,
    "encoder_no_repeat_ngram_size": 0,
    "min_length": 0,
    "min_new_tokens": None,
    "penalty_alpha": None,
    "dola_layers": None,
    "guidance_scale": None,
    "sequence_bias": None,
    "bad_words_ids": None,
    "force_words_ids": None,
    "constraints": None,
    "renormalize_logits": False,
    "forced_bos_token_id": None,
    "forced_eos_token_id": None,
    "suppress_tokens": None,
    "begin_suppress_tokens": None,
    "exponential_decay_length_penalty": None,
    "watermarking_config": None,
    "token_healing": False,
    "stop_strings": None,
    "num_return_sequences": 1,
    "prompt_lookup_num_tokens": None,
    "remove_invalid_values": False,
    "low_memory": None,
    "max_time": None,
    "use_cache": True,
}


def repository_settings(folder: Path) -> dict[str, Any]:
    """Return the settings in a model's generation config, or in config.json if it has none.

    Of config.json only the token ids mean anything. Return an empty dict if the file is unreadable.
    """
    return _read(folder / (FILE_NAME if (folder / FILE_NAME).exists() else "config.json"))


def dropped_settings(folder: Path) -> list[str]:
    """Return the names of the settings that a generation config asks for and that plain greedy decoding ignores.

    Settings in config.json are not named: transformers takes only token ids from it, so they have no effect in any decoding.
    """
    settings = _read(folder / FILE_NAME)
    return sorted(name for name, value in NEUTRAL_VALUES.items() if settings.get(name, value) not in (value, None))


def greedy_view(model: Path, view: Path) -> Path:
    """Create the folder `view` with links to a model's files and a generation config for plain greedy decoding.

    It is for servers that read decoding settings from the model's folder. Return `view`.
    """
    shutil.rmtree(view, ignore_errors=True)
    view.mkdir(parents=True)
    for path in model.iterdir():
        # An adapter in the folder of a full model is ignored, as in `loading.from_pretrained`.
        if path.name != FILE_NAME and not path.name.startswith("adapter_"):
            (view / path.name).symlink_to(path)
    settings = _read(model / FILE_NAME)
    if token_ids := {name: settings[name] for name in TOKEN_IDS if name in settings}:
        (view / FILE_NAME).write_text(json.dumps({**token_ids, "do_sample": False}), encoding="utf-8")
    return view


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
