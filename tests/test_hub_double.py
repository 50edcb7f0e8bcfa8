"""Test that the Hub double follows the Hub's documentation, with the real huggingface_hub client."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, constants, hf_hub_download
from huggingface_hub.errors import (
    BadRequestError,
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils._http import parse_ratelimit_headers

from scripts.support.hub.repos import TOKEN, Fault, Hub
from scripts.support.hub.server import build, serve

pytestmark = [pytest.mark.integration, pytest.mark.slow]  # they test no product code

REPO = "org/store"
READ, STRANGER = "hf_read", "hf_stranger"


class Clock:
    now = 1_790_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def double(tmp_path: Path, clock: Clock) -> Hub:
    made = Hub(tmp_path / "hub", clock)
    made.create(REPO)
    made.tokens |= {READ: "read", STRANGER: "none"}
    return made


@pytest.fixture
def address(double: Hub, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
    with serve(double) as address:
        yield address


@pytest.fixture
def api(address: str) -> HfApi:
    return HfApi(address, TOKEN)


def commit(api: HfApi, files: Mapping[str, bytes | None], **options: Any) -> str:
    operations = [CommitOperationDelete(p) if c is None else CommitOperationAdd(p, c) for p, c in files.items()]
    done = api.create_commit(REPO, operations, commit_message="a commit", repo_type="dataset", **options)
    return str(done.oid)


def posted(api: HfApi, *operations: tuple[str, dict[str, object]], **header: str) -> httpx2.Response:
    """Post a commit that the client would not make."""
    lines = [{"key": key, "value": value} for key, value in (("header", {"summary": "x", **header}), *operations)]
    url = f"{api.endpoint}/api/datasets/{REPO}/commit/main"
    return httpx2.post(url, content="\n".join(map(json.dumps, lines)), headers=bearer(TOKEN))


def fetched(api: HfApi, path: str, folder: Path, **options: Any) -> bytes:
    options = {"token": api.token, **options}
    found = hf_hub_download(REPO, path, repo_type="dataset", endpoint=api.endpoint, cache_dir=folder, **options)
    return Path(found).read_bytes()


def test_commit_is_read_back(double: Hub, api: HfApi, tmp_path: Path) -> None:
    files = {"a/한글 1.json": b"{}\n", "b.parquet": b"PAR1\0" * 100, "empty": b""}
    oid = commit(api, files)
    assert {path: fetched(api, path, tmp_path / "cache") for path in files} == files
    assert double.commits == 1 and double.leaks == [], "the storage received no token"
    assert [line for line in double.seen if "/lfs/" in line and line.startswith("GET")], (
        "the parquet file came from the storage"
    )
    info = api.dataset_info(REPO, files_metadata=True)
    sizes = {s.rfilename: s.size for s in info.siblings or [] if s.rfilename != ".gitattributes"}
    assert info.sha == oid and sizes == {path: len(content) for path, content in files.items()}
    (lfs,) = api.get_paths_info(REPO, "b.parquet", repo_type="dataset")
    assert isinstance(lfs, RepoFile) and lfs.lfs and lfs.size == 500
    assert lfs.lfs.sha256 == hashlib.sha256(b"PAR1\0" * 100).hexdigest()
    commit(api, {"a/한글 1.json": None})
    assert not api.file_exists(REPO, "a/한글 1.json", repo_type="dataset")
    with pytest.raises(EntryNotFoundError, match="A file with this name doesn't exist"):
        commit(api, {"a/한글 1.json": None})
    assert fetched(api, "a/한글 1.json", tmp_path / "other", revision=oid) == b"{}\n"


def test_file_metadata_match_the_hub(api: HfApi) -> None:
    oid = commit(api, {"a.json": b"{}\n", "b.parquet": b"PAR1\0"})
    regular = api.get_hf_file_metadata(url=api_url(api, "a.json"))
    assert regular.etag == hashlib.sha1(b"blob 3\0{}\n").hexdigest() and regular.size == 3
    lfs = api.get_hf_file_metadata(url=api_url(api, "b.parquet"))
    assert lfs.etag == hashlib.sha256(b"PAR1\0").hexdigest() and lfs.size == 5 and lfs.commit_hash == oid
    assert lfs.location.startswith("http://localhost:")
    part = httpx2.get(api_url(api, "a.json"), headers=bearer(TOKEN) | {"Range": "bytes=1-1"}, follow_redirects=True)
    assert part.status_code == 206 and part.content == b"}" and part.headers["Content-Range"] == "bytes 1-1/3"


@pytest.mark.parametrize(
    ("requested", "status", "content"),
    [
        ("bytes=1-1", 206, b"}"),
        ("bytes=1-", 206, b"}\n"),
        ("bytes=-1", 206, b"\n"),
        ("bytes=1-99", 206, b"}\n"),
        ("bytes=2-1", 200, b"{}\n"),  # invalid, so ignored
        ("bytes=-", 200, b"{}\n"),
        ("lines=1-1", 200, b"{}\n"),
        ("bytes=3-4", 416, b""),
        ("bytes=-0", 416, b""),
    ],
)
def test_range_follows_rfc_9110(api: HfApi, requested: str, status: int, content: bytes) -> None:
    commit(api, {"a.json": b"{}\n"})
    answer = httpx2.get(api_url(api, "a.json"), headers=bearer(TOKEN) | {"Range": requested}, follow_redirects=True)
    assert (answer.status_code, answer.content) == (status, content)


def api_url(api: HfApi, path: str) -> str:
    return f"{api.endpoint}/datasets/{REPO}/resolve/main/{path}"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_storage_requires_signed_address_and_no_token(double: Hub, api: HfApi) -> None:
    commit(api, {"b.parquet": b"PAR1\0"})
    location = httpx2.get(api_url(api, "b.parquet"), headers=bearer(TOKEN)).headers["Location"]
    assert httpx2.get(location).content == b"PAR1\0"
    assert httpx2.get(location.partition("?")[0]).status_code == 403
    assert httpx2.get(location.replace("localhost", "127.0.0.1")).status_code == 403
    assert httpx2.get(location, headers=bearer(TOKEN)).status_code == 400 and len(double.leaks) == 1


def test_commit_rejects_lfs_file_without_upload(double: Hub, api: HfApi) -> None:
    double.faults = [Fault("PUT /lfs/", status=200)]  # the storage accepts the upload and keeps nothing
    with pytest.raises(Exception, match=r"Error while uploading|does not exist"):
        commit(api, {"b.parquet": b"PAR1\0"})
    for size in (4, 5):
        file: dict[str, object] = {"path": "b.parquet", "algo": "sha256", "oid": "0" * 64, "size": size}
        response = posted(api, ("lfsFile", file))
        assert response.status_code == 400
        assert "LFS pointer pointed to a file that does not exist" in response.json()["error"]
    assert double.commits == 0


def test_commit_rejects_old_parent_unless_nothing_changes(double: Hub, api: HfApi) -> None:
    start = double.store(REPO).head()
    first = commit(api, {"claim": b"me"}, parent_commit=start)
    with pytest.raises(HfHubHTTPError, match="A commit has happened since") as refused:
        commit(api, {"claim": b"you"}, parent_commit=start)
    assert refused.value.response.status_code == 412
    same: dict[str, object] = {"path": "claim", "content": "bWU=", "encoding": "base64"}
    response = posted(api, ("file", same), parentCommit=start)
    assert response.json()["commitOid"] == first and double.commits == 1


def test_commit_rejects_too_many_files_in_folder(double: Hub, api: HfApi) -> None:
    double.limits.entries_per_folder = 5
    commit(api, {f"a/{n}": b"x" for n in range(5)})
    with pytest.raises(BadRequestError, match=r"too many files per directory.*up to 5 files.*/a/"):
        commit(api, {"a/5": b"x"})
    with pytest.raises(BadRequestError, match=r"Offending directories: /$"):
        commit(api, {f"{n}/x": b"x" for n in range(5)})
    commit(api, {"a/0": None, "a/5": b"x"})
    commit(api, {"a/1": b"y", "b/0": b"x"})


def test_commit_requires_lfs_for_large_and_binary_files(double: Hub, api: HfApi) -> None:
    commit(api, {"large.txt": b"x" * (10 * 2**20 + 1), "odd": b"\0"})
    files = api.get_paths_info(REPO, ["large.txt", "odd"], repo_type="dataset")
    assert [isinstance(file, RepoFile) and bool(file.lfs) for file in files] == [True, True]
    double.limits.regular_size = 10
    commit(api, {"12 bytes.txt": b"x" * 12})
    for content, message in (("MDEyMzQ1Njc4OTA=", "files larger than 10 MiB"), ("AAAA", "binary files")):
        response = posted(api, ("file", {"path": "f", "content": content, "encoding": "base64"}))
        assert response.status_code == 400 and message in response.json()["error"]
        assert "- f (ref: refs/heads/main)" in response.text


def test_commit_enforces_hourly_quota(double: Hub, api: HfApi, clock: Clock) -> None:
    double.limits.commits_per_hour = 3
    for number in range(3):
        commit(api, {"a": b"%d" % number})
        clock.now += 60
    with pytest.raises(HfHubHTTPError, match=r"rate limit for repository commits \(3 per hour\)") as refused:
        commit(api, {"a": b"3"})
    limits = parse_ratelimit_headers(refused.value.response.headers)
    assert refused.value.response.status_code == 429 and limits is not None
    assert (limits.remaining, limits.reset_in_seconds, limits.limit, limits.window_seconds) == (0, 3420, 3, 3600)
    clock.now += 3420
    commit(api, {"a": b"3"})


def test_requests_enforce_quota_of_window(double: Hub, api: HfApi, clock: Clock) -> None:
    double.rates.quotas = {"api": 2}
    clock.now -= clock.now % 300
    for left in (1, 0):
        limits = parse_ratelimit_headers(
            httpx2.get(f"{api.endpoint}/api/datasets/{REPO}", headers=bearer(TOKEN)).headers
        )
        assert limits is not None and limits.remaining == left and limits.reset_in_seconds == 300
    with pytest.raises(HfHubHTTPError, match="you have reached your 'api' rate limit"):
        api.list_repo_refs(REPO, repo_type="dataset")
    clock.now += 300
    api.list_repo_refs(REPO, repo_type="dataset")


def test_list_repo_tree_is_paged(double: Hub, api: HfApi) -> None:
    commit(api, {f"a/{n:02}.json": b"%d" % n for n in range(25)} | {"b.parquet": b"PAR1\0"})
    double.limits.tree_page = 10
    before = len(double.seen)
    listed = list(api.list_repo_tree(REPO, repo_type="dataset", recursive=True))
    assert [one.path for one in listed] == [".gitattributes", "a", *(f"a/{n:02}.json" for n in range(25)), "b.parquet"]
    assert len(double.seen) - before == 3
    top = [one.path for one in api.list_repo_tree(REPO, repo_type="dataset", expand=True)]
    assert top == [".gitattributes", "a", "b.parquet"]
    with pytest.raises(EntryNotFoundError):
        list(api.list_repo_tree(REPO, "nothing", repo_type="dataset"))
    with pytest.raises(RevisionNotFoundError):
        list(api.list_repo_tree(REPO, revision="nothing", repo_type="dataset"))


def test_list_repo_tree_ends_although_pages_hold_nothing(api: HfApi) -> None:
    commit(api, {"a": b"1"})
    url: str | None = f"{api.endpoint}/api/datasets/{REPO}/tree/main?limit=0"
    pages = 0
    while url and pages < 5:
        answer = httpx2.get(url, headers=bearer(TOKEN))
        url = answer.links.get("next", {}).get("url")
        pages += 1
    assert pages == 2  # of an entry each: .gitattributes and a


@pytest.mark.parametrize("revision", ["refs/pr/1", "feature/x"])
def test_revision_with_slash_is_read(double: Hub, api: HfApi, tmp_path: Path, revision: str) -> None:
    oid = commit(api, {"a/b.json": b"{}\n"})
    folder = "" if revision.startswith("refs/") else "refs/heads/"
    double.store(REPO).set_ref(f"{folder}{revision}", oid)
    commit(api, {"a/b.json": b"[]\n"})
    assert fetched(api, "a/b.json", tmp_path, revision=revision) == b"{}\n"
    assert api.dataset_info(REPO, revision=revision).sha == oid
    tree = api.list_repo_tree(REPO, "a", revision=revision, repo_type="dataset", expand=True)
    assert [one.path for one in tree] == ["a/b.json"]
    (described,) = api.get_paths_info(REPO, "a/b.json", revision=revision, repo_type="dataset", expand=True)
    assert isinstance(described, RepoFile) and described.last_commit and described.last_commit.oid == oid
    assert api.list_repo_commits(REPO, revision=revision, repo_type="dataset")[0].commit_id == oid


def test_pull_request_of_model_is_read(tmp_path: Path) -> None:
    (tmp_path / "hub/o/model").mkdir(parents=True)
    (tmp_path / "hub/o/model/config.json").write_bytes(b"{}")
    with serve(build(tmp_path / "hub")) as address:
        api = HfApi(address, token=False)
        assert [one.path for one in api.list_repo_tree("o/model", revision="refs/pr/1")] == ["config.json"]
        found = hf_hub_download(
            "o/model", "config.json", revision="refs/pr/1", endpoint=address, cache_dir=tmp_path / "c"
        )
        assert Path(found).read_bytes() == b"{}"


def test_branches_tags_history_and_squash(double: Hub, api: HfApi, clock: Clock) -> None:
    start = double.store(REPO).head()
    oid = commit(api, {"a": b"1"}, commit_description="why")
    api.create_branch(REPO, branch="old", revision=start, repo_type="dataset")
    with pytest.raises(HfHubHTTPError, match="Reference already exists"):
        api.create_branch(REPO, branch="old", repo_type="dataset")
    api.create_tag(REPO, tag="v1", revision=oid, repo_type="dataset")
    refs = api.list_repo_refs(REPO, repo_type="dataset")
    assert {b.name: b.target_commit for b in refs.branches} == {"main": oid, "old": start}
    assert {t.name: t.target_commit for t in refs.tags} == {"v1": oid}
    double.limits.commits_page = 1
    history = api.list_repo_commits(REPO, repo_type="dataset")
    described = [(c.commit_id, c.title, c.message) for c in history]
    assert described == [(oid, "a commit", "why"), (start, "initial commit", "")]
    assert history[0].created_at.timestamp() == clock.now
    api.super_squash_history(REPO, repo_type="dataset", commit_message="all")
    assert [c.title for c in api.list_repo_commits(REPO, repo_type="dataset")] == ["all"]
    assert double.store(REPO).read("a", "main") == b"1"
    api.delete_branch(REPO, branch="old", repo_type="dataset")
    api.delete_tag(REPO, tag="v1", repo_type="dataset")
    with pytest.raises(HfHubHTTPError, match="Cannot delete"):
        api.delete_branch(REPO, branch="main", repo_type="dataset")
    assert len(api.list_repo_refs(REPO, repo_type="dataset").branches) == 1


def test_api_responses_can_lag(double: Hub, api: HfApi) -> None:
    start = double.store(REPO).head()
    oid = commit(api, {"a": b"1"})
    double.refs_lag = double.info_lag = 1
    assert [api.list_repo_refs(REPO, repo_type="dataset").branches[0].target_commit for _ in range(2)] == [start, oid]
    assert [api.dataset_info(REPO).sha for _ in range(2)] == [start, oid]


WRITES: list[Callable[[HfApi], object]] = [
    lambda api: commit(api, {"a": b"1"}),
    lambda api: api.create_branch(REPO, branch="b", repo_type="dataset"),
    lambda api: api.super_squash_history(REPO, repo_type="dataset"),
]


@pytest.mark.parametrize("public", [False, True])
def test_roles_limit_reading_and_writing(double: Hub, address: str, tmp_path: Path, public: bool) -> None:
    if public:
        double.public.add(REPO)
    reader, stranger, nobody, forged = (HfApi(address, token) for token in (READ, STRANGER, False, "hf_forged"))
    assert reader.dataset_info(REPO).private is not public
    for write in WRITES:
        with pytest.raises(HfHubHTTPError, match="403 Forbidden: Authorization error"):
            write(reader)
    with pytest.raises(HfHubHTTPError, match="Invalid credentials") as refused:
        forged.dataset_info(REPO)
    assert refused.value.response.status_code == 401
    with pytest.raises(RepositoryNotFoundError):
        reader.dataset_info("org/nothing")
    for other, status in ((stranger, 404), (nobody, 401)):
        if public:
            assert fetched(other, ".gitattributes", tmp_path / str(status))
            continue
        with pytest.raises(RepositoryNotFoundError) as missing:
            other.dataset_info(REPO)
        assert missing.value.response.status_code == status
    double.grants[STRANGER, REPO] = "write"
    commit(stranger, {"a": b"1"})


def test_gated_repository_hides_files_without_role(double: Hub, address: str, tmp_path: Path) -> None:
    double.public.add(REPO)
    double.gated.add(REPO)
    stranger = HfApi(address, STRANGER)
    assert stranger.dataset_info(REPO).gated == "manual"
    with pytest.raises(GatedRepoError):
        fetched(stranger, ".gitattributes", tmp_path)
    assert fetched(HfApi(address, READ), ".gitattributes", tmp_path)


def test_double_counts_traffic_and_injects_faults(double: Hub, api: HfApi) -> None:
    commit(api, {"a": b"x" * 100_000})
    assert 130_000 < double.received < 150_000
    before = double.sent
    assert len(httpx2.get(api_url(api, "a"), headers=bearer(TOKEN), follow_redirects=True).content) == 100_000
    assert double.sent - before == 100_000
    double.faults = [Fault("POST .*/super-squash/", status=418), Fault("GET .*/refs", cut=True)]
    with pytest.raises(HfHubHTTPError, match="a fault on demand"):
        api.super_squash_history(REPO, repo_type="dataset")
    with pytest.raises(Exception, match=r"Expecting|Unterminated|EOF"):
        api.list_repo_refs(REPO, repo_type="dataset")


@pytest.mark.parametrize(
    ("repo_type", "sdk"), [("model", None), ("dataset", None), ("space", "gradio"), ("space", "static")]
)
def test_create_repo_returns_its_address(double: Hub, api: HfApi, repo_type: str, sdk: str | None) -> None:
    for _ in range(2):  # at the second time it exists already
        made = api.create_repo("org/made", repo_type=repo_type, space_sdk=sdk, exist_ok=True)
        assert (made.repo_type, made.repo_id) == (repo_type, "org/made")
    api.auth_check("org/made", repo_type=repo_type, write=True)
    with pytest.raises(RepositoryNotFoundError):
        api.auth_check("org/nothing", repo_type=repo_type)


def test_space_keeps_variables_and_runs_its_own_files(double: Hub, api: HfApi) -> None:
    double.create("spaces/org/made")  # without the API, as tests do
    api.add_space_variable("org/made", "NAME", "value")
    assert api.get_space_variables("org/made")["NAME"].value == "value"
    commit(api, {"app.py": b"print()"})  # to a dataset, which runs nothing
    assert api.get_space_runtime("org/made").stage == "NO_APP_FILE"
    api.upload_file(path_or_fileobj=b"print()", path_in_repo="app.py", repo_id="org/made", repo_type="space")
    assert api.get_space_runtime("org/made").stage == "RUNNING"
    with pytest.raises(RepositoryNotFoundError):
        api.get_space_variables("org/nothing")
    assert "spaces/org/nothing" not in double.spaces
