"""Run KO-FRESH in VLMEvalKit with the benchmark's prompts and scorer, see docs/scorers.md.

KO_FRESH is the folder of a set, by default the samples. The arguments are those of VLMEvalKit's run.py.
"""

import os
import runpy
import sys
from pathlib import Path
from typing import Any

# isort: off
# Before vlmeval, which puts another package called evaluator first in sys.path.
from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Answer
from submissions.config.paths import SAMPLES

# isort: on
import pandas as pd
import vlmeval.dataset
from vlmeval.dataset.image_base import ImageBaseDataset
from vlmeval.smp import dump, get_intermediate_file_path, load

BENCHMARK = BENCHMARKS["ko-fresh"]
NAME = "KO_FRESH"


class KoFresh(ImageBaseDataset):
    TYPE = "VQA"  # "MCQ" and "Y/N" would have models change the prompt and the run ask for a judge
    force_use_dataset_prompt = True  # no model's own prompt
    DEFAULT_JUDGE = "exact_matching"

    @classmethod
    def supported_datasets(cls) -> list[str]:
        return [NAME]

    def load_data(self, dataset: str) -> pd.DataFrame:
        """Return the items of the folder. No TSV: the letters of the choices depend on the whole set and its order."""
        self.items = {item.id: item for item in BENCHMARK.load(Path(os.environ.get("KO_FRESH", SAMPLES / "ko-fresh")))}
        return pd.DataFrame(
            [
                {
                    "index": item.id,
                    "image_path": [str(path) for path in prompt.images],
                    "question": prompt.text,
                    "answer": BENCHMARK.gold_output(item),
                    **item.buckets,
                }
                for item in self.items.values()
                for prompt in BENCHMARK.prompts(item)
            ]
        )

    def evaluate(self, eval_file: str, **judge_kwargs: Any) -> dict[str, float]:
        """Return the metrics of a file of predictions, in percent."""
        predictions = _predictions(Path(eval_file))
        texts: dict[str, str] = dict(zip(predictions["index"], predictions["prediction"], strict=True))
        items = [self.items[item_id] for item_id in texts]
        answers = [[Answer(item_id, text, "ok" if text else "empty", 0.0)] for item_id, text in texts.items()]
        metrics = {name: 100 * value for name, value in BENCHMARK.aggregate(BENCHMARK.score(items, answers)).items()}
        dump(metrics, get_intermediate_file_path(eval_file, "_score", "json"))
        return metrics

    @classmethod
    def report_primary_metric(cls, metrics: dict[str, Any] | None) -> dict[str, float]:
        return {"em": metrics["em"]} if metrics and "em" in metrics else {}


def _predictions(file: Path) -> pd.DataFrame:
    """Read a file of predictions. VLMEvalKit's own `load` would read "N/A" and "None" as missing values."""
    if file.suffix == ".json":
        return pd.DataFrame(load(str(file)))
    if file.suffix == ".tsv":
        return pd.read_csv(file, sep="\t", dtype=str, keep_default_na=False)
    return pd.read_excel(file, dtype=str, keep_default_na=False)


def register() -> None:
    """Make the dataset known to `build_dataset` and, as a class, to a config file."""
    vlmeval.dataset.KoFresh = KoFresh
    vlmeval.dataset.IMAGE_DATASET.append(KoFresh)
    vlmeval.dataset.DATASET_CLASSES.append(KoFresh)  # a copy of the list above
    vlmeval.dataset.SUPPORTED_DATASETS.append(NAME)


def main() -> None:
    """Run VLMEvalKit's run.py, which its package does not include: it is found in a checkout."""
    register()
    run = Path(vlmeval.dataset.__file__).parents[2] / "run.py"
    sys.argv = [str(run), "--data", NAME, *sys.argv[1:]]
    runpy.run_path(str(run), run_name="__main__")


if __name__ == "__main__":
    main()
