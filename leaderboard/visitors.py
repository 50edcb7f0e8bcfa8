"""Who a visitor is, and how often they may ask."""

from collections.abc import Mapping
from typing import Any, Literal

import gradio as gr

from leaderboard.guard import RateLimit
from submissions.quota import Submitter

ASKED = "20/minute"  # models checked or submitted, by each address and each person

ANYONE = Submitter("visitor", vouched=False)  # without sign-in all share one turn in the queue


class Visitors:
    def __init__(self, auth: Literal["off", "oauth"]) -> None:
        self._auth = auth
        self._asked = RateLimit(ASKED)

    @property
    def sign_in(self) -> bool:
        """Whether visitors are asked to sign in before they submit."""
        return self._auth == "oauth"

    def submitter(self, profile: gr.OAuthProfile | None) -> Submitter | None:
        """As the signed session says, never a form; None for who has not signed in and should."""
        if not self.sign_in:
            return ANYONE
        if profile is None:
            return None
        claims: Mapping[str, Any] = profile  # those of the Hub's userinfo, by OpenID Connect
        orgs = claims.get("orgs") or []
        # Not its `name`, which an organisation may choose as it likes.
        names = {org.get("preferred_username") for org in orgs if isinstance(org, dict)}
        return Submitter(profile.username, frozenset(name for name in names if isinstance(name, str)))

    def may_ask(self, address: str, submitter: Submitter | None) -> bool:
        """Count one more question of this visitor; False where there were too many."""
        known = submitter is not None and submitter.vouched
        return self._asked.allows(f"address {address}", *([f"user {submitter.name}"] if known and submitter else []))
