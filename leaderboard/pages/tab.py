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

# While the HTML is visible, it polls /version and triggers `stale` if it was drawn from an older version, which is in its data.
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
# The HTML drawn when a tab is opened or the store changes may arrive later than that of a field changed meanwhile. NOTE_FIELDS
# notes which values it was requested for, and REDRAW_IF_CHANGED draws it again if they have changed.
NOTE_FIELDS = """
(address, ...fields) => {
  (window.hannunAsked ??= {})[%(tab)s] = JSON.stringify(fields);
  return (%(keep)s)(address, ...fields);
}
"""
REDRAW_IF_CHANGED = """
(redraw, ...fields) =>
  window.hannunReady && window.hannunAsked[%(tab)s] !== JSON.stringify(fields) ? String(Date.now()) : redraw
"""
CACHED_VIEWS = 32  # drawn views kept per tab, since many visitors request the same one
# Options of events without a progress indicator that are not part of the public API.
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}


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
    kept: tuple[str, ...] = ()  # parameters whose values carry over between the tabs that list them here
    redraw: gr.Textbox = field(default_factory=lambda: gr.Textbox("", visible=False))  # a change draws the HTML again
    address: gr.Textbox = field(default_factory=lambda: gr.Textbox("", visible=False))  # query sent by the browser

    def connect(self, tab: gr.Tab) -> None:
        """Draw the HTML when a field changes, the tab is opened, or the store changes."""

        def draw(address: str | None, *values: Any) -> Any:
            if address is None:
                return self.show(*values)
            if address == ALREADY_FILLED:
                return gr.skip()
            params = parameters(address)
            return self.show(*self.read(params)) if tab_of(params) == self.name else gr.skip()

        tab_name, inputs = json.dumps(self.name), [self.address, *self.fields]
        keep, enter = (fields_to_url_js(self.name, self.defaults, entered=entered) for entered in (False, True))
        changes = [*(f.change for f in self.fields), self.redraw.change]
        gr.on(changes, draw, inputs, self.html, js=keep, trigger_mode="always_last", **QUIET)
        entered = tab.select(draw, inputs, self.html, js=NOTE_FIELDS % {"tab": tab_name, "keep": enter}, **QUIET)
        # "multiple": a request whose answer is lost must not block later ones.
        stale = self.html.stale(
            draw, inputs, self.html, js=NOTE_FIELDS % {"tab": tab_name, "keep": keep}, trigger_mode="multiple", **QUIET
        )
        again = REDRAW_IF_CHANGED % {"tab": tab_name}
        if self.kept:
            fields = [f for f, name in zip(self.fields, self.defaults, strict=True) if name in self.kept]
            names = [name for name in self.defaults if name in self.kept]
            tab.select(None, fields, fields, js=carry_fields_js(names), api_visibility="private")
        for event in (entered, stale):
            event.then(None, [self.redraw, *self.fields], self.redraw, js=again, api_visibility="private")

    def start(self, params: Mapping[str, str]) -> list[Any]:
        """Return the values of the fields and the HTML when the page is loaded."""
        if tab_of(params) != self.name:
            return [gr.skip()] * (len(self.fields) + 1)
        values = self.read(params)
        html = gr.skip() if self.name == DEFAULT_TAB else self.show(*values)  # opening the first tab draws it
        if values == self.read({}):  # keep what the visitor may have typed already
            return [*([gr.skip()] * len(self.fields)), html]
        return [*values, html]
