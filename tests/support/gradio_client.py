"""The client of Gradio, as programs use it."""

from gradio_client import Client


def gradio_client(address: str) -> Client:
    """Connect to a board, which loads Gradio after its start. On a busy machine that takes longer than the default of 5 s."""
    return Client(address, analytics_enabled=False, verbose=False, httpx_kwargs={"timeout": 60})
