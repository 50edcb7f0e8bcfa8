"""Gradio is imported as app.py imports it."""

from leaderboard.web.gradio_import import no_stub_files

with no_stub_files():
    import gradio  # noqa: F401
