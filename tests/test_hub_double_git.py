"""The Hub double does what is known of the Hub's git, asked by git itself and by dulwich."""

import hashlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from dulwich import porcelain
from dulwich.client import HTTPUnauthorized

from tests.support.hub.repos import TOKEN, Hub
from tests.support.hub.server import serve

pytestmark = pytest.mark.integration

REPO, SPACE = "org/store", "spaces/org/board"
READ, STRANGER = "hf_read", "hf_stranger"
VERSIONS = pytest.mark.parametrize("version", ["0", "2"])


@pytest.fixture
def own(tmp_path: Path) -> Hub:
    made = Hub(tmp_path / "hub")
    made.create(REPO)
    made.create(SPACE)
    made.tokens |= {READ: "read", STRANGER: "none"}
    made.commit(REPO, {"a.json": b"{}\n", "b/c.json": b"[]\n"}, made.store(REPO).head(), "two files")
    return made


@pytest.fixture
def address(own: Hub) -> Iterator[str]:
    with serve(own) as address:
        yield address


def url(address: str, path: str, token: str | None = TOKEN) -> str:
    return address.replace("://", f"://user:{token}@" if token else "://") + f"/{path}"


def git(*arguments: str | Path, folder: Path | None = None, version: str = "2") -> subprocess.CompletedProcess[str]:
    settings = {"protocol.version": version, "user.name": "kim", "user.email": "kim@example.org"}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "HOME": "/nowhere",
    }
    return subprocess.run(
        ["git", *options, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@VERSIONS
def test_a_repository_is_cloned_by_those_who_may_read_it(own: Hub, address: str, tmp_path: Path, version: str) -> None:
    for token, said in ((TOKEN, ""), (READ, ""), (STRANGER, "not found"), (None, "could not read Username")):
        done = git("clone", url(address, f"datasets/{REPO}", token), tmp_path / str(token), version=version)
        assert bool(done.returncode) == bool(said) and said in done.stderr, done.stderr
    assert (tmp_path / TOKEN / "b/c.json").read_text() == "[]\n"
    own.public.add(REPO)
    assert (
        git("clone", url(address, f"datasets/{REPO}.git", None), tmp_path / "public", version=version).returncode == 0
    )
    assert git("clone", "--depth", "1", url(address, f"datasets/{REPO}", None), tmp_path / "shallow").returncode == 0
    assert git("rev-list", "--count", "HEAD", folder=tmp_path / "shallow").stdout == "1\n"


def test_dulwich_clones_it_too(own: Hub, address: str, tmp_path: Path) -> None:
    porcelain.clone(url(address, f"datasets/{REPO}"), str(tmp_path / "clone"))
    assert (tmp_path / "clone/a.json").read_text() == "{}\n"
    with pytest.raises(HTTPUnauthorized):
        porcelain.ls_remote(url(address, f"datasets/{REPO}", None))


@VERSIONS
def test_a_filter_is_accepted_and_single_objects_are_not_given(
    own: Hub, address: str, tmp_path: Path, version: str
) -> None:
    partial = ("clone", "--filter=blob:none", "--no-checkout", url(address, f"datasets/{REPO}"))
    assert git(*partial, tmp_path / "partial", version=version).returncode == 0
    shown = git("cat-file", "-p", "HEAD:a.json", folder=tmp_path / "partial", version=version)
    assert shown.returncode and "could not fetch" in shown.stderr
    if version == "2":
        assert "expected 'packfile'" in shown.stderr
    own.serves_single_objects = True
    assert git("cat-file", "-p", "HEAD:a.json", folder=tmp_path / "partial", version=version).stdout == "{}\n"


def test_a_request_that_git_compresses_is_not_understood(own: Hub, address: str, tmp_path: Path) -> None:
    store = own.store(REPO)
    head = store.head()
    for number in range(40):
        head = own.commit(REPO, {"n": b"%d" % number}, head, "one more")
        store.set_ref(f"refs/tags/v{number}", head)
    cloned = git("clone", url(address, f"datasets/{REPO}"), tmp_path / "clone")
    assert cloned.returncode and "expected 'packfile'" in cloned.stderr
    own.accepts_gzip = True
    assert git("clone", url(address, f"datasets/{REPO}"), tmp_path / "again").returncode == 0


@VERSIONS
def test_git_may_lag_behind(own: Hub, address: str, version: str) -> None:
    newest, before = [commit.id for commit in own.store(REPO).history("main")]
    own.lag = 2
    heads = [
        git("ls-remote", url(address, f"datasets/{REPO}"), "refs/heads/main", version=version).stdout.split("\t")[0]
        for _ in range(3)
    ]
    assert heads == [before, before, newest] and own.lag == 0


def pushed(address: str, folder: Path, files: dict[str, bytes], token: str = TOKEN) -> subprocess.CompletedProcess[str]:
    """A working tree of one commit, pushed over what the Space has."""
    git("init", "--quiet", "-b", "main", folder)
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    git("add", "--all", folder=folder)
    git("commit", "--quiet", "-m", "a tree", folder=folder)
    return git("push", "--force", url(address, SPACE, token), "main", folder=folder)


def test_a_space_takes_a_push(own: Hub, address: str, tmp_path: Path) -> None:
    done = pushed(address, tmp_path / "tree", {"app.py": b"print()\n", "large.txt": b"x" * (10 * 2**20)})
    assert done.returncode == 0, done.stderr
    assert own.store(SPACE).read("app.py", "main") == b"print()\n"


@pytest.mark.parametrize(
    ("files", "said"),
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
def test_a_space_refuses_what_belongs_in_lfs(
    own: Hub, address: str, tmp_path: Path, files: dict[str, bytes], said: str
) -> None:
    own.limits.entries_per_folder = 5
    before = own.store(SPACE).head()
    done = pushed(address, tmp_path / "tree", {"app.py": b"print()\n"} | files)
    assert done.returncode and said in done.stderr and "pre-receive hook declined" in done.stderr
    assert next(iter(files)).split("/")[0] in done.stderr and own.store(SPACE).head() == before


def test_what_a_later_commit_removes_is_refused_all_the_same(own: Hub, address: str, tmp_path: Path) -> None:
    assert pushed(address, tmp_path / "tree", {"logo.png": b"\x89PNG\0"}).returncode
    git("rm", "--quiet", "logo.png", folder=tmp_path / "tree")
    assert "- logo.png (ref: refs/heads/main)" in pushed(address, tmp_path / "tree", {"app.py": b"print()\n"}).stderr


def test_a_pointer_to_an_object_that_is_there_is_taken(own: Hub, address: str, tmp_path: Path) -> None:
    content = b"\x89PNG\0"
    oid = hashlib.sha256(content).hexdigest()
    own.keep_lfs(SPACE, oid, content)
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 5\n".encode()
    assert pushed(address, tmp_path / "tree", {"logo.png": pointer}).returncode == 0
    assert own.whole(own.store(SPACE).read("logo.png", "main")) == content


def test_who_may_read_a_space_may_not_push(address: str, tmp_path: Path) -> None:
    done = pushed(address, tmp_path / "tree", {"app.py": b"print()\n"}, READ)
    assert done.returncode and "403" in done.stderr


def test_lfs_objects_by_the_batch_api(own: Hub, address: str) -> None:
    """As git-lfs does: https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md"""
    content = b"PAR1"
    known = {"oid": hashlib.sha256(content).hexdigest(), "size": 4}

    def asked(operation: str, token: str = TOKEN, **changed: object) -> httpx2.Response:
        body = {"operation": operation, "transfers": ["basic"], "objects": [known | changed]}
        return httpx2.post(url(address, f"datasets/{REPO}.git/info/lfs/objects/batch", token), json=body)

    assert asked("download").json()["objects"][0]["error"]["code"] == 404
    assert asked("upload", READ).status_code == 403
    actions = asked("upload").json()["objects"][0]["actions"]
    assert httpx2.put(actions["upload"]["href"], content=b"PAR2").status_code == 400, "another hash"
    verify = actions["verify"]
    assert httpx2.post(verify["href"], headers=verify["header"], json=known).status_code == 404
    assert httpx2.put(actions["upload"]["href"], content=content).status_code == 200
    assert httpx2.post(verify["href"], headers=verify["header"], json=known).status_code == 200
    assert "actions" not in asked("upload").json()["objects"][0], "it is there already"
    assert asked("upload", size=5).json()["objects"][0]["error"]["code"] == 422
    download = asked("download", READ).json()["objects"][0]["actions"]["download"]["href"]
    assert download.startswith("http://localhost:") and httpx2.get(download).content == content
