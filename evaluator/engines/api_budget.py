"""Limit what an evaluation may spend on a server: tokens, cost and requests."""

from typing import NamedTuple

from evaluator.core.errors import EvaluationError
from submissions.config.api_options import ApiOptions
from submissions.texts.failure_codes import FailureCode

PRICED_TOKENS = 1_000_000  # prices are for this many tokens


class TokenCounts(NamedTuple):
    """Numbers of tokens, expected or used."""

    prompt: int
    completion: int  # generated, reasoning included


NO_TOKENS = TokenCounts(0, 0)


class Budget:
    """Hard limits on tokens, cost and requests: a request that could exceed one is not sent.

    Before each attempt, `reserve` takes an upper bound of its tokens, and afterwards `settle` replaces it by what the
    server reports. If it reports nothing, the bound stays reserved, because a provider may charge for the attempt too.
    Requests are counted in this process only, so a resumed evaluation starts at 0 again.
    """

    def __init__(self, limits: ApiOptions, spent: TokenCounts) -> None:
        """Create the budget. `spent` are the tokens that the evaluation has used already."""
        self._limits = limits
        self._requests = 0
        self._prompt_tokens, self._completion_tokens = spent

    def reserve(self, expected: TokenCounts) -> None:
        """Reserve tokens for one attempt. Raises EvaluationError, and reserves nothing, if they exceed the budget."""
        prompt_tokens = self._prompt_tokens + expected.prompt
        completion_tokens = self._completion_tokens + expected.completion
        limits = self._limits
        tokens = prompt_tokens + completion_tokens
        prompt_price, completion_price = limits.prices
        cost = (prompt_tokens * prompt_price + completion_tokens * completion_price) / PRICED_TOKENS
        if limits.max_tokens is not None and tokens > limits.max_tokens:
            raise EvaluationError(
                FailureCode.BUDGET_SPENT, f"the next question could exceed the budget of {limits.max_tokens} tokens"
            )
        if limits.max_cost is not None and cost > limits.max_cost:
            raise EvaluationError(
                FailureCode.BUDGET_SPENT, f"the next question could exceed the budget of {limits.max_cost:g}"
            )
        self._prompt_tokens = prompt_tokens
        self._completion_tokens = completion_tokens

    def settle(self, reserved: TokenCounts, used: TokenCounts) -> None:
        """Replace the tokens reserved for one attempt by those that it used."""
        self._prompt_tokens += used.prompt - reserved.prompt
        self._completion_tokens += used.completion - reserved.completion

    def count_request(self) -> None:
        """Count one request. Raises EvaluationError if no further request is allowed."""
        if self._limits.max_requests is not None and self._requests >= self._limits.max_requests:
            raise EvaluationError(
                FailureCode.BUDGET_SPENT, f"the budget of {self._limits.max_requests} requests is spent"
            )
        self._requests += 1
