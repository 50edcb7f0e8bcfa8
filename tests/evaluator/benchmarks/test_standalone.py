"""Test that the scorers work without the board and heavy packages, as docs/scorers.md promises."""

import re

from evaluator.benchmarks import BENCHMARKS
from scripts.support.serving import python
from submissions.config.paths import ROOT

HEAVY = (
    "torch",
    "transformers",
    "pandas",
    "numpy",
    "scipy",
    "gradio",
    "fastapi",
    "pydantic",
    "PIL",
    "datasets",
    "lxml",
    "huggingface_hub",
    "pyarrow",
    "matplotlib",
    "plotly",
    "httpx2",
    "orjson",
)
BLOCK = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {heavy!r}:
            raise ImportError(f"{{name}} is heavy")
sys.meta_path.insert(0, Blocker())
"""


def run_without_packages(code: str) -> str:
    done = python("-c", BLOCK.format(heavy=HEAVY) + code)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_benchmarks_import_without_heavy_packages() -> None:
    loaded = run_without_packages(
        "from evaluator.benchmarks import BENCHMARKS\nprint(len([BENCHMARKS[name].card.title for name in BENCHMARKS]))"
    )
    assert int(loaded) == len(BENCHMARKS)


def test_scorers_document_example_prints_stated_output() -> None:
    text = (ROOT / "docs/scorers.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)[:1]
    expected = re.findall(r"print\(.*\)  # (.*)", example)
    assert run_without_packages(example).splitlines() == expected
