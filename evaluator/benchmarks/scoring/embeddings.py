"""Embed texts with the OpenAI-compatible server that HANNUN_EMBEDDINGS sets."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.core.errors import EvaluationError
from submissions.config.settings import load_settings
from submissions.texts.failure_codes import FailureCode

BATCH_SIZE = 64  # texts per request
MAX_CHARACTERS = 4000  # sent of a text; servers refuse texts longer than their context
Vectors = dict[str, NDArray[np.float64]]


class _InvalidReplyError(ValueError):
    """The server's vectors cannot be used. The message says why."""


def embedder() -> Callable[[Sequence[str]], Vectors] | None:
    """Return a function that maps each distinct text to its unit vector, or None if no server is set.

    An empty text has a zero vector. Raises SettingsError if the settings are invalid.
    """
    settings = load_settings().embeddings
    if settings is None:
        return None
    import openai

    client = openai.OpenAI(base_url=settings.base_url, api_key=os.environ.get(settings.key) or "none")

    def embed(texts: Sequence[str]) -> Vectors:
        """Embed texts. Raises EvaluationError if the server fails, because pages cannot be scored without it."""
        distinct = [text for text in dict.fromkeys(texts) if text.strip()]
        vectors: Vectors = {text: np.zeros(1) for text in texts}
        try:
            for first in range(0, len(distinct), BATCH_SIZE):
                batch = distinct[first : first + BATCH_SIZE]
                reply: Any = client.embeddings.create(
                    model=settings.model, input=[text[:MAX_CHARACTERS] for text in batch], encoding_format="float"
                )
                vectors |= dict(zip(batch, _unit_vectors(reply, len(batch)), strict=True))
        except _InvalidReplyError as error:
            message = f"the embedding server {settings.base_url}: {error}"
            raise EvaluationError(FailureCode.SERVER_FAILED, message) from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            message = f"the embedding server {settings.base_url}: {type(error).__name__}"
            raise EvaluationError(FailureCode.INTERNAL_ERROR, message) from error
        sizes = {len(vectors[text]) for text in distinct} or {1}
        if len(sizes) > 1:
            message = f"the embedding server {settings.base_url}: vectors of {len(sizes)} different lengths"
            raise EvaluationError(FailureCode.SERVER_FAILED, message)
        (size,) = sizes
        return {text: vector if text.strip() else np.zeros(size) for text, vector in vectors.items()}

    return embed


def _unit_vectors(reply: Any, count: int) -> list[NDArray[np.float64]]:
    """Return the vectors of a reply in the order of the texts, with length 1.

    Raises _InvalidReplyError if a text has none or several, or one without a direction.
    """
    try:
        rows = sorted(reply.data, key=lambda row: row.index)
        vectors = [np.asarray(row.embedding, np.float64) for row in rows]
    except (ValueError, TypeError, AttributeError):
        raise _InvalidReplyError("not a list of embeddings with an index each") from None
    if [row.index for row in rows] != list(range(count)):
        raise _InvalidReplyError(f"not exactly one vector for each of {count} texts")
    if any(vector.ndim != 1 or not vector.size for vector in vectors):
        raise _InvalidReplyError("an embedding is not a list of numbers")
    lengths = [float(np.linalg.norm(vector)) for vector in vectors]
    if not all(0 < length < np.inf for length in lengths):
        raise _InvalidReplyError("an embedding has no direction: it is zero or has values that are no numbers")
    return [vector / length for vector, length in zip(vectors, lengths, strict=True)]
