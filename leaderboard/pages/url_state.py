"""Keep the state of a page in its URL, so that a copied link opens the same view.

The browser updates the URL when a field changes, and adds a history entry when a tab is opened. The server reads the query that
the browser sends with each event.
"""

import json
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from evaluator.benchmarks import BENCHMARKS

MAX_QUERY = 8000  # characters; the rest of a longer query is ignored
DEFAULT_TAB = "overview"  # open if the URL names no tab
TABS = (DEFAULT_TAB, *BENCHMARKS, "model", "compare", "record", "submit", "queue")
TAB_BY_PARAMETER = {"model": "model", "compare": "compare", "request": "queue"}  # parameter → the tab that it implies

ALREADY_FILLED = "-"  # sent instead of a query if the event that loaded the page has drawn the tab
# JavaScript that returns the query with which the page was opened, even if it has changed since.
OPENED_QUERY_JS = "() => new URL(performance.getEntriesByType('navigation')[0].name).search"

# JavaScript that returns the tab that URL parameters name, like `tab_of`.
_TAB_OF_JS = f"""params => {{
    const namedBy = {json.dumps(TAB_BY_PARAMETER)};
    const named = params.get('tab') || Object.keys(namedBy).filter(n => params.has(n)).map(n => namedBy[n])[0];
    return {json.dumps(TABS)}.includes(named) ? named : '{DEFAULT_TAB}';
  }}"""
# JavaScript that runs before every event of a tab, and returns the event's inputs: a query and the fields.
#
# While the page loads, the fields are set one after the other and only the URL has all values. Then the query is sent too, and
# the server reads it instead of the fields. After that the query is null, and the fields are written to the URL, except for
# default values.
_FIELDS_TO_URL_JS = """
(query, ...fields) => {
  const defaults = %(defaults)s, tab = %(tab)s, defaultTab = %(default_tab)s, onOpen = %(on_open)s;
  const before = new URLSearchParams(location.search);
  const urlTab = (%(tab_of)s)(before);
  // Filters are kept when a visitor switches from one benchmark to another: see _CARRY_FIELDS_JS.
  if (urlTab === tab && !onOpen) Object.keys(defaults).forEach((name, i) => {
    (window.hannunSharedFields ??= {})[name] = fields[i];
  });
  const params = new URLSearchParams();
  for (const name of ['__theme', 'lang']) if (before.has(name)) params.set(name, before.get(name));
  params.set('tab', tab);
  if (!window.hannunReady) {
    (window.hannunChangedEarly ??= {})[tab] ||= !onOpen;
    // The page itself opens the default tab. If the URL names another tab, the event that loads the page fills and opens that.
    if (onOpen && tab === defaultTab && urlTab !== defaultTab) window.hannunFilledTab = urlTab;
    // Any other tab that the URL does not name is opened by the visitor.
    if (onOpen && urlTab !== tab && tab !== defaultTab) history.replaceState(null, '', '?' + params);
    return [onOpen ? location.search : (%(opened_query)s)(), ...fields];
  }
  if (!onOpen && urlTab !== tab) return [null, ...fields];  // a field of a tab that is not open
  if (onOpen && window.hannunFilledTab === tab) {
    window.hannunFilledTab = null;
    return ['%(already_filled)s', ...fields];
  }
  const same = (a, b) => a.split(',').sort().join() === b.split(',').sort().join();
  Object.entries(defaults).forEach(([name, defaultValue], i) => {
    const field = fields[i];
    const value = Array.isArray(field) ? [...field].sort().join() : field === true ? '1' : field ? String(field) : '';
    if (!same(value, defaultValue)) params.set(name, value);
  });
  history[urlTab === tab ? 'replaceState' : 'pushState'](null, '', '?' + String(params).replaceAll('%%2C', ','));
  window.hannunUpdateTitle();
  return [null, ...fields];
}
"""
# JavaScript that runs once all fields are set from the URL: see `ready_js`.
_READY_JS = """
() => {
  window.hannunReady = true;
  window.addEventListener('popstate', () => location.reload());
  const site = document.title, labels = %(labels)s;
  window.hannunUpdateTitle = () => {
    const params = new URLSearchParams(location.search), tab = (%(tab_of)s)(params);
    document.title = [tab === 'model' && params.get('model'), labels[tab], site].filter(Boolean).join(' · ');
  };
  window.hannunUpdateTitle();
  const switchLink = document.querySelector('.hn-switch'), lang = new URL(switchLink.href).searchParams.get('lang');
  // The link to the page in the other language leads to the same view.
  switchLink.addEventListener('click', () => {
    const params = new URLSearchParams(location.search);
    params.delete('lang');
    if (lang) params.set('lang', lang);
    switchLink.search = params;
  });
  return %(tabs)s.map(tab => window.hannunChangedEarly?.[tab] ? 'changed' : '');
}
"""
# JavaScript that fills the fields of a newly opened tab with the values that _FIELDS_TO_URL_JS remembered on the previous one.
_CARRY_FIELDS_JS = """
(...fields) => %s.map((name, i) =>
  window.hannunReady && window.hannunSharedFields?.[name] !== undefined ? window.hannunSharedFields[name] : fields[i])
"""
_TAB_TO_URL_JS = """
() => {
  const before = new URLSearchParams(location.search), params = new URLSearchParams({tab: %s});
  if (before.has('lang')) params.set('lang', before.get('lang'));
  if (before.get('tab') !== params.get('tab')) history.pushState(null, '', '?' + params);
  window.hannunUpdateTitle?.();
}
"""


def parameters(query: object) -> dict[str, str]:
    """Return the parameters of a URL's query string, or no parameters if it cannot be parsed."""
    try:
        text = str(query or "")[:MAX_QUERY].removeprefix("?")
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=100))
    except ValueError:
        return {}


def tab_of(params: Mapping[str, str]) -> str:
    """Return the tab that the parameters name or imply."""
    named = params.get("tab") or next((tab for name, tab in TAB_BY_PARAMETER.items() if name in params), DEFAULT_TAB)
    return named if named in TABS else DEFAULT_TAB


def fields_to_url_js(tab: str, defaults: Mapping[str, str], *, on_open: bool = False) -> str:
    """Return JavaScript that writes a tab and its fields to the URL, and returns the inputs of the tab's event.

    Args:
        tab: The tab whose event runs the script.
        defaults: The URL parameter of each field, in their order → the value for which it is left out of the URL.
        on_open: Whether the event is that the tab is opened. Otherwise the URL changes only if the tab is open.
    """
    values = {"defaults": defaults, "tab": tab, "default_tab": DEFAULT_TAB, "on_open": on_open}
    return _FIELDS_TO_URL_JS % {
        "tab_of": _TAB_OF_JS,
        "opened_query": OPENED_QUERY_JS,
        "already_filled": ALREADY_FILLED,
        **{name: json.dumps(value) for name, value in values.items()},
    }


def ready_js(tabs: Sequence[str], labels: Mapping[str, str]) -> str:
    """Return JavaScript to run once all fields are set from the URL.

    The script returns a text for each of the `tabs`, which is not empty if the visitor changed a field of the tab while
    the page was loading. `labels` are the titles of all tabs.
    """
    return _READY_JS % {"tab_of": _TAB_OF_JS, "tabs": json.dumps(tabs), "labels": json.dumps(labels)}


def carry_fields_js(names: Sequence[str]) -> str:
    """Return JavaScript that sets the fields of these parameters to their values on the previous tab."""
    return _CARRY_FIELDS_JS % json.dumps(names)


def tab_to_url_js(tab: str) -> str:
    """Return JavaScript that writes only the tab to the URL."""
    return _TAB_TO_URL_JS % json.dumps(tab)
