"""Read a model's repository from the Hub or a folder. Of weight files, only the headers are read.

The checks call this before a model is queued, in the board's process, so downloads are small and their sizes are limited.
What is read is a `Repository` (`submissions/hub_models/repository.py`).
"""

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from httpx2 import HTTPError
from huggingface_hub import HfApi, get_session, hf_hub_download, hf_hub_url
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

from submissions.hub_models.repository import (
    ADAPTER,
    LENGTH_BYTES,
    Header,
    Repository,
    card_field_text,
    folder_repository,
    is_adapter,
    json_or_empty,
    local_model,
    parsed_json,
    read_header,
    readable_settings_files,
    weight_files,
)
from submissions.records.hub_names import is_hub_id
from submissions.records.request import DEFAULT_REVISION
from submissions.texts.errors import RefusedError
from submissions.texts.refusals import RefusalCode

log = logging.getLogger(__name__)

CONNECTIONS = 8  # requests to the Hub that run at the same time for one model
MAX_REVISION = 100  # characters of the name of a branch, tag or commit
MAX_BRANCHES = 20  # branches whose history is searched for a commit
MAX_HEADERS = 20_000_000  # total bytes of the headers of all weight files; 50,000 tensors take 7 MB
TIMEOUT = 30.0  # seconds for one request of a header's length


def open_repository(model_id: str, revision: str | None, models_dir: Path | None) -> Repository:
    """Read a model from `models_dir` if it is there, or else from the Hub. An adapter includes its base model.

    `revision` is a branch, a tag or a commit; None is the newest commit. Raises RefusedError if the model cannot be read.
    """
    repository = _open(model_id, revision, models_dir)
    if local_model(model_id, models_dir):
        check_folder_revision(repository, revision)
    return with_base(repository, models_dir)


def check_folder_revision(repository: Repository, revision: str | None) -> None:
    """Raise RefusedError if a model's folder does not have this revision.

    A folder has a single revision, the hash of its content. None and "main" stand for it.
    """
    if revision not in (None, DEFAULT_REVISION, repository.revision):
        raise RefusedError(RefusalCode.REVISION_NOT_FOUND, "the model is a folder, which has only one revision")


def with_base(repository: Repository, models_dir: Path | None) -> Repository:
    """Add the base model to an adapter, and return any other repository unchanged.

    Raises RefusedError if the base model cannot be read.
    """
    if not is_adapter(repository.sizes):
        return repository
    settings = parsed_json(ADAPTER, repository.settings_files.get(ADAPTER, b""))
    base_id = settings.get("base_model_name_or_path")
    base_revision = settings.get("revision")
    if not isinstance(base_id, str) or not is_hub_id(base_id):
        raise RefusedError(RefusalCode.NO_BASE, f"{ADAPTER}: base_model_name_or_path {str(base_id)[:100]!r}")
    try:
        base = _open(base_id, base_revision if isinstance(base_revision, str) else None, models_dir)
    except RefusedError as refused:
        if refused.code == RefusalCode.HUB_UNREACHABLE:
            raise
        raise RefusedError(RefusalCode.NO_BASE, f"{base_id}: {refused.code}") from refused
    if is_adapter(base.sizes):
        raise RefusedError(RefusalCode.NO_BASE, f"{base_id}: {ADAPTER}")
    return replace(repository, base=base)


def with_declared_base(repository: Repository, models_dir: Path | None) -> Repository:
    """Add the model that the card names as its base, so that the names and shapes of their tensors can be compared.

    Return the repository unchanged if the card names none, or if the base cannot be read: the comparison is only shown.
    """
    base_id = repository.base_model
    if repository.base or not base_id or base_id == repository.model_id:
        return repository
    try:
        return replace(repository, declared_base=_open(base_id, None, models_dir))
    except RefusedError as refused:
        log.info("the declared base %s cannot be compared: %s", base_id, refused.code)
        return repository


def _open(model_id: str, revision: str | None, models_dir: Path | None) -> Repository:
    """Read a single repository. Raises RefusedError with the reason if it cannot be read.

    `revision` is ignored for a folder. The folder may have the base model of an adapter, and the revision that the adapter
    names for it is a commit on the Hub, which no folder has.
    """
    if not is_hub_id(model_id):
        raise RefusedError(RefusalCode.MALFORMED_ID)
    if revision and len(revision) > MAX_REVISION:
        raise RefusedError(RefusalCode.REVISION_NOT_FOUND, f"longer than {MAX_REVISION} characters")
    if folder := local_model(model_id, models_dir):
        return folder_repository(model_id, folder)
    try:
        return _hub_repository(model_id, revision)
    except GatedRepoError as error:
        raise RefusedError(RefusalCode.GATED) from error
    except RevisionNotFoundError as error:
        raise RefusedError(RefusalCode.REVISION_NOT_FOUND) from error
    except RepositoryNotFoundError as error:
        raise RefusedError(RefusalCode.NOT_FOUND) from error
    except (HTTPError, OSError) as error:
        raise RefusedError(RefusalCode.HUB_UNREACHABLE) from error


def _hub_repository(model_id: str, revision: str | None) -> Repository:
    """Read a repository on the Hub. Raises RefusedError if it may not be evaluated, and the errors of huggingface_hub."""
    api = HfApi()
    info = api.model_info(model_id, revision=revision, files_metadata=True)
    if info.gated:
        raise RefusedError(RefusalCode.GATED)
    if info.private or info.disabled or not info.sha:
        raise RefusedError(RefusalCode.NOT_FOUND)
    sha = info.sha
    if revision is not None and not _in_a_branch(api, model_id, revision, sha):
        raise RefusedError(RefusalCode.REVISION_NOT_FOUND, "not a branch or tag, and not in the history of a branch")
    model_id = info.id  # the canonical ID; the requested one may be an old name or differ in letter case
    if not is_hub_id(model_id):
        raise RefusedError(RefusalCode.NOT_FOUND)
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}

    with TemporaryDirectory() as scratch, ThreadPoolExecutor(CONNECTIONS) as pool:  # downloads are not kept

        def read(name: str) -> bytes:
            return Path(hf_hub_download(model_id, name, revision=sha, cache_dir=scratch)).read_bytes()

        names = readable_settings_files(sizes)
        settings_files = dict(zip(names, pool.map(read, names), strict=True))
        config = json_or_empty("config.json", settings_files)
        weights = weight_files(sizes, settings_files)
        lengths = _header_lengths(model_id, [name for name in weights if name in sizes], sha, pool)

        def header(name: str) -> Header | None:
            parse = partial(api.parse_safetensors_file_metadata, model_id, name, revision=sha)
            return read_header(sizes, name, lengths.get(name, 0), parse, config)

        headers = dict(zip(weights, pool.map(header, weights), strict=True))
    return Repository(
        model_id=model_id,
        revision=sha,
        license=card_field_text(info.card_data, "license"),
        sizes=sizes,
        settings_files=settings_files,
        headers=headers,
        base_model=card_field_text(info.card_data, "base_model"),
    )


def _in_a_branch(api: HfApi, model_id: str, revision: str, sha: str) -> bool:
    """Return whether a revision was published by the owner: a branch, a tag, or a commit in the history of a branch.

    The Hub also serves the commits of pull requests, which anyone may open.
    """
    refs = api.list_repo_refs(model_id)
    branches_and_tags = [*refs.branches, *refs.tags]
    if any(revision == ref.name or sha == ref.target_commit for ref in branches_and_tags):
        return True
    main_first = sorted((ref.name for ref in refs.branches), key=lambda name: name != "main")
    for branch in main_first[:MAX_BRANCHES]:
        history = api.list_repo_commits(model_id, revision=branch)
        if any(commit.commit_id == sha for commit in history):
            return True
    return False


def _header_lengths(model_id: str, names: Sequence[str], sha: str, pool: ThreadPoolExecutor) -> dict[str, int]:
    """Return the length in bytes of each weight file's header, without reading the headers.

    The length is a little-endian integer in the first LENGTH_BYTES of a file. A file may claim a header of any length, and
    headers are read into memory afterwards, so RefusedError is raised if they are longer than MAX_HEADERS in total.
    """

    def length(name: str) -> int:
        url = hf_hub_url(model_id, name, revision=sha)
        headers = {**build_hf_headers(), "Range": f"bytes=0-{LENGTH_BYTES - 1}"}
        response = get_session().get(url, headers=headers, timeout=TIMEOUT)
        response.raise_for_status()
        return int.from_bytes(response.content[:LENGTH_BYTES], "little")

    lengths = dict(zip(names, pool.map(length, names), strict=True))
    if (total := sum(lengths.values())) > MAX_HEADERS:
        raise RefusedError(RefusalCode.BROKEN_WEIGHTS, f"{total:,} > {MAX_HEADERS:,} bytes of headers")
    return lengths
