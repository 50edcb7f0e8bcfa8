"""The environment variables of the inference process, with and without a sandbox.

No token and no setting of this project is among them. What is not named here does not reach the process.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from evaluator.sandbox.layout import SCRATCH_FOLDERS
from submissions.config.api_options import ApiOptions

# Variables that are taken over from the worker, if they are set.
KEPT = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "TMPDIR")
KEPT_FOR_REMOTE_SERVER = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE")  # and the server's key
KEPT_FOR_SPAWNED_SERVER = ("HOME",)  # where servers store compiled code
FIXED = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "true", "PYTHONUTF8": "1"}
# Of the user inside a sandbox. A list of users, where libraries would look for the name and the home, is not visible.
USER = {"HOME": SCRATCH_FOLDERS[0], "USER": "nobody"}
# transformers copies a model's Python files to this folder before it imports them.
CUSTOM_CODE = {"HF_MODULES_CACHE": f"{SCRATCH_FOLDERS[0]}/modules"}


def child_environment(api: ApiOptions | None, devices: Sequence[str] | None = None) -> dict[str, str]:
    """Return the environment variables of the inference process without a sandbox.

    `api` is the server that answers, if one does. `devices` are names as in CUDA_VISIBLE_DEVICES, by default those that
    this process sees.
    """
    kept = list(KEPT)
    if api and api.spawn is None:
        kept += [api.key, *KEPT_FOR_REMOTE_SERVER]
    elif api:
        kept += KEPT_FOR_SPAWNED_SERVER
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {**FIXED, "PATH": program_path()}
    if devices is not None:
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(devices)
    return environment


def inside_sandbox(environment: dict[str, str], *, custom_code: bool) -> dict[str, str]:
    """Return the variables of `child_environment`, changed for the inside of a sandbox.

    `custom_code` is whether the Python files in the model's folder may run.
    """
    return {**environment, **USER, **(CUSTOM_CODE if custom_code else {})}


def program_path() -> str:
    """Return the PATH of the inference process, with the programs of this Python environment first."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
