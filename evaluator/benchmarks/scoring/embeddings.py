"""Embeddings of texts, by the OpenAI-compatible server that HANNUN_EMBEDDINGS names."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.core.errors import EvaluationError
from submissions.config.settings import load_settings
from submissions.texts.failure_codes import FailureCode

BATCH = 64  # texts in a request
LONGEST = 4000  # characters of a text; servers refuse what is longer than their context
Vectors = dict[str, NDArray[np.float64]]


def embedder() -> Callable[[Sequence[str]], Vectors] | None:
    """What gives each distinct text its vector of length 1; None where no server is set. Raises SettingsError."""
    settings = load_settings().embeddings
    if settings is None:
        return None
    import openai

    client = openai.OpenAI(base_url=settings.base_url, api_key=os.environ.get(settings.key) or "none")

    def embed(texts: Sequence[str]) -> Vectors:
        """Raises EvaluationError where the server does not answer: no page is scored without it."""
        distinct = [text for text in dict.fromkeys(texts) if text.strip()]
        vectors: Vectors = {text: np.zeros(1) for text in texts}
        try:
            for first in range(0, len(distinct), BATCH):
                batch = distinct[first : first + BATCH]
                reply: Any = client.embeddings.create(
                    model=settings.model, input=[text[:LONGEST] for text in batch], encoding_format="float"
                )
                for text, row in zip(batch, sorted(reply.data, key=lambda r: r.index), strict=True):
                    vector = np.asarray(row.embedding, np.float64)
                    vectors[text] = vector / (np.linalg.norm(vector) or 1.0)
        except (openai.OpenAIError, ValueError, TypeError) as error:
            message = f"the embedding server {settings.base_url}: {type(error).__name__}"
            raise EvaluationError(FailureCode.INTERNAL_ERROR, message) from error
        size = max((len(vector) for vector in vectors.values()), default=1)
        return {text: v if len(v) == size else np.zeros(size) for text, v in vectors.items()}

    return embed
