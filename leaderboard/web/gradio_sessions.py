"""What the server remembers of a visit: next to nothing, for the address of the page says all of it.

Gradio would copy the settings of every component for each visitor, and keep the last value of each: some 30 ms of work
and 300 KB and more, for links to a stored state, which these pages do not have.
"""

from copy import copy
from typing import Any

import gradio as gr
from fastapi import FastAPI
from gradio.state_holder import SessionState, StateHolder
from starlette.routing import Mount

MAX_SESSIONS = 1000  # visits; an older one begins anew, which nobody sees


class Session(SessionState):
    """A visit's own components and functions, as Gradio looks for them, without the copies of their settings."""

    def __init__(self, blocks: gr.Blocks) -> None:
        self.blocks_config = copy(blocks.default_config)
        self.config_values: dict[int, dict[str, Any]] = {}
        self.state_data: dict[int, Any] = {}
        self._state_ttl = {}
        self.is_closed = False
        self.STATE_TTL_WHEN_CLOSED = 0

    def __setitem__(self, key: int, value: Any) -> None:
        self.blocks_config.blocks[key] = value

    def _update_config(self, key: int) -> None:
        pass

    def _update_value_in_config(self, key: int, value: Any) -> None:
        pass


class Sessions(StateHolder):
    def __getitem__(self, session_id: str) -> SessionState:
        if session_id not in self.session_data:
            self.session_data[session_id] = Session(self.blocks)
        return super().__getitem__(session_id)


def install_stateless_sessions(app: FastAPI, page: gr.Blocks) -> None:
    """To be called once the page is mounted in the application."""
    page.state_session_capacity = MAX_SESSIONS
    mounted: Any = next(r.app for r in app.routes if isinstance(r, Mount) and getattr(r.app, "blocks", None) is page)
    mounted.state_holder = Sessions()  # type: ignore[no-untyped-call]
    mounted.state_holder.set_blocks(page)
