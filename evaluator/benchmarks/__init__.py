"""One file a benchmark. Importing a card imports no torch, transformers or datasets."""

from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.infochartqa import InfoChartQA
from evaluator.benchmarks.ko_vdc import KoVDC
from evaluator.benchmarks.ko_vqa import KoVQA
from evaluator.benchmarks.korquad2 import KorQuAD2

BENCHMARKS: dict[str, Benchmark] = {b.name: b for b in (KoVQA(), KoVDC(), KorQuAD2(), InfoChartQA())}
