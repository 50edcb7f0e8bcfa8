"""One file an engine. Engines import torch, so they are loaded by name, in the inference process only."""

from importlib import import_module

from evaluator.engines.base import Engine, EngineOptions

ENGINES = {
    "chat": "evaluator.engines.chat:ChatEngine",
    "api": "evaluator.engines.api:ApiEngine",
    "extractive": "evaluator.engines.extractive:ExtractiveEngine",
}


def load_engine(name: str, options: EngineOptions) -> Engine:
    """The engine with its model in memory. Raises ModelError where the model cannot be loaded."""
    module, _, attribute = ENGINES[name].partition(":")
    engine: Engine = getattr(import_module(module), attribute)(options)
    return engine
