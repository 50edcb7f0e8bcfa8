"""The state of a page in its address, so that a copied link opens the same view.

The browser writes it there as fields change, and an entry of its history for each tab that is opened; the server reads it from
what the browser sends along.
"""

import json
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from evaluator.benchmarks import BENCHMARKS

MAX_QUERY = 8000  # characters
FIRST = "overview"  # the tab of an address that names none
TABS = (FIRST, *BENCHMARKS, "model", "compare", "record", "submit", "queue")
NAMED_BY = {"model": "model", "compare": "compare", "request": "queue"}  # parameters that say which tab they mean

ALREADY_FILLED = "-"  # instead of an address: the tab is as it should be
# The query as it was when the page was opened, whatever has been written there since.
OPENED = "() => new URL(performance.getEntriesByType('navigation')[0].name).search"

# The tab that an address names, as tab_of() has it.
_NAMED = f"""params => {{
    const namedBy = {json.dumps(NAMED_BY)};
    const named = params.get('tab') || Object.keys(namedBy).filter(n => params.has(n)).map(n => namedBy[n])[0];
    return {json.dumps(TABS)}.includes(named) ? named : '{FIRST}';
  }}"""
# While the fields are being set at load, one after the other, the address alone says them all: then it is given too, to
# be read instead of them. Afterwards the address is where they are written, but for what is as usual. The first tab is
# entered by the page itself at load, any other by the visitor, or by the event that has just filled it.
_REMEMBER = """
(address, ...fields) => {
  const defaults = %(defaults)s, tab = %(tab)s, first = %(first)s, entered = %(entered)s;
  const before = new URLSearchParams(location.search);
  const named = (%(named)s)(before);
  // What selects rows is kept as a visitor goes from one benchmark to another: see _CARRY.
  if (named === tab && !entered) Object.keys(defaults).forEach((name, i) => {
    (window.hannunKept ??= {})[name] = fields[i];
  });
  const params = new URLSearchParams();
  for (const kept of ['__theme', 'lang']) if (before.has(kept)) params.set(kept, before.get(kept));
  params.set('tab', tab);
  if (!window.hannunReady) {
    (window.hannunEarly ??= {})[tab] ||= !entered;
    if (entered && tab === first && named !== first) window.hannunFilled = named;
    if (entered && named !== tab && tab !== first) history.replaceState(null, '', '?' + params);
    return [entered ? location.search : (%(opened)s)(), ...fields];
  }
  if (!entered && named !== tab) return [null, ...fields];
  if (entered && window.hannunFilled === tab) {
    window.hannunFilled = null;
    return ['%(filled)s', ...fields];
  }
  const same = (a, b) => a.split(',').sort().join() === b.split(',').sort().join();
  Object.entries(defaults).forEach(([name, usually], i) => {
    const field = fields[i];
    const now = Array.isArray(field) ? [...field].sort().join() : field === true ? '1' : field ? String(field) : '';
    if (!same(now, usually)) params.set(name, now);
  });
  history[named === tab ? 'replaceState' : 'pushState'](null, '', '?' + String(params).replaceAll('%%2C', ','));
  window.hannunTitle();
  return [null, ...fields];
}
"""
_READY = """
() => {
  window.hannunReady = true;
  window.addEventListener('popstate', () => location.reload());
  const site = document.title, labels = %(labels)s;
  window.hannunTitle = () => {
    const params = new URLSearchParams(location.search), tab = (%(named)s)(params);
    document.title = [tab === 'model' && params.get('model'), labels[tab], site].filter(Boolean).join(' · ');
  };
  window.hannunTitle();
  const other = document.querySelector('.hn-switch'), lang = new URL(other.href).searchParams.get('lang');
  other.addEventListener('click', () => {
    const params = new URLSearchParams(location.search);
    params.delete('lang');
    if (lang) params.set('lang', lang);
    other.search = params;
  });
  return %(views)s.map(tab => window.hannunEarly?.[tab] ? 'changed' : '');
}
"""
_CARRY = """
(...fields) => %s.map((name, i) =>
  window.hannunReady && window.hannunKept?.[name] !== undefined ? window.hannunKept[name] : fields[i])
"""
_GO = """
() => {
  const before = new URLSearchParams(location.search), params = new URLSearchParams({tab: %s});
  if (before.has('lang')) params.set('lang', before.get('lang'));
  if (before.get('tab') !== params.get('tab')) history.pushState(null, '', '?' + params);
  window.hannunTitle?.();
}
"""


def parameters(address: object) -> dict[str, str]:
    """What an address says, from its query; nothing where that is not one."""
    try:
        query = str(address or "")[:MAX_QUERY].removeprefix("?")
        return dict(parse_qsl(query, keep_blank_values=True, max_num_fields=100))
    except ValueError:
        return {}


def tab_of(params: Mapping[str, str]) -> str:
    """The tab that the parameters mean."""
    named = params.get("tab") or next((tab for name, tab in NAMED_BY.items() if name in params), FIRST)
    return named if named in TABS else FIRST


def remember(tab: str, defaults: Mapping[str, str], *, entered: bool = False) -> str:
    """JavaScript that writes a tab and its fields into the address, if it is the open one or `entered`.

    `defaults` says, in the order of the fields, which parameter each is and what it needs not be written for.
    """
    values = {"defaults": defaults, "tab": tab, "first": FIRST, "entered": entered}
    return _REMEMBER % {
        "named": _NAMED,
        "opened": OPENED,
        "filled": ALREADY_FILLED,
        **{name: json.dumps(value) for name, value in values.items()},
    }


def ready(views: list[str], labels: Mapping[str, str]) -> str:
    """JavaScript that is to run once all fields are as the address says; `labels` are those of all tabs.

    It gives for each of the views a text where a field changed before, for a visitor may have been faster than the page.
    """
    return _READY % {"named": _NAMED, "views": json.dumps(views), "labels": json.dumps(labels)}


def carry(names: Sequence[str]) -> str:
    """Return JavaScript that gives the fields of these parameters the values that they had on the tab before."""
    return _CARRY % json.dumps(names)


def go(tab: str) -> str:
    """JavaScript that writes the tab alone."""
    return _GO % json.dumps(tab)
