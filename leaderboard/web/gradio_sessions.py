"""Gradio sessions that store almost nothing, because the page's URL holds its whole state.

By default, Gradio copies the settings of every component for each visitor and keeps their last values. This takes about 30 ms
and at least 300 KB per visit, and is only needed for links to a stored state, which these pages do not have.
"""

from copy import copy
from typing import Any

import gradio as gr
from fastapi import FastAPI
from gradio.state_holder import SessionState, StateHolder
from starlette.routing import Mount

MAX_SESSIONS = 1000  # a dropped session is created again without any visible effect


class Session(SessionState):
    """The components and functions of a visit, without copies of the components' settings."""

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
    """Replace the session store of a page. Must be called after the page is mounted in the application."""
    page.state_session_capacity = MAX_SESSIONS
    mounted: Any = next(r.app for r in app.routes if isinstance(r, Mount) and getattr(r.app, "blocks", None) is page)
    mounted.state_holder = Sessions()  # type: ignore[no-untyped-call]
    mounted.state_holder.set_blocks(page)
