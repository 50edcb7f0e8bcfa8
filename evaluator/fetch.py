"""Get a model's files: from HANNUN_MODELS_DIR, a folder named outright, or the Hub at its exact commit."""

from pathlib import Path

from httpx2 import HTTPError
from huggingface_hub import snapshot_download
from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

from evaluator.types import ModelError
from submissions.checks import content_revision, local_model

ALLOWED = ["*.safetensors", "*.json", "*.txt", "*.model", "*.jinja"]  # weights and words, no code and no pickles


def fetch_model(model_id: str, revision: str, models_dir: Path | None) -> Path:
    """The folder with the model's files at this revision. Raises ModelError where it cannot be had."""
    folder = local_model(model_id, models_dir)
    if folder:
        if content_revision(folder) != revision:
            raise ModelError("model_not_found", f"{model_id} has changed since it was submitted")
        return folder
    try:
        return Path(snapshot_download(model_id, revision=revision, allow_patterns=ALLOWED))
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        raise ModelError("model_not_found", str(error)) from error
    except (HTTPError, OSError) as error:
        raise ModelError("hub_unavailable", str(error)) from error
