"""Check the environment variables for signing in with Hugging Face."""

import os

from submissions.texts.errors import SettingsError

SIGN_IN_PATH = "/login/huggingface"  # Gradio's
OAUTH_VARIABLES = (
    "OAUTH_CLIENT_ID",
    "OAUTH_CLIENT_SECRET",
    "OAUTH_SCOPES",
    "OPENID_PROVIDER_URL",
    "SYSTEM",
    "SPACE_ID",
)


def check_sign_in() -> None:
    """Raise SettingsError if an environment variable that Gradio needs for signing in at the Hub is missing.

    Without SYSTEM and SPACE_ID, Gradio takes the process for a local one and signs everybody in as the operator.
    """
    if missing := [name for name in OAUTH_VARIABLES if not os.environ.get(name)]:
        raise SettingsError(
            f"HANNUN_AUTH=oauth needs {', '.join(missing)}: a Space has them with hf_oauth in its README (docs/deploy.md)"
        )
