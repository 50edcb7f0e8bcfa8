"""One file an engine. Engines may import torch, so they are loaded by name, in the inference process only."""

from importlib import import_module
from typing import Any, cast

from evaluator.engines.base import Engine
from submissions.catalog import ENGINES


def engine_location(name: str) -> str:
    """`module:class` of an engine, by its name in the catalog; what is a location already stays."""
    return ENGINES[name].location if name in ENGINES else name


def engine_class(name: str) -> Any:
    """The class of an engine, by name or location. Its module is imported."""
    module, _, attribute = engine_location(name).partition(":")
    return getattr(import_module(module), attribute)


def load_engine(name: str, options: Any) -> Engine:
    """The engine with its model in memory. Raises EvaluationError where the model cannot be loaded."""
    return cast(Engine, engine_class(name)(options))
