"""Use the Hub's client with a token that may change while the program runs, because it is read from a file."""

import os
from collections.abc import Callable
from typing import Any

from huggingface_hub import HfApi, constants

from submissions.config.settings import is_token
from submissions.texts.errors import StoreError

TokenReader = Callable[[], str | None]


def no_token() -> None:
    """Return no token, for requests without authentication."""


def hub_endpoint() -> str:
    """Return the address of the Hub. HF_ENDPOINT may have been set after the Hub's library was imported."""
    return os.environ.get("HF_ENDPOINT") or constants.ENDPOINT


class HubApi(HfApi):
    """A Hub client that reads its token again before each request."""

    def __init__(self, read_token: TokenReader) -> None:
        self.read_token = read_token
        super().__init__(endpoint=hub_endpoint())

    @property
    def token(self) -> Any:
        """Return the current token. Raises StoreError if it is malformed: the HTTP client would quote it in its error."""
        token = self.read_token()
        if token and not is_token(token):
            raise StoreError("the Hub's token has characters that no token has")
        return token or False  # False: do not use the token that `hf auth login` saved either

    @token.setter
    def token(self, _: Any) -> None:
        """Ignore the token that the constructor of HfApi sets."""
