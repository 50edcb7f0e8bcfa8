"""Import Gradio in the same way as app.py does."""

from leaderboard.web.gradio_import import no_stub_files

with no_stub_files():
    import gradio  # noqa: F401
