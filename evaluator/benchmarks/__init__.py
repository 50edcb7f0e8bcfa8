"""One file a benchmark; long rules in `scoring` (삼만: `number_words`; 3만, signs, units: `quantities`).

Go there to change prompts, metrics, scoring. To add a benchmark, put its file in this folder and its name in
`NAMES`.
"""

from collections.abc import Iterator, MutableMapping
from importlib import import_module

from evaluator.benchmarks.base import Benchmark

# In the order of the board. The benchmark `ko-vqa` is defined in the module `ko_vqa`.
NAMES = ("ko-vqa", "ko-vdc", "korquad-2", "ko-ocrag", "kdoc-ocrbench", "infochartqa", "k-viscuit", "ko-fresh")


class BenchmarkRegistry(MutableMapping[str, Benchmark]):
    """Map names to benchmarks. The module of a benchmark is imported on first use.

    The mapping can be changed because tests add benchmarks of their own.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._by_name: dict[str, Benchmark | None] = dict.fromkeys(names)  # None: not imported yet

    def __getitem__(self, name: str) -> Benchmark:
        if name not in self._by_name:
            raise KeyError(f"unknown benchmark {name!r}; available: {', '.join(self)}")
        if (benchmark := self._by_name[name]) is None:
            module = import_module(f"{__name__}.{name.replace('-', '_')}")
            benchmark = self._by_name[name] = module.BENCHMARK
        return benchmark

    def __setitem__(self, name: str, benchmark: Benchmark) -> None:
        self._by_name[name] = benchmark

    def __delitem__(self, name: str) -> None:
        del self._by_name[name]

    def __contains__(self, name: object) -> bool:  # that of Mapping would import the module
        return name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


BENCHMARKS = BenchmarkRegistry(NAMES)
