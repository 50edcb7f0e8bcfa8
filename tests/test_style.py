"""Test that statements do one thing, over the syntax trees of all files. `make lint` checks everything else."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from submissions.config.paths import ROOT

FOLDERS = ("evaluator", "leaderboard", "submissions", "scripts", "tests")


def _files() -> list[Path]:
    return [ROOT / "app.py", *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))]


def _is_plain(value: ast.expr) -> bool:
    """Return whether a value is a name, a literal or an empty collection, which are read at a glance."""
    if isinstance(value, ast.UnaryOp):
        value = value.operand
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return not value.elts
    if isinstance(value, ast.Dict):
        return not value.keys
    return isinstance(value, ast.Name | ast.Constant)


def assigns_different_expressions(node: ast.AST) -> bool:
    """Return whether a statement is `a, b = f(x), g(y)`. Swaps, plain names and literals are fine."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    targets = node.targets[0]
    if not isinstance(targets, ast.Tuple) or all(map(_is_plain, node.value.elts)):
        return False
    return sorted(map(ast.unparse, targets.elts)) != sorted(map(ast.unparse, node.value.elts))


def has_conditional_in_conditional(node: ast.AST) -> bool:
    if not isinstance(node, ast.IfExp):
        return False
    return any(isinstance(inner, ast.IfExp) for inner in ast.walk(node) if inner is not node)


def unpacks_literal_into_literal(node: ast.AST) -> bool:
    """Return whether a literal holds `**{…}` or `*(…)` with a literal in it."""
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return any(key is None and isinstance(value, ast.Dict) for key, value in pairs)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        starred = [element.value for element in node.elts if isinstance(element, ast.Starred)]
        return any(isinstance(value, ast.List | ast.Tuple | ast.Set) for value in starred)
    return False


RULES = (assigns_different_expressions, has_conditional_in_conditional, unpacks_literal_into_literal)


def _found(rule: Callable[[ast.AST], bool], source: str) -> Iterator[int]:
    """Yield the lines of the statements that break a rule."""
    for node in ast.walk(ast.parse(source)):
        if rule(node):
            yield node.lineno  # type: ignore[attr-defined]


@pytest.mark.parametrize("rule", RULES)
def test_statement_does_one_thing(rule: Callable[[ast.AST], bool]) -> None:
    places = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in _files()
        for line in _found(rule, path.read_text(encoding="utf-8"))
    ]
    assert places == []


@pytest.mark.parametrize(
    ("rule", "source", "is_broken"),
    [
        (assigns_different_expressions, "a, b = f(x), g(y)", True),
        (assigns_different_expressions, "self.a, b = x.c, y", True),
        (assigns_different_expressions, "a, b = b, a", False),
        (assigns_different_expressions, "a[0], a[1] = a[1], a[0]", False),
        (assigns_different_expressions, "name, version = 'x', -1", False),
        (assigns_different_expressions, "low, high = row.interval", False),
        (has_conditional_in_conditional, "a if b else c if d else e", True),
        (has_conditional_in_conditional, "[x if y else z for y in (1 if a else 2)]", False),
        (unpacks_literal_into_literal, "{**{'a': 1}, 'b': 2}", True),
        (unpacks_literal_into_literal, "[*('a', 'b'), c]", True),
        (unpacks_literal_into_literal, "{**known, 'b': 2}", False),
        (unpacks_literal_into_literal, "[*names, *(n for n in more)]", False),
    ],
)
def test_rule(rule: Callable[[ast.AST], bool], source: str, is_broken: bool) -> None:
    assert bool(list(_found(rule, source))) is is_broken
