"""Keep the state of a page in its URL, so that a copied link opens the same view.

The browser updates the URL when a field changes, and adds a history entry when a tab is opened. The server reads the query that
the browser sends with each event.
"""

import json
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from evaluator.benchmarks import BENCHMARKS

MAX_QUERY = 8000  # characters
DEFAULT_TAB = "overview"  # of a URL that names no tab
TABS = (DEFAULT_TAB, *BENCHMARKS, "model", "compare", "record", "submit", "queue")
TAB_BY_PARAMETER = {"model": "model", "compare": "compare", "request": "queue"}  # parameter → the tab that it implies

ALREADY_FILLED = "-"  # sent instead of a query if the tab needs no drawing
# JavaScript that returns the query with which the page was opened, even if it has changed since.
OPENED_QUERY_JS = "() => new URL(performance.getEntriesByType('navigation')[0].name).search"

# JavaScript that returns the tab that URL parameters name, like `tab_of`.
_TAB_OF_JS = f"""params => {{
    const namedBy = {json.dumps(TAB_BY_PARAMETER)};
    const named = params.get('tab') || Object.keys(namedBy).filter(n => params.has(n)).map(n => namedBy[n])[0];
    return {json.dumps(TABS)}.includes(named) ? named : '{DEFAULT_TAB}';
  }}"""
# While the page loads, the fields are set one after the other and only the URL has all values. Then the query is sent too, and
# the server reads it instead of the fields. After that the fields are written to the URL, except for default values. The first
# tab is opened by the page itself at load, any other tab by the visitor or by the event that has just filled it.
_FIELDS_TO_URL_JS = """
(address, ...fields) => {
  const defaults = %(defaults)s, tab = %(tab)s, first = %(first)s, entered = %(entered)s;
  const before = new URLSearchParams(location.search);
  const named = (%(named)s)(before);
  // Filters are kept when a visitor switches from one benchmark to another: see _CARRY_FIELDS_JS.
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
_READY_JS = """
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
_CARRY_FIELDS_JS = """
(...fields) => %s.map((name, i) =>
  window.hannunReady && window.hannunKept?.[name] !== undefined ? window.hannunKept[name] : fields[i])
"""
_TAB_TO_URL_JS = """
() => {
  const before = new URLSearchParams(location.search), params = new URLSearchParams({tab: %s});
  if (before.has('lang')) params.set('lang', before.get('lang'));
  if (before.get('tab') !== params.get('tab')) history.pushState(null, '', '?' + params);
  window.hannunTitle?.();
}
"""


def parameters(address: object) -> dict[str, str]:
    """Return the parameters of a URL's query string, or no parameters if it cannot be parsed."""
    try:
        query = str(address or "")[:MAX_QUERY].removeprefix("?")
        return dict(parse_qsl(query, keep_blank_values=True, max_num_fields=100))
    except ValueError:
        return {}


def tab_of(params: Mapping[str, str]) -> str:
    """Return the tab that the parameters name or imply."""
    named = params.get("tab") or next((tab for name, tab in TAB_BY_PARAMETER.items() if name in params), DEFAULT_TAB)
    return named if named in TABS else DEFAULT_TAB


def fields_to_url_js(tab: str, defaults: Mapping[str, str], *, entered: bool = False) -> str:
    """Return JavaScript that writes a tab and its fields to the URL, if the tab is open or is being opened (`entered`).

    `defaults` maps the parameter of each field, in their order, to the value for which it is left out.
    """
    values = {"defaults": defaults, "tab": tab, "first": DEFAULT_TAB, "entered": entered}
    return _FIELDS_TO_URL_JS % {
        "named": _TAB_OF_JS,
        "opened": OPENED_QUERY_JS,
        "filled": ALREADY_FILLED,
        **{name: json.dumps(value) for name, value in values.items()},
    }


def ready_js(views: list[str], labels: Mapping[str, str]) -> str:
    """Return JavaScript to run once all fields are set from the URL. `labels` are the titles of all tabs.

    The script returns a text for each view, which is not empty if the visitor changed a field while the page was loading.
    """
    return _READY_JS % {"named": _TAB_OF_JS, "views": json.dumps(views), "labels": json.dumps(labels)}


def carry_fields_js(names: Sequence[str]) -> str:
    """Return JavaScript that sets the fields of these parameters to their values on the previous tab."""
    return _CARRY_FIELDS_JS % json.dumps(names)


def tab_to_url_js(tab: str) -> str:
    """Return JavaScript that writes only the tab to the URL."""
    return _TAB_TO_URL_JS % json.dumps(tab)
