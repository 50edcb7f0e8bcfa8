"""Limit what an evaluation may spend on a server: tokens, cost and requests."""

from evaluator.core.errors import EvaluationError
from submissions.config.api_options import ApiOptions
from submissions.texts.failure_codes import FailureCode


class Budget:
    """Hard limits on tokens, cost and requests: a request that could exceed one is not sent.

    Before a question is sent, `reserve` takes an upper bound of its tokens, and afterwards `settle` replaces it by what the
    server reports. Requests are counted by process, so a resumed evaluation starts at none again.
    """

    def __init__(self, limits: ApiOptions, spent: tuple[int, int] = (0, 0)) -> None:
        """Create the budget. `spent` are the prompt and completion tokens that the evaluation has used already."""
        self._limits = limits
        self._requests = 0
        self._prompt_tokens, self._completion_tokens = spent

    def reserve(self, prompt_tokens: int, completion_tokens: int) -> None:
        """Reserve tokens for one question. Raises EvaluationError if they exceed the budget."""
        self._prompt_tokens += prompt_tokens
        self._completion_tokens += completion_tokens
        limits = self._limits
        tokens = self._prompt_tokens + self._completion_tokens
        cost = (self._prompt_tokens * limits.prices[0] + self._completion_tokens * limits.prices[1]) / 1e6
        if limits.max_tokens is not None and tokens > limits.max_tokens:
            raise EvaluationError(
                FailureCode.BUDGET_SPENT, f"the next question could exceed the budget of {limits.max_tokens} tokens"
            )
        if limits.max_cost is not None and cost > limits.max_cost:
            raise EvaluationError(
                FailureCode.BUDGET_SPENT, f"the next question could exceed the budget of {limits.max_cost:g}"
            )

    def settle(self, reserved: tuple[int, int], used: tuple[int, int]) -> None:
        """Replace the tokens reserved for a question by those that it used. Both are (prompt, completion)."""
        self._prompt_tokens += used[0] - reserved[0]
        self._completion_tokens += used[1] - reserved[1]

    def count_request(self) -> None:
        """Count one request. Raises EvaluationError if no further request is allowed."""
        if self._limits.max_requests is not None and self._requests >= self._limits.max_requests:
            raise EvaluationError(
                FailureCode.BUDGET_SPENT, f"the budget of {self._limits.max_requests} requests is spent"
            )
        self._requests += 1
