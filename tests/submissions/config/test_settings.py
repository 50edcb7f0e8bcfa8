"""Test that a wrong setting stops a program with one line that names the variable."""

import pytest

from evaluator.benchmarks import BENCHMARKS
from submissions.config.addresses import overlap
from submissions.config.settings import Settings, load_settings
from submissions.texts.errors import SettingsError


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("HANNUN_DATA", "{bad", "HANNUN_DATA: not valid JSON"),
        ("HANNUN_APIS", "x", "HANNUN_APIS: not valid JSON"),
        ("HANNUN_DATA", '{"ko-vaq": "/data"}', "HANNUN_DATA: unknown benchmark 'ko-vaq'; available: ko-vqa"),
        ("HANNUN_QUOTA", '{"ko-vaq": 2}', "HANNUN_QUOTA: unknown benchmark 'ko-vaq'"),
        ("HANNUN_COMMANDS", '{"start": "x", "state": "y"}', "HANNUN_COMMANDS: cancel: Field required"),
        (
            "HANNUN_APIS",
            '{"g": {"model_id": "a/b", "options": {"max_requests": 5}}}',
            "HANNUN_APIS: g: unknown field 'options'",
        ),
        ("HANNUN_APIS", '{"a": {"base_url": 5}}', "HANNUN_APIS: a: model_id is missing"),
        ("HANNUN_LEASE", "ten", "HANNUN_LEASE: 'ten' is not a duration"),
        ("HANNUN_PORT", "0", "HANNUN_PORT"),
        ("HANNUN_FRESH_SEED", "2026-q4", "HANNUN_FRESH_SEED: a seed has at least 32 characters, this one has 7"),
        ("HANNUN_DATA_TOKEN", "hf_토큰", "HANNUN_DATA_TOKEN: has characters that no token has"),
        ("HANNUN_HUB_TOKEN", "hf_a b", "HANNUN_HUB_TOKEN: has characters that no token has"),
        ("HANNUN_HUB_TOKEN_FILE", "/nowhere/token", "HANNUN_HUB_TOKEN_FILE: /nowhere/token cannot be read"),
        (
            "HANNUN_PRIVATE_STORE",
            "file://.hannun/store.git",
            "HANNUN_STORE and HANNUN_PRIVATE_STORE must be two stores",
        ),
        ("HANNUN_STORE", ".hannun/private-evaluations.git", "HANNUN_PRIVATE_QUEUE to a store of its own"),
        ("HANNUN_PRIVATE_QUEUE", ".hannun/private/inside", "HANNUN_PRIVATE_QUEUE to a store of its own"),
    ],
)
def test_load_settings_names_invalid_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=message) as error:
        load_settings(BENCHMARKS)
    assert "\n" not in str(error.value)


def test_load_settings_ignores_empty_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANNUN_STORE", "")
    assert load_settings() == Settings()


def test_load_settings_warns_once_of_misspelt_variable(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HANNUN_PRIVAT_STORE", "/elsewhere")
    monkeypatch.setenv("HANNUN_OWN_KEY", "named by a setting")
    monkeypatch.setenv("HANNUN_API_KEY", "the usual one")
    monkeypatch.setenv("HANNUN_EMBEDDINGS", '{"base_url": "x", "model": "y", "key": "HANNUN_OWN_KEY"}')
    load_settings()
    load_settings()
    assert caplog.messages == ["unknown setting HANNUN_PRIVAT_STORE; did you mean HANNUN_PRIVATE_STORE?"]


@pytest.mark.parametrize(
    ("first", "second", "overlapping"),
    [
        ("hf://buckets/org/p", "hf://buckets/org/p/copy", True),
        ("hf://buckets/Org/p/", "hf://buckets/org/p", True),
        ("hf://buckets/org/p", "hf://buckets/org/p2", False),
        ("s3://bucket/a/b", "s3://bucket/a", True),
        ("/data/store.git", "/data", True),
        ("/data/store.git", "/data/store", False),
        ("/data", "hf://buckets/org/p", False),
        ("/", "/data/store.git", True),
        ("hf://buckets/org/p//copy", "hf://buckets/org/p/copy", True),
        ("hf://buckets/org/p/a/../b", "hf://buckets/org/p/b", True),
        ("file:///data/x", "/data/../data/x/y", True),
    ],
)
def test_stores_overlap_if_one_lies_in_the_other(first: str, second: str, overlapping: bool) -> None:
    assert overlap(first, second) is overlapping and overlap(second, first) is overlapping
