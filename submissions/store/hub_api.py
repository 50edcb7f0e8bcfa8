"""The Hub's client with the token of now: a token that is read from a file may be another one than at the start."""

import os
from collections.abc import Callable
from typing import Any

from huggingface_hub import HfApi, constants

TokenReader = Callable[[], str | None]


def no_token() -> None:
    """Nobody is signed in."""


class HubApi(HfApi):
    """Asks for its token before each request."""

    def __init__(self, read_token: TokenReader) -> None:
        self.read_token = read_token
        super().__init__(endpoint=os.environ.get("HF_ENDPOINT") or constants.ENDPOINT)

    @property
    def token(self) -> Any:
        return self.read_token() or False  # False: not even the one that `hf auth login` has kept

    @token.setter
    def token(self, _: Any) -> None:
        """HfApi sets one as it is made."""
