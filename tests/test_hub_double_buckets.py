"""Test the Hub double's Storage Buckets with the real clients: huggingface_hub and hf_xet."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import HfApi, hf_hub_download
from huggingface_hub.errors import BucketNotFoundError, HfHubHTTPError
from huggingface_hub.utils.tqdm import disable_progress_bars, enable_progress_bars

from scripts.support.hub.repos import TOKEN, Fault, Hub
from scripts.support.hub.server import serve
from scripts.support.hub.xet_client import own_xet_session

pytestmark = [pytest.mark.integration, pytest.mark.slow]  # they test no product code

BUCKET, REPO = "org/results", "org/store"
READ, STRANGER = "hf_read", "hf_stranger"


@pytest.fixture
def double(tmp_path: Path) -> Hub:
    made = Hub(tmp_path / "hub")
    made.tokens |= {READ: "read", STRANGER: "none"}
    return made


@pytest.fixture
def address(double: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    own_xet_session(monkeypatch, tmp_path / "xet")
    disable_progress_bars()
    with serve(double) as address:
        yield address
    enable_progress_bars()


@pytest.fixture
def api(address: str) -> HfApi:
    made = HfApi(address, TOKEN)
    made.create_bucket(BUCKET, private=True)
    return made


CONTENTS = {
    "random": os.urandom(300_000),
    "runs": b"abc" * 200_000,
    "floats": b"".join(n.to_bytes(4, "little") for n in range(100_000)),
    "short": b"{}\n",
    "empty": b"",
}


def test_bucket_upload_and_download(double: Hub, api: HfApi, tmp_path: Path) -> None:
    api.batch_bucket_files(BUCKET, add=[(content, f"d/{name}") for name, content in CONTENTS.items()])
    api.download_bucket_files(BUCKET, [(f"d/{name}", tmp_path / name) for name in CONTENTS])
    assert {name: (tmp_path / name).read_bytes() for name in CONTENTS} == CONTENTS
    files = double.buckets[f"buckets/{BUCKET}"].files
    assert {name: double.cas.content(files[f"d/{name}"].xet_hash) for name in CONTENTS} == CONTENTS
    info = api.bucket_info(BUCKET)
    assert info.private and info.total_files == 5 and info.size == sum(map(len, CONTENTS.values()))
    assert double.leaks == []


def test_bucket_list_overwrite_copy_and_delete(double: Hub, api: HfApi, tmp_path: Path) -> None:
    api.batch_bucket_files(BUCKET, add=[(b"1", "a/b/one"), (b"2", "a/two"), (b"3", "three")])
    assert [f.path for f in api.list_bucket_tree(BUCKET, recursive=True)] == ["a/b/one", "a/two", "three"]
    assert [(f.type, f.path) for f in api.list_bucket_tree(BUCKET)] == [("directory", "a"), ("file", "three")]
    assert [f.path for f in api.list_bucket_tree(BUCKET, "a")] == ["a/b", "a/two"]
    (one,) = api.get_bucket_paths_info(BUCKET, ["a/b/one", "nothing"])
    api.batch_bucket_files(
        BUCKET, add=[(b"22", "a/two")], copy=[("bucket", BUCKET, one.xet_hash, "copy")], delete=["three"]
    )
    sizes = {f.path: f.size for f in api.list_bucket_tree(BUCKET, recursive=True) if f.type == "file"}
    assert sizes == {"a/b/one": 1, "a/two": 2, "copy": 1}
    with pytest.raises(HfHubHTTPError, match="Xet file not found"):
        api.batch_bucket_files(BUCKET, copy=[("bucket", BUCKET, "f" * 64, "nothing")])
    api.delete_bucket(BUCKET)
    with pytest.raises(BucketNotFoundError):
        api.bucket_info(BUCKET)


@pytest.mark.parametrize("public", [False, True])
def test_bucket_roles(double: Hub, api: HfApi, public: bool) -> None:
    api.batch_bucket_files(BUCKET, add=[(b"1", "a")])
    api.update_bucket_settings(BUCKET, private=not public)
    for token, status in ((STRANGER, 404), (False, 401)):
        other = HfApi(api.endpoint, token)
        if public:
            assert len(list(other.list_bucket_tree(BUCKET))) == 1
        else:
            with pytest.raises(BucketNotFoundError) as refused:
                other.bucket_info(BUCKET)
            assert refused.value.response.status_code == status
    reader = HfApi(api.endpoint, READ)
    assert reader.bucket_info(BUCKET).total_files == 1
    with pytest.raises(HfHubHTTPError, match="Authorization error"):
        reader.batch_bucket_files(BUCKET, delete=["a"])
    with pytest.raises(Exception, match=r"403|Forbidden"):
        reader.batch_bucket_files(BUCKET, add=[(b"2", "a")])
    with pytest.raises(HfHubHTTPError, match="already created"):
        api.create_bucket(BUCKET)
    assert api.create_bucket(BUCKET, exist_ok=True).bucket_id == BUCKET


def test_bucket_adds_nothing_after_failed_upload(double: Hub, api: HfApi) -> None:
    double.faults = [Fault("POST /cas/v./shards", status=400, times=10)]
    with pytest.raises(Exception, match=r"400|Bad Request"):
        api.batch_bucket_files(BUCKET, add=[(b"new", "a")])
    assert double.buckets[f"buckets/{BUCKET}"].files == {}


def test_repository_lfs_upload_uses_xet(double: Hub, api: HfApi, tmp_path: Path) -> None:
    double.create(REPO)
    api.upload_file(path_or_fileobj=CONTENTS["floats"], path_in_repo="a.parquet", repo_id=REPO, repo_type="dataset")
    assert not [line for line in double.seen if "/info/lfs" in line] and double.commits == 1
    pointer = double.store(REPO).read("a.parquet", "main")
    assert hashlib.sha256(CONTENTS["floats"]).hexdigest().encode() in pointer
    found = hf_hub_download(
        REPO, "a.parquet", repo_type="dataset", endpoint=api.endpoint, token=TOKEN, cache_dir=tmp_path
    )
    assert Path(found).read_bytes() == CONTENTS["floats"]
    assert [line for line in double.seen if "/reconstructions/" in line]
