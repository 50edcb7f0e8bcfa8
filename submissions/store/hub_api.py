"""Use the Hub's client with a token that may change while the program runs, because it is read from a file."""

import os
from collections.abc import Callable
from typing import Any

from huggingface_hub import HfApi, constants

TokenReader = Callable[[], str | None]


def no_token() -> None:
    """Return no token, for requests without authentication."""


class HubApi(HfApi):
    """A Hub client that reads its token again before each request."""

    def __init__(self, read_token: TokenReader) -> None:
        self.read_token = read_token
        super().__init__(endpoint=os.environ.get("HF_ENDPOINT") or constants.ENDPOINT)

    @property
    def token(self) -> Any:
        return self.read_token() or False  # False: do not use the token that `hf auth login` saved either

    @token.setter
    def token(self, _: Any) -> None:
        """Ignore the token that the constructor of HfApi sets."""
