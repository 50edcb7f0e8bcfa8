"""Write the parts of the documents that follow from declarations: `make docs`.

A document holds a generated block between two comments, `begin NAME` and `end NAME`. `tests/test_docs.py` says which block
is out of date.
"""

import argparse
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Literal, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from app import build_parser
from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from scripts.support.rooms import ALLOWED, ROOMS, described
from submissions.config.api_options import ApiOptions
from submissions.config.paths import PUBLISHED, ROOT, SAMPLES
from submissions.config.setting_values import (
    API_FIELDS,
    API_REQUIRED,
    ApiModel,
    EmbeddingServer,
    HubJobs,
    LaunchCommands,
)
from submissions.config.settings import BoardSettings, ModelSettings, StoreSettings, WorkerSettings

_BLOCK = re.compile(
    r"^((?:<!--|#|\s+#) begin ([\w-]+)(?: -->)?\n)(.*?)^((?:<!--|#|\s+#) end \2(?: -->)?)$", re.DOTALL | re.MULTILINE
)

_CODE = re.compile(  # in a help text that is not in backticks there
    r"(?<![`\w])(?:--[a-z-]+(?: api)?|HANNUN_[A-Z_]+|hf://[\w/\[\]@#]+|\{[\w\", …]+\}|[A-Z]+\.(?:intoto\.)?json)(?!`)"
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


def published_records() -> str:
    counts = {one.name: len(list(PUBLISHED.glob(f"{one.name}/*.json"))) for one in _benchmarks()}
    return _table(("benchmark", "records"), *((f"`{name}`", str(count)) for name, count in counts.items() if count))


def _samples(benchmark: Benchmark) -> int:
    return len(benchmark.load(SAMPLES / benchmark.name))


def rooms(package: str) -> str:
    rows = [(f"`{room}`", *described(package, room)) for room in ROOMS[package]]
    return _table((f"`{package}/`", "what it does", "go there to change"), *rows)


def settings(group: type[BaseModel]) -> str:
    rows = [
        (f"`HANNUN_{name.upper()}`", _default(field), _meaning(field)) for name, field in group.model_fields.items()
    ]
    return _table((group.__doc__ or "", "default", "meaning"), *rows)


def fields(described: Mapping[str, FieldInfo], required: Collection[str] = ()) -> str:
    rows = [
        (f"`{name}`", "required" if field.is_required() or name in required else _default(field), _meaning(field))
        for name, field in described.items()
    ]
    return _table(("field", "default", "meaning"), *rows)


def api_fields() -> str:
    options: dict[str, FieldInfo] = vars(ApiOptions)["__pydantic_fields__"]
    described = dict(ApiModel.model_fields) | {name: options[name] for name in API_FIELDS}
    del described["options"]
    return fields(described, API_REQUIRED)


def _default(field: FieldInfo) -> str:
    """Return the default of a setting as a user writes it, or a dash if it has none or the description says it."""
    default = field.default
    if isinstance(default, timedelta):
        return f"`{_duration(default)}`"
    if default in (None, "", ()) or field.default_factory:
        return "–"
    if isinstance(default, (bool, dict, list, tuple)):
        return f"`{json.dumps(default)}`"
    return f"`{default}`"


def _duration(value: timedelta) -> str:
    """Return a duration in its largest unit, as settings are written."""
    seconds = int(value.total_seconds())
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def _meaning(field: FieldInfo) -> str:
    meaning = " ".join((field.description or "").split())
    if SecretStr in get_args(field.annotation):
        return f"Secret. {meaning}"
    if get_origin(field.annotation) is Literal:
        values = ", ".join(f"`{value}`" for value in get_args(field.annotation))
        return f"One of {values}. {meaning}"
    return meaning


def options(command: argparse.ArgumentParser) -> str:
    """Return the arguments of a command, or for each of its steps those of the step."""
    steps = next((action for action in command._actions if isinstance(action, argparse._SubParsersAction)), None)
    if steps is None:
        described = [(_argument(action), _help(action)) for action in _arguments(command)]
        return _table(("argument", "meaning"), *described)
    steps_of: dict[tuple[str, str], list[str]] = {}
    for name, step in steps.choices.items():
        for action in _arguments(step):
            steps_of.setdefault((_argument(action), _help(action)), []).append(f"`{name}`")
    rows = [(argument, ", ".join(names), meaning) for (argument, meaning), names in steps_of.items()]
    return _table(("argument", "of", "meaning"), *rows)


def _arguments(command: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in command._actions if action.help != argparse.SUPPRESS and action.dest != "help"]


def _argument(action: argparse.Action) -> str:
    """Return an argument as it is written: `--limit N`, `--engine auto|chat`, `OUT`."""
    if action.metavar:
        value = " ".join(action.metavar) if isinstance(action.metavar, tuple) else action.metavar
    elif action.choices:
        value = "|".join(map(str, action.choices))
    else:
        value = action.dest.upper()
    if action.nargs in ("+", "*"):
        value = f"{value} …"
    if not action.option_strings:
        written = value
    elif action.nargs == 0:
        written = action.option_strings[-1]
    else:
        written = f"{action.option_strings[-1]} {value}"
    return f"`{written}`".replace("|", "\\|")


def _help(action: argparse.Action) -> str:
    """Return the help of an argument, with code in backticks, and whether it is required."""
    text = _CODE.sub(r"`\g<0>`", action.help or "").replace("|", "\\|")
    is_required = action.required and bool(action.option_strings)
    return f"{text}. Required" if is_required else text


def package_imports() -> str:
    rows = [(f"`{name}`", ", ".join(f"`{one}`" for one in ALLOWED[name] if one != name) or "–") for name in ALLOWED]
    return _table(("package", "imports, besides itself"), *reversed(rows))


def room_order() -> str:
    rows = [(f"`{package}`", ", ".join(f"`{room}`" for room in ROOMS[package])) for package in ROOMS]
    return _table(("package", "order of the rooms"), *rows)


def _commands() -> dict[str, argparse.ArgumentParser]:
    """Return the commands that have arguments, by name."""
    (group,) = [action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return {name: command for name, command in group.choices.items() if _arguments(command)}


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
    "published-records": published_records,
    "rooms-submissions": partial(rooms, "submissions"),
    "rooms-evaluator": partial(rooms, "evaluator"),
    "rooms-leaderboard": partial(rooms, "leaderboard"),
    "package-imports": package_imports,
    "room-order": room_order,
    "settings-stores": partial(settings, StoreSettings),
    "settings-worker": partial(settings, WorkerSettings),
    "settings-models": partial(settings, ModelSettings),
    "settings-board": partial(settings, BoardSettings),
    "fields-apis": api_fields,
    "fields-commands": partial(fields, LaunchCommands.model_fields),
    "fields-jobs": partial(fields, HubJobs.model_fields),
    "fields-embeddings": partial(fields, EmbeddingServer.model_fields),
    **{f"options-{name}": partial(options, command) for name, command in _commands().items()},
}

if __name__ == "__main__":
    main()
