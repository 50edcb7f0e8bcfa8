"""A tab with input fields and the HTML that depends on them.

The fields are filled from the URL. The HTML is drawn again whenever a field or the store changes.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from leaderboard.data.query import MAX_SEARCH_LENGTH
from leaderboard.pages.url_state import (
    ALREADY_FILLED,
    DEFAULT_TAB,
    carry_fields_js,
    fields_to_url_js,
    parameters,
    tab_of,
)
from leaderboard.views.texts import Language, text

# While the HTML is visible, this polls /version and triggers `stale` when the version in the HTML's `data-version` is outdated.
# `data-live` names which version: "board" changes with the results, "queue" also with requests and workers.
REFRESH_JS = """
const look = async () => {
  if (document.hidden || !element.checkVisibility()) return;
  const drawn = element.querySelector('[data-version]')?.dataset;
  const answer = drawn && await fetch('/version').catch(() => null);
  if (answer?.ok && (await answer.json())[drawn.live] !== drawn.version) trigger('stale');
};
setInterval(look, 2000);
document.addEventListener('visibilitychange', look);
"""
# In a frame the browser may deny access to the clipboard. Then the text is selected instead.
COPY_JS = """
element.addEventListener('click', async event => {
  const button = event.target.closest('[data-copy]');
  if (!button) return;
  const source = button.parentElement.querySelector('code');
  try { await navigator.clipboard.writeText(source.textContent); }
  catch { getSelection().selectAllChildren(source); document.execCommand('copy'); }
  const label = button.textContent;
  button.textContent = button.dataset.copy;
  setTimeout(() => { button.textContent = label; }, 1500);
});
"""
# Responses may arrive out of order: if a visitor changes a field while the HTML for a newly opened tab or a changed store is
# on its way, that older HTML can overwrite the newer one. NOTE_FIELDS remembers the field values a request was sent with.
# When its response arrives, REDRAW_IF_CHANGED triggers another draw if the fields differ by then.
NOTE_FIELDS = """
(query, ...fields) => {
  (window.hannunRequestedFields ??= {})[%(tab)s] = JSON.stringify(fields);
  return (%(url_js)s)(query, ...fields);
}
"""
REDRAW_IF_CHANGED = """
(redraw, ...fields) =>
  window.hannunReady && window.hannunRequestedFields[%(tab)s] !== JSON.stringify(fields) ? String(Date.now()) : redraw
"""
CACHED_VIEWS = 32  # HTML of this many queries is kept per tab, since many visitors request the same one
# Options of events without a progress indicator that are not part of the public API.
PRIVATE_EVENT: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}


def search_field(label: str, language: Language, hint: str = "search_models_hint", **options: Any) -> gr.Textbox:
    """Return a search field for names of models and makers. `label` and `hint` are keys of TEXTS."""
    placeholder = text(hint, language)
    return gr.Textbox(label=text(label, language), placeholder=placeholder, max_length=MAX_SEARCH_LENGTH, **options)


@dataclass(frozen=True)
class TabView:
    """The fields of a tab, the HTML drawn from them, and the URL parameters that hold their values."""

    name: str  # of the tab
    defaults: Mapping[str, str]  # URL parameter of each field → the value for which it is left out of the URL
    fields: list[Any]  # components
    html: gr.HTML  # its js_on_load includes REFRESH_JS
    read: Callable[[Mapping[str, str]], list[Any]]  # URL parameters → values of the fields
    show: Callable[..., str]  # untrusted values of the fields → HTML
    shared_parameters: tuple[str, ...] = ()  # parameters whose values carry over between the tabs that list them here
    redraw: gr.Textbox = field(default_factory=lambda: gr.Textbox("", visible=False))  # a change draws the HTML again
    query: gr.Textbox = field(default_factory=lambda: gr.Textbox("", visible=False))  # what `draw` gets as `query`

    def connect(self, tab: gr.Tab) -> None:
        """Draw the HTML when a field changes, the tab is opened, or the store changes."""

        def draw(query: str | None, *values: Any) -> Any:
            """Return the HTML, or skip if there is nothing to draw.

            `query` is None once the page has loaded; then `values` are the values of the fields. While it loads, the
            fields are not reliable, and `query` is the query string of the URL. It is ALREADY_FILLED if the event that
            loaded the page has drawn the tab.
            """
            if query is None:
                return self.show(*values)
            if query == ALREADY_FILLED:
                return gr.skip()
            params = parameters(query)
            return self.show(*self.read(params)) if tab_of(params) == self.name else gr.skip()

        tab_name, inputs = json.dumps(self.name), [self.query, *self.fields]
        url_js = fields_to_url_js(self.name, self.defaults)
        url_js_on_open = fields_to_url_js(self.name, self.defaults, on_open=True)
        field_events = [*(f.change for f in self.fields), self.redraw.change]
        gr.on(field_events, draw, inputs, self.html, js=url_js, trigger_mode="always_last", **PRIVATE_EVENT)
        opened_event = tab.select(
            draw, inputs, self.html, js=NOTE_FIELDS % {"tab": tab_name, "url_js": url_js_on_open}, **PRIVATE_EVENT
        )
        stale_event = self.html.stale(
            draw,
            inputs,
            self.html,
            js=NOTE_FIELDS % {"tab": tab_name, "url_js": url_js},
            trigger_mode="multiple",  # a request whose response is lost must not block later ones
            **PRIVATE_EVENT,
        )
        if self.shared_parameters:
            shared_fields = [
                f for f, name in zip(self.fields, self.defaults, strict=True) if name in self.shared_parameters
            ]
            names = [name for name in self.defaults if name in self.shared_parameters]
            tab.select(None, shared_fields, shared_fields, js=carry_fields_js(names), api_visibility="private")
        redraw_js = REDRAW_IF_CHANGED % {"tab": tab_name}
        for event in (opened_event, stale_event):
            event.then(None, [self.redraw, *self.fields], self.redraw, js=redraw_js, api_visibility="private")

    def start(self, params: Mapping[str, str]) -> list[Any]:
        """Return the values of the fields and the HTML for the event that loads the page with these URL parameters."""
        if tab_of(params) != self.name:
            return [gr.skip()] * (len(self.fields) + 1)
        values = self.read(params)
        html = gr.skip() if self.name == DEFAULT_TAB else self.show(*values)  # opening the default tab draws it
        if values == self.read({}):  # all defaults: keep what the visitor may have typed already
            return [*([gr.skip()] * len(self.fields)), html]
        return [*values, html]
