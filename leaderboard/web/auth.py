"""Who a visitor is, and how often they may ask."""

from collections.abc import Mapping
from typing import Any, Literal

import gradio as gr
from httpx2 import HTTPError
from huggingface_hub import HfApi

from leaderboard.web.security import RateLimit, network_of
from submissions.queue.quota import Submitter

SUBMIT_RATE = "20/minute"  # models checked or submitted, by each address and each person

# Of each language's page: a check reads some megabytes from the Hub, and their memory is the board's.
CHECKS_AT_ONCE: dict[str, Any] = {"concurrency_limit": 2, "concurrency_id": "checks"}
OAUTH, ACCESS_TOKEN = "hf_oauth_", "access_token"  # how the tokens of other sites begin; a person's own

ANYONE = Submitter("visitor", authenticated=False)  # without sign-in all share one turn in the queue


class Visitors:
    def __init__(self, auth: Literal["off", "oauth"]) -> None:
        self._auth = auth
        self._asked = RateLimit(SUBMIT_RATE)

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
        # Not its `name`, which an organisation may choose as it likes.
        return Submitter(profile.username, _names(claims.get("orgs"), "preferred_username"))

    def bearer(self, token: str | None) -> Submitter | None:
        """The person whose token a program gave, as the Hub says; None where it gave none or one the Hub does not know."""
        if not token or token.startswith(OAUTH):
            return None
        try:
            who: Mapping[str, Any] = HfApi(token=token).whoami()
        except HTTPError:
            return None
        kind = who.get("auth", {}).get("type", ACCESS_TOKEN)  # a token that another site was given says nothing here
        if who.get("type") != "user" or kind != ACCESS_TOKEN:
            return None
        return Submitter(str(who["name"]), _names(who.get("orgs"), "name"))

    def within_rate_limit(self, request: gr.Request | None, submitter: Submitter | None) -> bool:
        """Count one more question of this visitor; False where there were too many."""
        who = [f"address {network_of(request.client.host)}"] if request and request.client else []
        who += [f"user {submitter.name}"] if submitter and submitter.authenticated else []
        return self._asked.allows(*who)


def _names(organisations: Any, field: str) -> frozenset[str]:
    """The usernames of organisations, which are what owners of models are called by."""
    known = organisations if isinstance(organisations, list) else []
    names = {org.get(field) for org in known if isinstance(org, dict)}
    return frozenset(name for name in names if isinstance(name, str))
