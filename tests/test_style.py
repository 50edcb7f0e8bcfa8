"""Test that statements do one thing, over the syntax trees of all files. `make lint` checks everything else."""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from submissions.config.paths import ROOT

Rule = Callable[[ast.AST], bool]  # whether a statement or an expression breaks it

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


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def has_comprehension_in_comprehension(node: ast.AST) -> bool:
    """Return whether a comprehension holds another one that is not a row of its matrix."""
    if not isinstance(node, COMPREHENSIONS):
        return False
    inner = [one for one in ast.walk(node) if isinstance(one, COMPREHENSIONS) and one is not node]
    row = node.value if isinstance(node, ast.DictComp) else node.elt
    return inner not in ([], [row])


def has_two_loops_and_more(node: ast.AST) -> bool:
    """Return whether a comprehension has two `for` and also a condition, a conditional or another comprehension."""
    if not isinstance(node, COMPREHENSIONS) or len(node.generators) < 2:
        return False
    more = (one for one in ast.walk(node) if isinstance(one, (*COMPREHENSIONS, ast.IfExp)) and one is not node)
    return len(node.generators) > 2 or any(loop.ifs for loop in node.generators) or any(more)


CONSTRUCTS = (*COMPREHENSIONS, ast.IfExp, ast.Lambda)
MAX_CONSTRUCTS = 2  # comprehensions, conditionals and lambdas in a statement
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def _own_parts(statement: ast.stmt) -> list[ast.AST]:
    """Return the parts of a statement without the statements in its blocks."""
    parts: list[object] = []
    for name, value in ast.iter_fields(statement):
        if name not in BLOCKS:
            parts += value if isinstance(value, list) else [value]
    return [part for part in parts if isinstance(part, ast.AST)]


def has_more_than_two_constructs(node: ast.AST) -> bool:
    """Return whether a statement has more than two comprehensions, conditionals or lambdas. A matrix counts as one."""
    if not isinstance(node, ast.stmt):
        return False
    every = [one for part in _own_parts(node) for one in ast.walk(part) if isinstance(one, CONSTRUCTS)]
    rows = [one.elt for one in every if isinstance(one, ast.ListComp) and isinstance(one.elt, ast.ListComp)]
    return len(every) - len(rows) > MAX_CONSTRUCTS


def binds_inside_an_expression(node: ast.AST) -> bool:
    """Return whether a statement has a `:=` that is not in the head of an `if` or a `while`."""
    if not isinstance(node, ast.stmt):
        return False
    parts = _own_parts(node)
    if isinstance(node, ast.If | ast.While):
        parts.remove(node.test)
    return any(isinstance(one, ast.NamedExpr) for part in parts for one in ast.walk(part))


RULES = (assigns_different_expressions, has_conditional_in_conditional, unpacks_literal_into_literal)
# Of the product. The files of evaluator/fresh are hashed for a quarter's commitment, so they wait for the next one.
PRODUCT_RULES = (
    has_comprehension_in_comprehension,
    has_two_loops_and_more,
    binds_inside_an_expression,
    has_more_than_two_constructs,
)
PRODUCT = ("app.py", "evaluator", "leaderboard", "submissions")
WAITING = ROOT / "evaluator/fresh"


def _found(rules: Iterable[Rule], source: str) -> Iterator[tuple[Rule, int]]:
    """Yield the lines of the statements that break a rule, each with the rule."""
    for node in ast.walk(ast.parse(source)):
        for rule in rules:
            if rule(node):
                yield rule, node.lineno  # type: ignore[attr-defined]


def _product() -> list[Path]:
    return [path for path in _files() if path.relative_to(ROOT).parts[0] in PRODUCT and WAITING not in path.parents]


@cache
def _places() -> dict[Rule, list[str]]:
    """Return the places that break each rule. Every file is read once, for all rules."""
    places: dict[Rule, list[str]] = {rule: [] for rule in (*RULES, *PRODUCT_RULES)}
    product = set(_product())
    for path in _files():
        rules = (*RULES, *PRODUCT_RULES) if path in product else RULES
        for rule, line in _found(rules, path.read_text(encoding="utf-8")):
            places[rule].append(f"{path.relative_to(ROOT)}:{line}")
    return places


@pytest.mark.parametrize("rule", RULES)
def test_statement_does_one_thing(rule: Rule) -> None:
    assert _places()[rule] == []


@pytest.mark.parametrize("rule", PRODUCT_RULES)
def test_statement_of_the_product_does_one_thing(rule: Rule) -> None:
    assert len(_product()) > 200 and _places()[rule] == []


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
        (has_comprehension_in_comprehension, "[m for m in models if all(n in m for n in names)]", True),
        (has_comprehension_in_comprehension, "[x for x in [y for y in z]]", True),
        (has_comprehension_in_comprehension, "[[f(x, y) for x in a] for y in b]", False),
        (has_comprehension_in_comprehension, "{k: [f(x) for x in v] for k, v in a.items()}", False),
        (has_two_loops_and_more, "[x for y in z for x in y if x]", True),
        (has_two_loops_and_more, "[x for w in z for y in w for x in y]", True),
        (has_two_loops_and_more, "[x for y in z for x in y]", False),
        (has_more_than_two_constructs, "f([x for x in a], [x for x in b], lambda: 1)", True),
        (has_more_than_two_constructs, "f([x for x in a], y if z else 1)", False),
        (has_more_than_two_constructs, "f([[x for x in a] for a in b], y if z else 1)", False),
        (has_more_than_two_constructs, "if a:\n    f(x if y else z)\n    g([x for x in a], lambda: 1)", False),
        (binds_inside_an_expression, "[y for x in z if (y := f(x))]", True),
        (binds_inside_an_expression, "a = (b := c) + b", True),
        (binds_inside_an_expression, "if (a := b):\n    c = a", False),
        (binds_inside_an_expression, "if a:\n    c = (d := e)", True),
    ],
)
def test_rule(rule: Rule, source: str, is_broken: bool) -> None:
    assert bool(list(_found([rule], source))) is is_broken
