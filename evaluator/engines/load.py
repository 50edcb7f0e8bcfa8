"""Import an engine by its name."""

from importlib import import_module
from typing import Any, cast

from evaluator.engines.base import Engine
from evaluator.engines.registry import ENGINES


def engine_location(name: str) -> str:
    """Return the `module:class` location of an engine. A name that is not registered is returned unchanged."""
    return ENGINES[name].location if name in ENGINES else name


def engine_class(name: str) -> Any:
    """Import and return the class of an engine, given by name or location."""
    module, _, attribute = engine_location(name).partition(":")
    return getattr(import_module(module), attribute)


def load_engine(name: str, options: Any) -> Engine:
    """Return an engine with its model in memory. Raises EvaluationError if the model cannot be loaded."""
    return cast(Engine, engine_class(name)(options))
