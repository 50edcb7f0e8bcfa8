"""Check an adapter, which changes some weights of a base model: its settings, and whether its weights fit the base.

`model_checks` calls these functions for its checks of the base model and of the weights.
"""

import re
from collections.abc import Iterable

from submissions.hub_models.quantization import quantization_of
from submissions.hub_models.repository import ADAPTER, Repository, Shapes, parsed_json
from submissions.texts.errors import RefusedError
from submissions.texts.refusals import RefusalCode

ADAPTER_TYPES = {"LORA"}
MAX_RANK = 4096


def check_adapter_settings(adapter: Repository) -> None:
    """Raise RefusedError if the kind, the initialisation or a rank of an adapter is not supported."""
    settings = parsed_json(ADAPTER, adapter.settings_files[ADAPTER])
    kind = settings.get("peft_type")
    if kind not in ADAPTER_TYPES:
        raise RefusedError(RefusalCode.ADAPTER_KIND, str(kind)[:50])
    # How weights are initialised before the adapter's own replace them. "pissa_niter_16" sets a number of iterations, which
    # could be huge, so a value with a digit is refused.
    initialisation = settings.get("init_lora_weights")
    if isinstance(initialisation, str) and any(c.isdigit() for c in initialisation):
        raise RefusedError(RefusalCode.ADAPTER_KIND, f"init_lora_weights: {initialisation[:50]}")
    ranks = [settings.get("r")]
    rank_by_module = settings.get("rank_pattern")
    if isinstance(rank_by_module, dict):
        ranks += rank_by_module.values()
    if not all(type(rank) is int and 0 < rank <= MAX_RANK for rank in ranks):
        raise RefusedError(RefusalCode.ADAPTER_KIND, f"r must be from 1 to {MAX_RANK:,}")


def check_adapter_weights(adapter: Repository, base: Repository) -> None:
    """Check by the names and shapes of the weights that an adapter is whole and fits its base model.

    A LoRA adapter adds a product of two small matrices to a weight of its base model: `lora_B` (output width × rank) times
    `lora_A` (rank × input width). DoRA, a variant, also has a vector of magnitudes for each weight. Whether every weight
    finds its place is known only when both are loaded, because libraries rename weights.
    """
    settings = parsed_json(ADAPTER, adapter.settings_files[ADAPTER])
    own = adapter.shapes
    # A quantised base has its weights packed, in shapes that say nothing about the adapter's.
    of_base = {} if quantization_of(base.config.values) else base.shapes
    modules = {name.rpartition(".lora_A.")[0] for name in own if ".lora_A." in name}  # with an adapted weight
    if not modules:
        raise RefusedError(RefusalCode.ADAPTER_NAMES, "lora_A")
    wanted = ["lora_B.weight"]
    if settings.get("use_dora"):
        wanted.append("lora_magnitude_vector")
    for module in sorted(modules):
        for part in wanted:
            # PEFT saves DoRA's vector without ".weight" at the end of its name, which it has in memory.
            if f"{module}.{part}" not in own and f"{module}.{part}.weight" not in own:
                raise RefusedError(RefusalCode.ADAPTER_NAMES, f"{module[:100]}: {part}")
        if fault := _shape_fault(module, own, of_base):
            raise RefusedError(RefusalCode.ADAPTER_NAMES, f"{module[:100]}: {fault}")
    highest = _highest_layer(own)
    highest_of_base = _highest_layer(of_base)
    if highest is not None and highest_of_base is not None and highest > highest_of_base:
        raise RefusedError(RefusalCode.ADAPTER_NAMES, f"layers.{highest} > layers.{highest_of_base}")


def _shape_fault(module: str, own: Shapes, of_base: Shapes) -> str:
    """Return how the shapes of an adapter's module contradict each other or the weight of the base, or ""."""
    down = own.get(f"{module}.lora_A.weight", ())
    up = own.get(f"{module}.lora_B.weight", ())
    if len(down) != 2 or len(up) != 2:  # of a convolution, or named in another way
        return ""
    if down[0] != up[1]:
        return f"lora_A {down[0]} × {down[1]}, lora_B {up[0]} × {up[1]}"
    # Libraries rename the start of a weight's name, so only its end is compared: layers.0.self_attn.q_proj.weight.
    last_parts = module.split(".")[-4:]
    ending = f".{'.'.join(last_parts)}.weight"
    found = [shape for name, shape in of_base.items() if f".{name}".endswith(ending) and len(shape) == 2]
    fits = {(up[0], down[1]), (down[1], up[0])}  # some models, such as GPT-2, store them transposed
    if found and fits.isdisjoint(found):
        return f"{up[0]} × {down[1]} ≠ {found[0][0]} × {found[0][1]}"
    return ""


def _highest_layer(names: Iterable[str]) -> int | None:
    """Return the highest number of a layer in names of weights, or None if they have none."""
    found = (re.search(r"\.(?:layers|h|blocks?)\.(\d{1,6})\.", f".{name}") for name in names)
    return max((int(one[1]) for one in found if one), default=None)
