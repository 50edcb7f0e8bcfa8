"""Test that the Hub double behaves like the Hub's git server, with git and with dulwich."""

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from dulwich import porcelain
from dulwich.client import HTTPUnauthorized

from scripts.support.hub.repos import TOKEN, Hub
from scripts.support.hub.server import serve

pytestmark = [pytest.mark.integration, pytest.mark.slow]  # they test no product code

REPO, SPACE = "org/store", "spaces/org/board"
READ, STRANGER = "hf_read", "hf_stranger"
VERSIONS = pytest.mark.parametrize("version", ["0", "2"])


@pytest.fixture
def double(tmp_path: Path) -> Hub:
    made = Hub(tmp_path / "hub")
    made.create(REPO)
    made.create(SPACE)
    made.tokens |= {READ: "read", STRANGER: "none"}
    made.commit(REPO, {"a.json": b"{}\n", "b/c.json": b"[]\n"}, made.store(REPO).head(), "two files")
    return made


@pytest.fixture
def address(double: Hub) -> Iterator[str]:
    with serve(double) as address:
        yield address


def url(address: str, path: str, token: str | None = TOKEN) -> str:
    return address.replace("://", f"://user:{token}@" if token else "://") + f"/{path}"


def git(*arguments: str | Path, folder: Path | None = None, version: str = "2") -> subprocess.CompletedProcess[str]:
    settings = {"protocol.version": version, "user.name": "kim", "user.email": "kim@example.org"}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["git", *options, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@VERSIONS
def test_clone_requires_read_access(double: Hub, address: str, tmp_path: Path, version: str) -> None:
    for token, message in ((TOKEN, ""), (READ, ""), (STRANGER, "not found"), (None, "could not read Username")):
        done = git("clone", url(address, f"datasets/{REPO}", token), tmp_path / str(token), version=version)
        assert bool(done.returncode) == bool(message) and message in done.stderr, done.stderr
    assert (tmp_path / TOKEN / "b/c.json").read_text() == "[]\n"
    double.public.add(REPO)
    public = git("clone", url(address, f"datasets/{REPO}.git", None), tmp_path / "public", version=version)
    assert public.returncode == 0
    assert git("clone", "--depth", "1", url(address, f"datasets/{REPO}", None), tmp_path / "shallow").returncode == 0
    assert git("rev-list", "--count", "HEAD", folder=tmp_path / "shallow").stdout == "1\n"


def test_clone_with_dulwich(double: Hub, address: str, tmp_path: Path) -> None:
    porcelain.clone(url(address, f"datasets/{REPO}"), str(tmp_path / "clone"))
    assert (tmp_path / "clone/a.json").read_text() == "{}\n"
    with pytest.raises(HTTPUnauthorized):
        porcelain.ls_remote(url(address, f"datasets/{REPO}", None))


@VERSIONS
def test_partial_clone_gets_no_single_objects(double: Hub, address: str, tmp_path: Path, version: str) -> None:
    partial = ("clone", "--filter=blob:none", "--no-checkout", url(address, f"datasets/{REPO}"))
    assert git(*partial, tmp_path / "partial", version=version).returncode == 0
    shown = git("cat-file", "-p", "HEAD:a.json", folder=tmp_path / "partial", version=version)
    assert shown.returncode and "could not fetch" in shown.stderr
    if version == "2":
        assert "expected 'packfile'" in shown.stderr
    double.serves_single_objects = True
    assert git("cat-file", "-p", "HEAD:a.json", folder=tmp_path / "partial", version=version).stdout == "{}\n"


def test_clone_rejects_compressed_request(double: Hub, address: str, tmp_path: Path) -> None:
    store = double.store(REPO)
    head = store.head()
    for number in range(40):
        head = double.commit(REPO, {"n": b"%d" % number}, head, "one more")
        store.set_ref(f"refs/tags/v{number}", head)
    cloned = git("clone", url(address, f"datasets/{REPO}"), tmp_path / "clone")
    assert cloned.returncode and "expected 'packfile'" in cloned.stderr
    double.accepts_gzip = True
    assert git("clone", url(address, f"datasets/{REPO}"), tmp_path / "again").returncode == 0


def test_failure_of_git_backend_is_no_empty_answer(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\necho 'not a git command' >&2\nexit 1\n")
    program.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
        answer = httpx2.get(
            f"{address}/datasets/{REPO}/info/refs?service=git-upload-pack", headers={"Authorization": f"Bearer {TOKEN}"}
        )
    assert answer.status_code == 500 and "not a git command" in answer.text


@VERSIONS
def test_ls_remote_can_lag(double: Hub, address: str, version: str) -> None:
    newest, before = [commit.id for commit in double.store(REPO).history("main")]
    double.lag = 2
    ask = ("ls-remote", url(address, f"datasets/{REPO}"), "refs/heads/main")
    heads = [git(*ask, version=version).stdout.split("\t")[0] for _ in range(3)]
    assert heads == [before, before, newest] and double.lag == 0


def pushed(address: str, folder: Path, files: dict[str, bytes], token: str = TOKEN) -> subprocess.CompletedProcess[str]:
    """Commit the files in a new working tree and force-push it to the Space."""
    git("init", "--quiet", "-b", "main", folder)
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    git("add", "--all", folder=folder)
    git("commit", "--quiet", "-m", "a tree", folder=folder)
    return git("push", "--force", url(address, SPACE, token), "main", folder=folder)


def test_push_updates_space(double: Hub, address: str, tmp_path: Path) -> None:
    done = pushed(address, tmp_path / "tree", {"app.py": b"print()\n", "large.txt": b"x" * (10 * 2**20)})
    assert done.returncode == 0, done.stderr
    assert double.store(SPACE).read("app.py", "main") == b"print()\n"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"large.txt": b"x" * (10 * 2**20 + 1)}, "contains files larger than 10 MiB"),
        ({"assets/logo.png": b"\x89PNG\0"}, "contains binary files"),
        (
            {"logo.png": b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 5\n" % (b"0" * 64)},
            "an LFS pointer pointed to a file that does not exist",
        ),
        ({f"a/{n}": b"%d" % n for n in range(6)}, "too many files per directory"),
    ],
)
def test_push_rejects_files_that_need_lfs(
    double: Hub, address: str, tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    double.limits.entries_per_folder = 5
    before = double.store(SPACE).head()
    done = pushed(address, tmp_path / "tree", {"app.py": b"print()\n"} | files)
    assert done.returncode and message in done.stderr and "pre-receive hook declined" in done.stderr
    assert next(iter(files)).split("/")[0] in done.stderr and double.store(SPACE).head() == before


def test_push_rejects_file_removed_by_later_commit(double: Hub, address: str, tmp_path: Path) -> None:
    assert pushed(address, tmp_path / "tree", {"logo.png": b"\x89PNG\0"}).returncode
    git("rm", "--quiet", "logo.png", folder=tmp_path / "tree")
    assert "- logo.png (ref: refs/heads/main)" in pushed(address, tmp_path / "tree", {"app.py": b"print()\n"}).stderr


def test_push_accepts_pointer_to_existing_object(double: Hub, address: str, tmp_path: Path) -> None:
    content = b"\x89PNG\0"
    oid = hashlib.sha256(content).hexdigest()
    double.keep_lfs(SPACE, oid, content)
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 5\n".encode()
    assert pushed(address, tmp_path / "tree", {"logo.png": pointer}).returncode == 0
    assert double.whole(double.store(SPACE).read("logo.png", "main")) == content


def test_push_requires_write_access(address: str, tmp_path: Path) -> None:
    done = pushed(address, tmp_path / "tree", {"app.py": b"print()\n"}, READ)
    assert done.returncode and "403" in done.stderr


def test_lfs_batch_api_uploads_and_downloads(double: Hub, address: str) -> None:
    """Follow the batch API of git-lfs: https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md"""
    content = b"PAR1"
    known = {"oid": hashlib.sha256(content).hexdigest(), "size": 4}

    def batch(operation: str, token: str = TOKEN, **changed: object) -> httpx2.Response:
        body = {"operation": operation, "transfers": ["basic"], "objects": [known | changed]}
        return httpx2.post(url(address, f"datasets/{REPO}.git/info/lfs/objects/batch", token), json=body)

    assert batch("download").json()["objects"][0]["error"]["code"] == 404
    assert batch("upload", READ).status_code == 403
    actions = batch("upload").json()["objects"][0]["actions"]
    assert httpx2.put(actions["upload"]["href"], content=b"PAR2").status_code == 400, "the content has another hash"
    verify = actions["verify"]
    assert httpx2.post(verify["href"], headers=verify["header"], json=known).status_code == 404
    assert httpx2.put(actions["upload"]["href"], content=content).status_code == 200
    assert httpx2.post(verify["href"], headers=verify["header"], json=known).status_code == 200
    assert "actions" not in batch("upload").json()["objects"][0], "the object already exists"
    assert batch("upload", size=5).json()["objects"][0]["error"]["code"] == 422
    download = batch("download", READ).json()["objects"][0]["actions"]["download"]["href"]
    assert download.startswith("http://localhost:") and httpx2.get(download).content == content
