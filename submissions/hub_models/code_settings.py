"""Find settings in a repository's JSON files that would make transformers run code from elsewhere.

The checks refuse a model with such a setting, and the worker searches the downloaded files again. `auto_map` is not among
them: it names the repository's own code, which the operator can approve (`checks/model_checks.py`).
"""

import re
from collections.abc import Iterator
from typing import Any

# Refused with any value, because transformers does not write them and no model needs them.
CODE_KEYS = {"custom_pipelines", "custom_generate", "trust_remote_code", "kernel_config", "use_kernels"}
CODE_KEYS |= {"configuration_files"}  # names other files that settings are read from, which are not searched
JSON_TYPE_MARKS = {"__float__", "__type", "__type__"}  # keys that transformers writes for values JSON cannot express


def code_setting(values: Any) -> str | None:
    """Return the first key at any depth of a JSON value that would run code, or None.

    `{"vision_config": {"trust_remote_code": true}} -> "trust_remote_code"`
    """
    return next((key for key, value in pairs(values) if _runs_code(key, value)), None)


def _runs_code(key: str, value: Any) -> bool:
    """Return whether a setting would run code, or could replace what Python looks up in an object.

    A config is filled by `setattr` with all of its keys, so `__class__` would change what the config is.
    """
    # `attn_implementation: "OWNER/NAME:function"` loads a kernel from the Hub, and `_attn_implementation_internal` is the
    # attribute in which transformers keeps it. The kernels of transformers are plain words. A dict has one for each part.
    names_implementation = key.removesuffix("_internal").endswith("_implementation")
    implementations = value.values() if isinstance(value, dict) else [value]
    is_on_hub = any(re.search("[/:]", str(implementation)) for implementation in implementations)
    replaces_internals = key.startswith("__") and key not in JSON_TYPE_MARKS
    return key in CODE_KEYS or (names_implementation and is_on_hub) or replaces_internals


def pairs(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every key of a JSON value with its value, at any depth. A loop, because files may be nested very deeply."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            yield from part.items()
            pending += part.values()
        elif isinstance(part, list):
            pending += part
