"""Write the parts of the documents that follow from declarations: `make docs`.

A document holds a generated block between two comments, `begin NAME` and `end NAME`. `tests/test_docs.py` says which block
is out of date.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from scripts.support.rooms import ROOMS, described
from submissions.config.paths import ROOT, SAMPLES

_BLOCK = re.compile(
    r"^((?:<!--|#|\s+#) begin ([\w-]+)(?: -->)?\n)(.*?)^((?:<!--|#|\s+#) end \2(?: -->)?)$", re.DOTALL | re.MULTILINE
)


def main() -> None:
    for path, name, written, wanted in blocks():
        if written != wanted:
            file = ROOT / path
            file.write_text(file.read_text(encoding="utf-8").replace(written, wanted), encoding="utf-8")
            print(f"{path}: {name}")


def blocks() -> Iterator[tuple[str, str, str, str]]:
    """Yield each block of the documents: its file, its name, what is written there, and what the declarations say."""
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob(".github/ISSUE_TEMPLATE/*.yml")]
    for file in sorted(files):
        for begin, name, content, end in _BLOCK.findall(file.read_text(encoding="utf-8")):
            yield str(file.relative_to(ROOT)), name, f"{begin}{content}{end}", f"{begin}{BLOCKS[name]()}{end}"


def _benchmarks() -> list[Benchmark]:
    return list(BENCHMARKS.values())


def _table(*rows: tuple[str, ...]) -> str:
    head, *body = ["| " + " | ".join(cells) + " |\n" for cells in rows]
    return head + "|" + "---|" * len(rows[0]) + "\n" + "".join(body)


def _names(benchmarks: list[Benchmark]) -> str:
    return ", ".join(f"`{benchmark.name}`" for benchmark in benchmarks)


def readme() -> str:
    rows = [
        (
            f"**{one.card.title}** `{one.name}`",
            one.card.task.en.rstrip("."),
            f"{one.card.n:,} {one.card.unit.en}, {'public' if one.card.is_public else 'private'}",
            one.metric(one.card.headline).title.en,
        )
        for one in _benchmarks()
    ]
    return _table(("benchmark", "task", "test set", "ranked by"), *rows)


def readme_ko() -> str:
    rows = [
        (
            f"**{one.card.title}** `{one.name}`",
            one.card.task.ko.rstrip("."),
            one.metric(one.card.headline).title.ko,
            f"{one.card.n:,}{one.card.unit.ko}, {'공개' if one.card.is_public else '비공개'}",
        )
        for one in _benchmarks()
    ]
    return _table(("벤치마크", "과제", "순위 기준", "테스트 세트"), *rows)


def names() -> str:
    return f"Benchmarks are {_names(_benchmarks())}.\n"


def names_ko() -> str:
    return f"`NAME`은 다음 가운데 하나입니다: {_names(_benchmarks())}.\n"


def form() -> str:
    return f"      options: [{', '.join(BENCHMARKS)}]\n"


def headlines() -> str:
    rows = [(f"`{one.name}`", f"`{one.card.headline}`", _reported(one)) for one in _benchmarks()]
    return _table(("benchmark", "rows measured here", "reported rows"), *rows)


def _reported(benchmark: Benchmark) -> str:
    return f"`{benchmark.card.reported_headline or benchmark.card.headline}`"


def metrics() -> str:
    """Return all metrics, each with the benchmarks that have it, and what the board says about it."""
    declared: dict[tuple[str, str, str], list[Benchmark]] = {}
    for benchmark in _benchmarks():
        for metric in benchmark.metrics:
            hint = metric.hint.en if metric.hint else ""
            declared.setdefault((metric.name, metric.title.en, hint), []).append(benchmark)
    rows = [(f"`{name}`", title, _names(having), hint) for (name, title, hint), having in declared.items()]
    return _table(("metric", "title", "benchmarks", "meaning"), *rows)


def axes() -> str:
    rows = [
        (
            f"`{axis.name}`",
            f"`{one.name}`",
            axis.title.en,
            ", ".join(f"`{bucket}`" for bucket in axis.buckets) or "any text",
        )
        for one in _benchmarks()
        for axis in one.card.axes
    ]
    return _table(("column", "benchmark", "axis", "values"), *rows)


def limits() -> str:
    rows = [
        (f"`{one.name}`", one.inputs, f"{one.min_context:,}", f"{one.max_new_tokens:,}", f"{_samples(one):,}")
        for one in _benchmarks()
    ]
    return _table(("benchmark", "input", "context needed", "longest answer", "sample items"), *rows)


def limits_ko() -> str:
    rows = [(one.card.title, f"{one.min_context:,}", f"{one.max_new_tokens:,}") for one in _benchmarks()]
    return _table(("벤치마크", "필요한 컨텍스트(토큰)", "답변 길이 제한(토큰)"), *rows)


def _samples(benchmark: Benchmark) -> int:
    return len(benchmark.load(SAMPLES / benchmark.name))


def rooms(package: str) -> str:
    rows = [(f"`{room}`", *described(package, room)) for room in ROOMS[package]]
    return _table((f"`{package}/`", "what it does", "go there to change"), *rows)


def room_order() -> str:
    rows = [(f"`{package}`", ", ".join(f"`{room}`" for room in ROOMS[package])) for package in ROOMS]
    return _table(("package", "order of the rooms"), *rows)


BLOCKS: dict[str, Callable[[], str]] = {
    "readme": readme,
    "readme-ko": readme_ko,
    "names": names,
    "names-ko": names_ko,
    "form": form,
    "headlines": headlines,
    "metrics": metrics,
    "axes": axes,
    "limits": limits,
    "limits-ko": limits_ko,
    "rooms-submissions": partial(rooms, "submissions"),
    "rooms-evaluator": partial(rooms, "evaluator"),
    "rooms-leaderboard": partial(rooms, "leaderboard"),
    "room-order": room_order,
}

if __name__ == "__main__":
    main()
