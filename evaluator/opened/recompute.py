"""Compute each published row again from the published answers."""

from evaluator.fresh.draw import set_hash
from evaluator.opened.books import SET, Books
from evaluator.results.answer_rows import answers_hash
from evaluator.results.build_result import scored_fields
from submissions.records.result import EvalResult


def book_differences(books: Books) -> list[str]:
    """Return what in the books does not agree with their commitment and records. Raises DataError if they are incomplete."""
    public, found = books.commitment, []
    if set_hash(books.folder) != public.set_sha256:
        found.append(f"{SET}/ has another hash than was published before the evaluations")
    known = {result.request_key for result in books.results}
    found += [f"{key}: answers without a record" for key in books.answers.keys() - known]
    for result in books.results:
        found += [f"{result.request_key} ({result.config.model_name}): {what}" for what in _of_result(books, result)]
    return found


def _of_result(books: Books, result: EvalResult) -> list[str]:
    key, found = result.request_key, []
    if result.answers_sha256 is None:
        found.append("no hash of its answers was published")
    elif answers_hash(books.answers[key]) != result.answers_sha256:
        found.append("its answers have another hash than was published with it")
    if (result.dataset.revision, result.dataset.n) != (str(books.commitment.set_sha256)[:40], len(books.items)):
        found.append("it was measured on another set")
    if result.versions[result.benchmark] != books.benchmark.version:
        return [*found, f"its scoring rule is {result.versions[result.benchmark]}, here {books.benchmark.version}"]
    again = result.evolve(**scored_fields(books.benchmark, books.items, books.scores[key]))
    fields = ("results", "intervals", "standard_errors", "breakdown", "answers")
    return [*found, *(f"{name} differ" for name in fields if getattr(again, name) != getattr(result, name))]
