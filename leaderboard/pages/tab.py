"""A tab of fields and the HTML that they decide: filled from the address, and anew whenever a field or the store changes."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from leaderboard.data.query import MAX_WORDS
from leaderboard.pages.url_state import ALREADY_FILLED, FIRST, carry, parameters, remember, tab_of
from leaderboard.views.texts import Language, text

# While it is seen, the HTML asks whether it still shows the newest there is: what it was drawn from stands in it.
LIVE = """
const look = async () => {
  if (document.hidden || !element.checkVisibility()) return;
  const drawn = element.querySelector('[data-version]')?.dataset;
  const answer = drawn && await fetch('/version').catch(() => null);
  if (answer?.ok && (await answer.json())[drawn.live] !== drawn.version) trigger('stale');
};
setInterval(look, 2000);
document.addEventListener('visibilitychange', look);
"""
# In a frame the browser may keep the clipboard from us: then the text is selected, to be copied by hand.
COPY = """
element.addEventListener('click', async event => {
  const button = event.target.closest('[data-copy]');
  if (!button) return;
  const source = button.parentElement.querySelector('code');
  try { await navigator.clipboard.writeText(source.textContent); }
  catch { getSelection().selectAllChildren(source); document.execCommand('copy'); }
  const said = button.textContent;
  button.textContent = button.dataset.copy;
  setTimeout(() => { button.textContent = said; }, 1500);
});
"""
# What is drawn for a tab entered, or for a newer store, may come after what was drawn for a field changed meanwhile.
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
CACHED_VIEWS = 32  # views of a tab that are kept as they were drawn, for many ask for the same
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}


def search_field(label: str, language: Language, hint: str = "search_models_hint", **options: Any) -> gr.Textbox:
    """A field for names of models and makers; `label` and `hint` are keys of the texts."""
    placeholder = text(hint, language)
    return gr.Textbox(label=text(label, language), placeholder=placeholder, max_length=MAX_WORDS, **options)


@dataclass(frozen=True)
class TabView:
    name: str  # of its tab
    defaults: Mapping[str, str]  # parameter of the address → what it needs not be written for; one for each field
    fields: list[Any]  # components
    html: gr.HTML  # its js_on_load has LIVE in it
    read: Callable[[Mapping[str, str]], list[Any]]  # parameters of the address → values of the fields
    show: Callable[..., str]  # values of the fields, whatever they are → HTML
    kept: tuple[str, ...] = ()  # parameters whose fields have the same value on all tabs that keep them
    redraw: gr.Textbox = field(default_factory=lambda: gr.Textbox("", visible=False))  # changed to have it drawn anew
    address: gr.Textbox = field(default_factory=lambda: gr.Textbox("", visible=False))

    def connect(self, tab: gr.Tab) -> None:
        def draw(address: str | None, *values: Any) -> Any:
            if address is None:
                return self.show(*values)
            if address == ALREADY_FILLED:
                return gr.skip()
            params = parameters(address)
            return self.show(*self.read(params)) if tab_of(params) == self.name else gr.skip()

        tab_name, inputs = json.dumps(self.name), [self.address, *self.fields]
        keep, enter = (remember(self.name, self.defaults, entered=entered) for entered in (False, True))
        changes = [*(f.change for f in self.fields), self.redraw.change]
        gr.on(changes, draw, inputs, self.html, js=keep, trigger_mode="always_last", **QUIET)
        entered = tab.select(draw, inputs, self.html, js=NOTE_FIELDS % {"tab": tab_name, "keep": enter}, **QUIET)
        # "multiple": one whose answer is lost keeps no later one from being asked.
        stale = self.html.stale(
            draw, inputs, self.html, js=NOTE_FIELDS % {"tab": tab_name, "keep": keep}, trigger_mode="multiple", **QUIET
        )
        again = REDRAW_IF_CHANGED % {"tab": tab_name}
        if self.kept:
            fields = [f for f, name in zip(self.fields, self.defaults, strict=True) if name in self.kept]
            names = [name for name in self.defaults if name in self.kept]
            tab.select(None, fields, fields, js=carry(names), api_visibility="private")
        for event in (entered, stale):
            event.then(None, [self.redraw, *self.fields], self.redraw, js=again, api_visibility="private")

    def start(self, params: Mapping[str, str]) -> list[Any]:
        """What the fields and the HTML are at load."""
        if tab_of(params) != self.name:
            return [gr.skip()] * (len(self.fields) + 1)
        values = self.read(params)
        html = gr.skip() if self.name == FIRST else self.show(*values)  # the first tab is entered, so drawn, at load
        if values == self.read({}):  # what a visitor has typed by now stays
            return [*([gr.skip()] * len(self.fields)), html]
        return [*values, html]
