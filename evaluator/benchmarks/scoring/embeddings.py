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
MAX_CHARACTERS = 4000  # sent of a text
MIN_CHARACTERS = 100  # a text of this length fits into the context of every model
# Statuses of a request with too many texts, or with a text of too many tokens. llama.cpp's server replies 500 to the latter.
REFUSAL_STATUSES = (400, 413, 422, 500)
PLAIN_TEXT = "안녕하세요"  # sent to see whether a server embeds any text
Vectors = dict[str, NDArray[np.float64]]
Send = Callable[[list[str]], Any]  # sends texts to the server and returns its reply


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

    key_variable = settings.key
    client = openai.OpenAI(base_url=settings.base_url, api_key=os.environ.get(key_variable) or "none")
    server = f"the embedding server {settings.base_url}"

    def send(texts: list[str]) -> Any:
        return client.embeddings.create(model=settings.model, input=texts, encoding_format="float")

    def embed(texts: Sequence[str]) -> Vectors:
        """Embed texts.

        Raises EvaluationError, because pages cannot be scored without vectors. The code is INTERNAL_ERROR if the server
        cannot be reached or embeds nothing: the worker pauses, as the next request would fail too. It is SERVER_FAILED if
        the server cannot embed these texts, which a model can bring about with its answers: the worker goes on.
        """
        distinct = [text for text in dict.fromkeys(texts) if text.strip()]
        found: Vectors = {}
        try:
            for first in range(0, len(distinct), BATCH_SIZE):
                batch = distinct[first : first + BATCH_SIZE]
                vectors = _embed_batch(send, [_encodable(text)[:MAX_CHARACTERS] for text in batch])
                found |= zip(batch, vectors, strict=True)
        except _InvalidReplyError as error:
            raise EvaluationError(FailureCode.SERVER_FAILED, f"{server}: {error}") from error
        # UnicodeEncodeError: the key is not ASCII, so no request can be sent.
        except (openai.OpenAIError, UnicodeEncodeError) as error:
            is_refusal = isinstance(error, openai.APIStatusError) and error.status_code in REFUSAL_STATUSES
            is_text_the_reason = is_refusal and _embeds_plain_text(send)
            code = FailureCode.SERVER_FAILED if is_text_the_reason else FailureCode.INTERNAL_ERROR
            # Without the server's message, which may quote the text.
            raise EvaluationError(code, f"{server}: {type(error).__name__}") from error
        sizes = {len(vector) for vector in found.values()}
        if len(sizes) > 1:
            message = f"{server}: vectors of {len(sizes)} different lengths"
            raise EvaluationError(FailureCode.SERVER_FAILED, message)
        zero_vector = np.zeros(max(sizes, default=1))
        return {text: found.get(text, zero_vector) for text in texts}

    return embed


def _encodable(text: str) -> str:
    """Return a text with "?" for each unpaired surrogate, which cannot be sent as UTF-8."""
    return text.encode(errors="replace").decode()


def _embed_batch(send: Send, texts: list[str]) -> list[NDArray[np.float64]]:
    """Return the vectors of at most BATCH_SIZE texts, in their order.

    How many texts and tokens the server accepts at once is not known. If it refuses several texts, they are sent in two
    halves. If it refuses a single one, the first half of the text is sent instead, as libraries for embeddings cut off
    what is too long for the model. Raises OpenAIError if a short text is refused too or the server fails in another way.
    """
    import openai

    try:
        reply = send(texts)
    except openai.APIStatusError as error:
        if error.status_code not in REFUSAL_STATUSES:
            raise
        if len(texts) > 1:
            middle = len(texts) // 2
            return [*_embed_batch(send, texts[:middle]), *_embed_batch(send, texts[middle:])]
        (text,) = texts
        if len(text) <= MIN_CHARACTERS:
            raise
        return _embed_batch(send, [text[: len(text) // 2]])
    except (ValueError, TypeError, AttributeError) as error:  # of the client, which expects JSON with vectors
        raise _InvalidReplyError(f"not a list of embeddings: {type(error).__name__}") from error
    return _unit_vectors(reply, len(texts))


def _embeds_plain_text(send: Send) -> bool:
    """Return whether the server embeds a short text, so that it refused another one because of that text."""
    import openai

    try:
        send([PLAIN_TEXT])
    except (openai.OpenAIError, ValueError, TypeError, AttributeError):  # of the client, as in `_embed_batch`
        return False
    return True


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
