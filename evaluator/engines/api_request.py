"""What the requests of the API engine contain besides the question.

Servers differ in what they accept: reasoning models accept no temperature and expect `max_completion_tokens` instead of
`max_tokens`, and a remote server may know no field outside of the OpenAI protocol. `ApiEngine` starts with everything that it
would like to send, and leaves out or renames what the server rejects, in this and in all later requests.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import openai

from evaluator.engines.api_completion import complaint_of

# Fields that are left out if the server rejects them. `chat_template_kwargs` is not one of them: without it, a model would
# answer in another mode.
OPTIONAL_FIELDS = ("skip_special_tokens", "return_token_ids", "stop_token_ids")


class Sent(NamedTuple):
    """The parameters of one request."""

    parameters: dict[str, Any]  # of the OpenAI protocol
    extra: dict[str, Any]  # outside of it


class RequestParameters:
    """The parameters of all requests to a server, as far as it accepts them."""

    def __init__(self, parameters: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
        """Create the parameters: those of the OpenAI protocol, and fields outside of it."""
        self._parameters = {"temperature": 0, **parameters}
        self._extra = dict(extra)
        self._limit_name = "max_tokens"  # the parameter that limits the generated tokens

    @property
    def is_greedy(self) -> bool:
        """Whether the server accepts the temperature 0. One that rejects it decodes by sampling."""
        return "temperature" in self._parameters

    @property
    def asks_for_special_tokens(self) -> bool:
        """Whether the server is asked to leave special tokens in its outputs, and has not rejected that."""
        return "skip_special_tokens" in self._extra

    def of_request(self, max_tokens: int) -> Sent:
        """Return the parameters of a request that may generate `max_tokens`."""
        return Sent({**self._parameters, self._limit_name: max_tokens}, dict(self._extra))

    def have_changed_since(self, sent: Sent) -> bool:
        """Return whether a parameter was left out or renamed since a request was sent, because of another request.

        Only names are compared, because values never change.
        """
        names = {*self._parameters, self._limit_name}
        return sent.parameters.keys() != names or sent.extra.keys() != self._extra.keys()

    def adapt_to(self, error: openai.APIStatusError) -> bool:
        """Leave out or rename what a server rejects. Return whether the error names something that can be.

        An error is for example "Unsupported parameter: 'max_tokens'". All OPTIONAL_FIELDS that it names are left out at
        once. Of the parameters, only the first in the order below is changed.

        Requests run in parallel. If the parameters have changed since the rejected request was sent, the error may be about
        one that is already gone. So the caller asks `have_changed_since` first.
        """
        complaint = complaint_of(error)
        rejected = [name for name in OPTIONAL_FIELDS if name in self._extra and _mentions(complaint, name)]
        if rejected:
            for name in rejected:
                del self._extra[name]
        elif "stream" in self._parameters and _mentions(complaint, "stream(?:ing|_options)?"):
            # Either of `stream` and `stream_options` may be meant, so the options are left out first.
            del self._parameters["stream_options" if "stream_options" in self._parameters else "stream"]
        elif self._limit_name == "max_tokens" and _mentions(complaint, "max_tokens"):
            self._limit_name = "max_completion_tokens"
        elif "temperature" in self._parameters and _mentions(complaint, "temperature"):
            del self._parameters["temperature"]
        else:
            return False
        return True


def _mentions(complaint: str, pattern: str) -> bool:
    """Return whether a complaint has a parameter's name as a word. "Upstream error" does not mention `stream`."""
    return re.search(rf"\b{pattern}\b", complaint) is not None
