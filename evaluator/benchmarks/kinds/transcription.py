"""Define the kind of task in which a model writes down a page. Items have no question, and the answer is long."""

from typing import TYPE_CHECKING

from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.rows import Row

if TYPE_CHECKING:  # it draws figures with libraries that the board does not load
    from evaluator.fresh.samples import Sample


class Transcription(Benchmark):
    """Base class of transcription benchmarks. A subclass declares the prompt and `score_text`."""

    min_context = 10240
    max_new_tokens = 8192
    answer_tokens = 1500

    def invented_row(self, sample: "Sample", number: int) -> Row | None:
        """Return a row whose answer is the text of a table's page."""
        transcript = sample.transcript()
        return {"answer": transcript} if transcript else None
