"""Settings by which a repository would have code run that is not transformers' own."""

from collections.abc import Iterator
from typing import Any

CODE_KEYS = {"custom_pipelines", "custom_generate", "trust_remote_code", "kernel_config", "use_kernels"}
CODE_KEYS |= {"configuration_files"}  # other files that settings are read from, under names of their own
SPELLINGS = {"__float__", "__type", "__type__"}  # how transformers writes what JSON cannot say


def code_setting(values: Any) -> str | None:
    """The first such key at any depth of a JSON value."""
    return next((key for key, value in pairs(values) if _runs_code(key, value)), None)


def _runs_code(key: str, value: Any) -> bool:
    """Whether it is one: that of a kernel on the Hub, say."""
    fetched = key.removesuffix("_internal").endswith("_implementation") and any(c in str(value) for c in "/:")
    return key in CODE_KEYS or fetched or (key.startswith("__") and key not in SPELLINGS)


def pairs(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key of a JSON value with what it names, at any depth."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield from part.items()
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
