"""One file a benchmark. Importing one imports no torch, transformers or datasets."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from evaluator.benchmarks.base import Benchmark
from submissions import catalog


class _Registry(Mapping[str, Benchmark]):
    """Every benchmark of the catalog by name, its module imported when it is first asked for."""

    def __getitem__(self, name: str) -> Benchmark:
        return _benchmark(catalog.BENCHMARKS[name].location)

    def __iter__(self) -> Iterator[str]:
        return iter(catalog.BENCHMARKS)

    def __len__(self) -> int:
        return len(catalog.BENCHMARKS)


@cache
def _benchmark(location: str) -> Benchmark:
    module, _, class_name = location.partition(":")
    benchmark: Benchmark = getattr(import_module(module), class_name)()
    return benchmark


BENCHMARKS: Mapping[str, Benchmark] = _Registry()
