"""Test reading a model from a folder whose files are not what they seem."""

import json
import os
from pathlib import Path

import pytest

from submissions.hub_models.repository import code_digests, folder_repository


@pytest.mark.parametrize(
    "named", ["x\0.safetensors", "../outside.safetensors", "pipe.safetensors", "missing.safetensors"]
)
def test_index_may_name_any_file(named: str, tmp_path: Path) -> None:
    """None of them is opened: a name with a null byte raises ValueError, a pipe would block for ever."""
    model = tmp_path / "model"
    model.mkdir()
    (tmp_path / "outside.safetensors").write_bytes(b"secret")
    os.mkfifo(model / "pipe.safetensors")
    (model / "config.json").write_text("{}")
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": named}}))
    assert folder_repository("o/m", model).headers == {named: None}


def test_folder_with_the_name_of_code_is_no_code(tmp_path: Path) -> None:
    (tmp_path / "tests.py").mkdir()
    (tmp_path / "model.py").write_text("x = 1")
    assert list(code_digests(tmp_path)) == ["model.py"]
