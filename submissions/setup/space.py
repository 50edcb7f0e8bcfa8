"""Set up a board on the Hub: plan the dataset, the bucket, and the Space with its files, variables and secret.

`hannun init --space ORG/NAME` (`submissions/commands/init.py`) shows the plan and carries it out. The text of a step is the
call of `HfApi` that it makes. Nothing that exists already is made again, and nothing that belongs to somebody else is
changed.
"""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import TypeVar

from httpx2 import HTTPError
from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import BucketNotFoundError, HfHubHTTPError, RepositoryNotFoundError
from huggingface_hub.hf_api import DatasetInfo, SpaceInfo

from submissions.config.code_version import COMMIT_FILE, git_hash
from submissions.config.paths import ROOT
from submissions.records.hub_names import is_hub_id
from submissions.setup.plan import Plan, Step
from submissions.store.deadline import Deadline
from submissions.store.space_files import is_id_of, space_file_ids
from submissions.texts.errors import SettingsError, StoreError

T = TypeVar("T")
HUB_SECONDS = 120.0  # for one call, the upload of all files included; the client alone may wait for ever
_DEADLINE = Deadline()
# What a Space runs. Everything else in the repository is for people who work on it.
FILES = ("README.md", "LICENSE", "app.py", "requirements.txt", "assets", "evaluator", "leaderboard", "submissions")
INITIAL_FILES = (".gitattributes", "README.md")  # that the Hub puts into a new repository
STORE_FOLDERS = ("requests/", "results/", "index/", "fresh/")  # by which an existing store is recognised
NOT_UPLOADED = ("assets/screenshots",)
SECRET = "HANNUN_HUB_TOKEN"  # noqa: S105 - the name of the variable, not a token


@dataclass(frozen=True)
class HubBoard:
    """The names of everything that a board has on the Hub. All of them belong to the organisation of the Space."""

    space: str  # ORG/NAME
    static: bool = False  # whether the Space has files only, which a worker uploads

    @property
    def organisation(self) -> str:
        return self.space.partition("/")[0]

    @property
    def dataset(self) -> str:
        return f"{self.organisation}/hannun"

    @property
    def bucket(self) -> str:
        return f"{self.organisation}/hannun-private"

    @property
    def store(self) -> str:
        return f"hf://datasets/{self.dataset}"

    @property
    def private_store(self) -> str:
        return f"hf://buckets/{self.bucket}"

    @property
    def variables(self) -> dict[str, str]:
        """The variables of a Gradio Space."""
        return {
            "HANNUN_STORE": self.store,
            "HANNUN_PRIVATE_STORE": self.private_store,
            "HANNUN_WORKER": "off",
            "MALLOC_ARENA_MAX": "2",  # saves a tenth of the memory
        }


def check_space_name(space: str) -> str:
    """Return the name of a Space. Raises SettingsError if it is not `ORG/NAME`."""
    if not is_hub_id(space):
        raise SettingsError(f"--space {space}: name an organisation and a board, such as my-org/board")
    return space


def plan_space(board: HubBoard, api: HfApi, token: str | None) -> Plan:
    """Return what is missing on the Hub. `token` becomes the Space's secret.

    Raises SettingsError if there is no token, the Hub refuses or does not answer, or something that exists cannot be used,
    such as a public bucket or a Space with other files.
    """
    if not token:
        raise SettingsError(f"{SECRET} is not set: a token that may create and write in {board.organisation}")
    _call(lambda: api.whoami(), SECRET)  # fails early if the token is not valid
    plan = Plan(steps=[], kept=[])
    _plan_dataset(board, api, plan)
    _plan_bucket(board, api, plan)
    space = _plan_repository(board, api, plan)
    if not board.static:  # `python -m leaderboard build` uploads the files of a static one
        variables: dict[str, str] = {}
        if space:
            variables = _variables(board, api)
            _check_is_board(board, space, variables)
        _plan_settings(board, api, token, variables, space is not None, plan)
        _plan_files(board, api, space is not None, plan)
    return plan


def _plan_dataset(board: HubBoard, api: HfApi, plan: Plan) -> None:
    """Plan the public store. Raises SettingsError for a private dataset, or one that is not a store."""
    name = f"dataset {board.dataset}"
    info = _call_or_none(lambda: api.dataset_info(board.dataset), name)
    if info is None:
        create = partial(api.create_repo, board.dataset, repo_type="dataset", private=False, exist_ok=True)
        plan.steps.append(
            Step(f"create_repo({board.dataset!r}, repo_type='dataset', private=False)", _deferred(create, name))
        )
        return
    if info.private:
        raise SettingsError(f"{name} is private, but everybody shall see the results: make it public, or delete it")
    files = _added_files(info)
    if files and not any(file.startswith(STORE_FOLDERS) for file in files):
        raise SettingsError(f"{name} has other files, such as {files[0]}: choose another organisation")
    plan.kept.append(name)


def _plan_bucket(board: HubBoard, api: HfApi, plan: Plan) -> None:
    """Plan the private store. Raises SettingsError for a public bucket."""
    name = f"bucket {board.bucket}"
    info = _call_or_none(lambda: api.bucket_info(board.bucket), name)
    if info is None:
        create = partial(api.create_bucket, board.bucket, private=True, exist_ok=True)
        plan.steps.append(Step(f"create_bucket({board.bucket!r}, private=True)", _deferred(create, name)))
        return
    if not info.private:
        raise SettingsError(f"{name} is public, but answers and names belong there: make it private, or delete it")
    plan.kept.append(name)


def _plan_repository(board: HubBoard, api: HfApi, plan: Plan) -> SpaceInfo | None:
    """Plan the Space's repository. Return the Hub's description of it if it exists already."""
    name = f"Space {board.space}"
    sdk = "static" if board.static else "gradio"
    found = _call_or_none(lambda: api.space_info(board.space), name)
    if found is None:
        create = partial(api.create_repo, board.space, repo_type="space", space_sdk=sdk, private=False, exist_ok=True)
        plan.steps.append(
            Step(f"create_repo({board.space!r}, repo_type='space', space_sdk={sdk!r})", _deferred(create, name))
        )
        return None
    if found.sdk not in (sdk, None):
        raise SettingsError(f"{name} exists with the SDK {found.sdk}, not {sdk}: choose another name")
    plan.kept.append(name)
    return found


def _variables(board: HubBoard, api: HfApi) -> dict[str, str]:
    """Return the values of the Space's variables by name."""
    variables = _call(lambda: api.get_space_variables(board.space), f"the variables of {board.space}")
    return {name: str(variable.value) for name, variable in variables.items()}


def _check_is_board(board: HubBoard, space: SpaceInfo, variables: Mapping[str, str]) -> None:
    """Raise SettingsError if an existing Space is not this board: it would be overwritten, and would get the token.

    A Space without files of its own is new. This board's Space is recognised by its variable HANNUN_STORE.
    """
    if _added_files(space) and variables.get("HANNUN_STORE") != board.store:
        raise SettingsError(f"the Space {board.space} has other files: choose another name, or delete it")


def _added_files(info: DatasetInfo | SpaceInfo) -> list[str]:
    """Return the files of a repository that were added after it was created, by this program or by somebody else."""
    files = [sibling.rfilename for sibling in info.siblings or ()]
    return [file for file in files if file not in INITIAL_FILES]


def _plan_settings(
    board: HubBoard,
    api: HfApi,
    token: str,
    variables: Mapping[str, str],
    space_exists: bool,
    plan: Plan,
) -> None:
    """Plan the variables and the secret. The Hub does not return the value of a secret, so one that is set is kept."""
    for key, value in board.variables.items():
        if variables.get(key) == value:
            plan.kept.append(f"variable {key}={value}")
            continue
        add = partial(api.add_space_variable, board.space, key, value)
        plan.steps.append(
            Step(f"add_space_variable({board.space!r}, {key!r}, {value!r})", _deferred(add, f"variable {key}"))
        )
    if space_exists and SECRET in _call(lambda: api.get_space_secrets(board.space), f"the secrets of {board.space}"):
        plan.kept.append(f"secret {SECRET}, whatever its value")
        return
    add_secret = partial(api.add_space_secret, board.space, SECRET, token)
    plan.steps.append(
        Step(f"add_space_secret({board.space!r}, {SECRET!r}, …)", _deferred(add_secret, f"secret {SECRET}"))
    )


def _plan_files(board: HubBoard, api: HfApi, space_exists: bool, plan: Plan) -> None:
    """Plan one commit with the files that differ. Other files of the Space stay, including those of earlier versions."""
    name = f"the files of {board.space}"
    remote = _call(lambda: space_file_ids(api, board.space), name) if space_exists else {}
    files = space_files().items()
    adds = [CommitOperationAdd(path, content) for path, content in files if not is_id_of(remote.get(path), content)]
    if not adds:
        plan.kept.append(name)
        return
    message = f"Update to {git_hash() or 'this version'}"
    upload = partial(api.create_commit, board.space, adds, commit_message=message, repo_type="space")
    plan.steps.append(
        Step(f"create_commit({board.space!r}, {len(adds)} files, repo_type='space')", _deferred(upload, name))
    )


def space_files() -> dict[str, bytes]:
    """Return the contents of a Space's files by their paths: those that git tracks, or without git all but hidden ones."""
    names = _tracked_files() or _files_on_disk()
    wanted = [name for name in names if name.partition("/")[0] in FILES and not name.startswith(NOT_UPLOADED)]
    files = {name: (ROOT / name).read_bytes() for name in sorted(wanted) if (ROOT / name).is_file()}
    if commit := git_hash():
        files[COMMIT_FILE.name] = f"{commit}\n".encode()
    return files


def _tracked_files() -> list[str]:
    """Return the paths that git tracks, or none if this is not a git repository."""
    try:
        done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    if done.returncode != 0:
        return []
    return [name for name in done.stdout.split("\0") if name]


def _files_on_disk() -> list[str]:
    paths = [path.relative_to(ROOT) for top in FILES for path in (ROOT / top, *(ROOT / top).rglob("*"))]
    return [path.as_posix() for path in paths if not _is_left_out(path)]


def _is_left_out(path: PurePath) -> bool:
    """Return whether a path is hidden, or Python's cache of compiled code."""
    return any(part.startswith((".", "__pycache__")) for part in path.parts)


def _deferred(work: Callable[[], object], name: str) -> Callable[[], object]:
    """Return a function for a step of the plan that makes a request later, as `_call` does."""
    return lambda: _call(work, name)


def _call_or_none(work: Callable[[], T], name: str) -> T | None:
    """Make a request to the Hub as `_call` does, but return None if the repository or bucket does not exist."""
    try:
        return _DEADLINE.run(work, HUB_SECONDS)
    except (RepositoryNotFoundError, BucketNotFoundError):
        return None
    except (HTTPError, OSError, ValueError, StoreError) as error:
        raise _hub_error(name, error) from None


def _call(work: Callable[[], T], name: str) -> T:
    """Make a request to the Hub and return its answer.

    `name` is what the request is about, such as "dataset my-org/hannun". Raises SettingsError with one line that begins with
    it if the Hub refuses or does not answer within HUB_SECONDS.
    """
    try:
        return _DEADLINE.run(work, HUB_SECONDS)
    except (HTTPError, OSError, ValueError, StoreError) as error:
        raise _hub_error(name, error) from None


def _hub_error(name: str, error: Exception) -> SettingsError:
    """Return the error that tells the operator what went wrong with a request, and what to do."""
    if isinstance(error, StoreError):
        return SettingsError(f"{name}: {error}")
    if not isinstance(error, HfHubHTTPError):
        return SettingsError(f"{name}: the Hub does not answer ({type(error).__name__}); run this again later")
    status = error.response.status_code
    remedies = {
        401: "the token is not valid",
        402: "the Hub wants a paid plan for this; --static makes a Space of files, which is free",
        403: "the token may not do this, or the name belongs to somebody else",
        404: "the token may not see it, or it does not exist",
        409: "the name is taken",
    }
    message = " ".join(str(error.server_message or "").split())[:200]  # on one line
    remedy = remedies.get(status, "run this again later")
    if not message:
        return SettingsError(f"{name}: {status}: {remedy}")
    return SettingsError(f"{name}: the Hub answers {status} ({message}): {remedy}")
