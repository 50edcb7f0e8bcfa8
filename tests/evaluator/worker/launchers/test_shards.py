"""Test shards: several processes answer parts of a set, and the result equals that of a single process."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.core.data_types import Item
from evaluator.job.folder import MAX_LINE
from evaluator.results.shard import Shard, parse_shard
from evaluator.worker.backup import AnswerBackup
from evaluator.worker.loop import Worker
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.records.result import EvalResult
from submissions.store.open import open_private_store, open_store
from tests.evaluator.worker.launchers.conftest import Place
from tests.evaluator.worker.launchers.test_contract import nothing_asked_twice, when_answered
from tests.evaluator.worker.test_loop import submit

pytestmark = pytest.mark.integration

TIME_FIELDS = {"date", "total_evaluation_time_seconds", "latency", "cost"}


def result_of(settings: Settings, key: str) -> dict[str, Any]:
    """Return a result without the fields that measure time."""
    store = open_store(settings.store)
    snapshot = store.snapshot()
    (path,) = [path for path in snapshot.files if path.startswith("results/") and key in path]
    result = EvalResult.model_validate_json(store.read(path, snapshot.head)).model_dump(mode="json", by_alias=True)
    return {name: value for name, value in result.items() if name not in TIME_FIELDS}


def details_of(settings: Settings, key: str) -> bytes:
    rows = open_private_store(settings).read(f"details/{key[:2]}/{key}.jsonl").splitlines()
    # The ids depend on the key of the store, so leave them out.
    return b"\n".join(json.dumps({**json.loads(row), "id": ""}).encode() for row in rows)


@pytest.mark.slow
def test_shards_give_same_result_as_one_process(place: Place, tmp_path: Path) -> None:
    whole = place.settings.model_copy(
        update={"store": str(tmp_path / "whole.git"), "private_store": str(tmp_path / "apart"), "launcher": "local"}
    )
    request = submit(whole, "tiny/image-text", "ko-vdc")
    Worker(whole).run_pending()
    for folder in place.folders:
        (folder / "asked.log").unlink(missing_ok=True)
        for kept in folder.glob("answers/*"):
            kept.unlink()
    shards = place.settings.model_copy(update={"shards": {"ko-vdc": 3}})
    assert submit(shards, "tiny/image-text", "ko-vdc").key == request.key
    assert Worker(shards).run_pending() == 1
    nothing_asked_twice(place)
    one = result_of(whole, request.key)
    other = result_of(shards, request.key)
    assert one.pop("provenance")["kind"] == other.pop("provenance")["kind"] == "verified"
    assert one == other
    assert details_of(whole, request.key) == details_of(shards, request.key)


def test_shards_keep_answers_of_lost_shard(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = place.settings.model_copy(update={"shards": {"ko-vdc": 2}, "slots": 2})
    place.settings = settings
    place.answers_end_after(7)
    request = submit(settings, "tiny/image-text", "ko-vdc")
    worker = Worker(settings)

    def kill() -> None:
        place.answers_end_after(None)
        place.kill(request.key)

    when_answered(place, 14 if settings.launcher != "local" else 7, kill, monkeypatch)
    worker.run_pending()
    assert Queue(open_store(settings.store)).get(request.key).status == "finished"
    nothing_asked_twice(place)


def test_shard_of_keeps_clusters_together() -> None:
    items = [Item(str(number), "", "", cluster=f"page {number // 5}") for number in range(103)]
    for count in (1, 2, 3, 7, 30):
        parts = [Shard(number, count).of(items) for number in range(count)]
        assert [one.id for part in parts for one in part] == [one.id for one in items], (
            "the items stay in order and appear once"
        )
        assert not any({a.cluster for a in x} & {b.cluster for b in y} for x in parts for y in parts if x is not y)
    for wrong in ("1", "2/2", "a/b", "-1/2"):
        with pytest.raises(ValueError, match="is not a shard"):
            parse_shard(wrong)


def test_restore_joins_answers_of_several_hosts(settings: Settings, tmp_path: Path) -> None:
    private = open_private_store(settings)
    key = "a" * 32
    lines = [f'{{"id": "{number:032x}-0", "text": "x"}}\n'.encode() for number in range(6)]
    for number in range(2):
        backup = AnswerBackup(private, key, 1, tmp_path / f"shard-{number}", Shard(number, 2))
        backup.restore()
        with (tmp_path / f"shard-{number}/out/answers.jsonl").open("ab") as answers:
            answers.writelines(lines[3 * number : 3 * number + 3])
        backup.update()
    here = tmp_path / "here/out/answers.jsonl"
    here.parent.mkdir(parents=True)
    here.write_bytes(lines[0] + lines[4] + lines[5][:9])  # a killed writer cut off the last line
    AnswerBackup(private, key, 2, tmp_path / "here").restore()
    assert sorted(here.read_bytes().splitlines(keepends=True)) == lines


def test_restore_cuts_answers_at_a_line_that_is_too_long(settings: Settings, tmp_path: Path) -> None:
    """Such a line was forged by a model. What follows it is not trusted, but comes back from the backup."""
    private = open_private_store(settings)
    key = "a" * 32
    lines = [f'{{"id": "{number:032x}-0", "text": "x"}}\n'.encode() for number in range(3)]
    backup = AnswerBackup(private, key, 1, tmp_path / "lost")
    backup.restore()
    (tmp_path / "lost/out/answers.jsonl").write_bytes(b"".join(lines))
    backup.update()
    here = tmp_path / "here/out/answers.jsonl"
    here.parent.mkdir(parents=True)
    here.write_bytes(lines[0] + b"x" * (MAX_LINE + 100) + b"\n" + lines[1])
    AnswerBackup(private, key, 2, tmp_path / "here").restore()
    assert here.read_bytes().splitlines(keepends=True) == lines
