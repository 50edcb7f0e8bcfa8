"""Compare a model's weights with those of the model that its card names as its base, if both are on this machine.

The number of equal tensors shows whether a model was trained at all, or which parts of it. `run.py` adds it to a result.
"""

import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from huggingface_hub import get_local_safetensors_metadata

from submissions.config.settings import Settings
from submissions.hub_models.repository import LENGTH_BYTES, local_model
from submissions.hub_models.shown_architecture import possible_base_keys
from submissions.records.result import EvalResult

log = logging.getLogger(__name__)

CHUNK = 1_000_000  # bytes compared at a time; most tensors of a trained model differ within the first

TensorKey = tuple[str, tuple[int, ...]]  # a tensor's name and shape


@dataclass(frozen=True)
class _Tensor:
    """The type of a tensor, and the bytes of its values: a part of a file that is mapped into memory."""

    dtype: str
    values: np.ndarray


def with_equal_tensors(result: EvalResult, model: Path, settings: Settings, stop: threading.Event) -> EvalResult:
    """Record how many tensors of the declared base have the same values in the model.

    The result stays as it is if the base is not on this machine or cannot be read.
    """
    config = result.config
    # `shown` is what the model's config.json shows of its architecture. It also has the number of tensors with the names and
    # shapes of the base's (`with_base_tensors`), and only those are compared here.
    if not (config.base_model and config.shown and config.shown.base_tensors_found):
        return result
    base = _folder(config.base_model, settings)
    if base is None:
        return result
    try:
        equal = equal_tensors(model, base, stop)
    except Exception as error:  # the files are of strangers, and no result may be lost because of them
        log.warning("the weights of %s cannot be compared: %s: %s", base, type(error).__name__, error)
        return result
    if stop.is_set():
        return result
    # The base's folder may hold its tensors twice, as `model.safetensors` and in shards. Each is then counted twice.
    shown = config.shown.evolve(base_tensors_equal=min(equal, config.shown.base_tensors_found))
    return result.evolve(config=config.evolve(shown=shown.model_dump()).model_dump())


def equal_tensors(model: Path, base: Path, stop: threading.Event) -> int:
    """Return how many tensors of `base` are in `model` with the same name, shape, type and values.

    Both are folders of safetensors files. The names in `model` may have a prefix. It ends early once `stop` is set.
    """
    own: dict[TensorKey, list[_Tensor]] = {}
    for (name, shape), tensor in _tensors(model):
        # "language_model.model.norm.weight" may be the base's "model.norm.weight".
        for key in possible_base_keys(name, shape):
            own.setdefault(key, []).append(tensor)
    equal = 0
    for key, tensor in _tensors(base):
        if stop.is_set():
            break
        equal += any(_are_equal(tensor, candidate) for candidate in own.get(key, ()))
    return equal


def _folder(model_id: str, settings: Settings) -> Path | None:
    """Return the folder of a model on this machine: the one it is given in, or the downloaded one used last."""
    if folder := local_model(model_id, settings.models_dir):
        return folder
    downloaded = (settings.work_dir / "models" / model_id.replace("/", "--")).glob("[0-9a-f]*")
    folders = [path for path in downloaded if path.is_dir() and path.suffix != ".partial"]
    return max(folders, key=lambda path: path.stat().st_mtime, default=None)


def _tensors(folder: Path) -> Iterator[tuple[TensorKey, _Tensor]]:
    """Yield the tensors of all safetensors files in a folder by name and shape.

    Such a file has the length of its header in LENGTH_BYTES, the header, and the values of all tensors.
    """
    for path in sorted(folder.glob("*.safetensors")):
        content = np.memmap(path, np.uint8, "r")
        header_length = int.from_bytes(content[:LENGTH_BYTES].tobytes(), "little")
        data = content[LENGTH_BYTES + header_length :]
        header = get_local_safetensors_metadata(path).files_metadata[path.name]
        for name, tensor in header.tensors.items():
            start, end = tensor.data_offsets
            yield (name, tuple(tensor.shape)), _Tensor(tensor.dtype, data[start:end])


def _are_equal(first: _Tensor, second: _Tensor) -> bool:
    """Return whether two tensors have the same type and values. Reading stops at the first chunk that differs."""
    if first.dtype != second.dtype or first.values.size != second.values.size:
        return False
    chunks = (slice(start, start + CHUNK) for start in range(0, first.values.size, CHUNK))
    return all(np.array_equal(first.values[chunk], second.values[chunk]) for chunk in chunks)
