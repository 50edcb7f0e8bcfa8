"""The state of a page in its address, so that a copied link opens the same view. Written by the browser, read at load."""

import json

from evaluator.benchmarks import BENCHMARKS
from leaderboard.query import COLUMNS, DEFAULT_COLUMNS, PAGE

# What stands in the address unless it is as usual. Its arguments are those of Query.of, in their order, and it gives
# them on; or only nulls where the address itself is to be read.
_REMEMBER = """
(...fields) => {
  const [words, sort, weights, sizes, verified, columns, shown] = fields;
  const usual = %(usual)s;
  const before = new URLSearchParams(location.search);
  const open = (before.get('tab') ?? %(first)s) === %(tab)s;
  // While the fields are being set at load, one after the other, the address alone says them all. The first tab is
  // then entered by the page, any other by the visitor.
  if (!window.hannunReady?.[%(tab)s]) {
    (window.hannunEarly ??= {})[%(tab)s] ||= !%(entered)s;
    if (%(entered)s && !open && %(tab)s !== %(first)s) history.replaceState(null, '', '?tab=' + %(tab)s);
    return fields.map(() => null);
  }
  if (!%(entered)s && !open) return fields;
  const params = new URLSearchParams();
  if (before.has('__theme')) params.set('__theme', before.get('__theme'));
  params.set('tab', %(tab)s);
  const now = {q: words, sort, weights: weights.join(), size: sizes.join(), verified: verified ? '1' : '',
               columns: %(columns)s.filter(c => columns.includes(c)).join(), n: String(shown)};
  for (const [name, value] of Object.entries(now))
    if (value !== usual[name] && (value || name === 'columns')) params.set(name, value);
  history.replaceState(null, '', '?' + params);
  return fields;
}
"""
_USUAL = {"sort": "score", "columns": ",".join(DEFAULT_COLUMNS), "n": str(PAGE)}
_GO = "() => history.replaceState(null, '', '?tab=' + %s)"
_READY = """
() => {
  (window.hannunReady ??= {})[%(tab)s] = true;
  return window.hannunEarly?.[%(tab)s] ? 'changed' : '';
}
"""

# The tab named by the address that was opened, whatever has been written there since.
NAMED = "() => new URL(performance.getEntriesByType('navigation')[0].name).searchParams.get('tab') ?? ''"


def remember(tab: str, *, entered: bool = False) -> str:
    """JavaScript that writes a benchmark's tab and its query into the address, if it is the open one or `entered`."""
    first = next(iter(BENCHMARKS))
    values = {"usual": _USUAL, "tab": tab, "first": first, "entered": entered, "columns": COLUMNS}
    return _REMEMBER % {name: json.dumps(value) for name, value in values.items()}


def ready(tab: str) -> str:
    """JavaScript that is to run once the fields of a benchmark's tab are as the address says.

    It gives a text where a field changed before, for a visitor may have been faster than the page.
    """
    return _READY % {"tab": json.dumps(tab)}


def go(tab: str) -> str:
    """JavaScript that writes the tab alone."""
    return _GO % json.dumps(tab)
