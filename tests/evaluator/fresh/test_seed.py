"""Test commit and reveal: the hash is public first, the seed later, and changes in between are detected."""

import shutil
from pathlib import Path

import pytest
from pydantic import SecretStr

from app import main as evaluator
from evaluator.core.errors import DataError
from evaluator.fresh.seed import commitment, differences, drawn_set, other_versions, reveal
from evaluator.worker.loop import Worker
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.record import record_json
from scripts.support.engines import LetterEngine, use_engine
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.config.settings import Settings
from submissions.records.result import EvalResult
from submissions.store.base import Store
from submissions.store.private import PrivateStore
from submissions.texts.errors import SettingsError
from tests.evaluator.worker.test_loop import submit

QUARTER = "2026Q4"


@pytest.fixture
def fresh_settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"fresh_n": 16})


def test_reveal_publishes_seed_of_committed_hash(fresh_settings: Settings, store: Store, tmp_path: Path) -> None:
    folder, whole = drawn_set(QUARTER, fresh_settings)
    public = commitment(store, QUARTER)
    seed = (Path(fresh_settings.private_store) / f"seeds/{QUARTER}").read_text()
    assert len(seed) == 64 and public.seed is None and (public.n, public.set_sha256) == (16, whole)
    assert all(seed.encode() not in store.read(path, store.head()) for path in store.snapshot().files)
    with pytest.raises(DataError, match="not revealed"):
        differences(public, tmp_path / "early")
    revealed = reveal(QUARTER, fresh_settings)
    assert revealed.seed == seed and revealed.set_sha256 == public.set_sha256
    assert differences(revealed, tmp_path / "again") == []
    files = [p.relative_to(folder) for p in folder.rglob("*") if p.is_file()]
    assert files and all((folder / p).read_bytes() == (tmp_path / "again" / p).read_bytes() for p in files)


def test_drawn_set_draws_once(fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    first = drawn_set(QUARTER, fresh_settings)
    monkeypatch.setattr("evaluator.fresh.seed.draw_set", None)
    assert drawn_set(QUARTER, fresh_settings) == first


@pytest.mark.parametrize("change", [{"fresh_seed": SecretStr("another seed of thirty-two characters")}, {"fresh_n": 8}])
def test_drawn_set_rejects_other_set_in_same_quarter(fresh_settings: Settings, change: dict[str, object]) -> None:
    drawn_set(QUARTER, fresh_settings)
    with pytest.raises(SettingsError, match="committed"):
        drawn_set(QUARTER, fresh_settings.model_copy(update=change))


def test_drawn_set_rejects_changed_files(fresh_settings: Settings) -> None:
    folder, _ = drawn_set(QUARTER, fresh_settings)
    items = folder / "items.jsonl"
    items.write_text(items.read_text(encoding="utf-8").replace("original", "twin", 1), encoding="utf-8")
    with pytest.raises(SettingsError, match="committed"):
        drawn_set(QUARTER, fresh_settings)


def test_differences_finds_changes(fresh_settings: Settings, tmp_path: Path) -> None:
    drawn_set(QUARTER, fresh_settings)
    revealed = reveal(QUARTER, fresh_settings)
    (found,) = differences(revealed.evolve(seed="another"), tmp_path / "a")
    assert found == "the seed has another hash than was published before"
    (found,) = differences(revealed.evolve(set_sha256="0" * 64), tmp_path / "b")
    assert found.startswith("the set has another hash")
    assert other_versions(revealed) == []
    assert len(other_versions(revealed.evolve(libraries={"matplotlib": "1.0"}, generator_sha256="0" * 64))) == 2


def test_reveal_requires_commitment(fresh_settings: Settings) -> None:
    with pytest.raises(DataError, match="nothing was committed"):
        reveal(QUARTER, fresh_settings)


@pytest.mark.integration
def test_worker_ranks_model_on_drawn_set(
    fresh_settings: Settings, store: Store, private: PrivateStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda command, policy: command)
    use_engine(monkeypatch, LetterEngine)
    submit(fresh_settings, "tiny/image-text", "ko-fresh")
    assert Worker(fresh_settings).run_pending() == 1
    (ranked,) = LiveBoard(store).view().boards["ko-fresh"]
    assert (ranked.rank, ranked.row.split, ranked.row.n) == (1, QUARTER, 16)
    assert "twins_right" in ranked.row.metrics
    view = LiveBoard(store).view()
    (public,) = record_json(view.boards, view.retired, view.commitments, view.private_attempts)["commitments"]
    result = LiveBoard(store).result_json(ranked.row.key) or b""
    assert EvalResult.model_validate_json(result).dataset.revision == public["set_sha256"][:40]
    assert public["quarter"] == QUARTER and public["seed"] is None


def test_live_board_does_not_rank_results_after_reveal(
    fresh_settings: Settings, store: Store, make_request: Make
) -> None:
    drawn_set(QUARTER, fresh_settings)
    early = evaluated(make_request(model_id="o/early", benchmark="ko-fresh"), 50.0, days_ago=1)
    store.commit({early.path: early.to_bytes()}, store.head(), "a result")
    reveal(QUARTER, fresh_settings)
    late = evaluated(make_request(model_id="o/late", benchmark="ko-fresh"), 99.0, days_ago=-1)
    store.commit({late.path: late.to_bytes()}, store.head(), "a result")
    view = LiveBoard(store).view()
    rows = {r.row.model: r for r in view.boards["ko-fresh"]}
    assert rows["o/early"].rank == 1 and rows["o/late"].rank is None
    assert rows["o/late"].row.retired == "evaluated after the seed was revealed"
    record = record_json(view.boards, view.retired, view.commitments, view.private_attempts)
    (retired,) = record["retired"]
    (commitment,) = record["commitments"]
    assert (retired["model"], retired["reason"]) == ("o/late", "evaluated after the seed was revealed")
    assert retired["since"][:19] == commitment["revealed_at"][:19]


@pytest.mark.slow
@pytest.mark.integration
def test_ko_fresh_command_draws_reveals_and_verifies(
    fresh_settings: Settings,
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HANNUN_STORE", fresh_settings.store)
    monkeypatch.setenv("HANNUN_PRIVATE_STORE", fresh_settings.private_store)
    monkeypatch.setenv("HANNUN_FRESH_N", "16")
    assert evaluator(["ko-fresh", "draw", "--seed", "mine", "--n", "8", "--out", str(tmp_path / "mine")]) == 0
    assert (tmp_path / "mine/items.jsonl").is_file()
    assert evaluator(["ko-fresh", "draw", "--seed", "mine", "--out", str(tmp_path / "mine")]) == 2
    assert "already exists" in capsys.readouterr().err
    assert evaluator(["ko-fresh", "draw", "--seed", "mine", "--out", str(tmp_path / "mine/items.jsonl/new")]) == 2
    assert capsys.readouterr().err.endswith("new: Not a directory\n")
    for wrong in (["--seed", ""], ["--seed", "mine", "--n", "9"], ["--seed", "\udce1"]):
        assert evaluator(["ko-fresh", "draw", *wrong, "--out", str(tmp_path / "wrong")]) == 2
        assert "the seed must be printable text" in capsys.readouterr().err
    drawn_set(QUARTER, fresh_settings)
    assert evaluator(["ko-fresh", "verify", QUARTER, "--out", str(tmp_path / "v")]) == 2
    assert "not revealed" in capsys.readouterr().err
    assert evaluator(["ko-fresh", "reveal", QUARTER, "--yes", "--dataset", "o/d", "--out", str(tmp_path / "r")]) == 0
    assert evaluator(["ko-fresh", "verify", QUARTER, "--out", str(tmp_path / "v")]) == 0
    assert str(commitment(store, QUARTER).set_sha256) in capsys.readouterr().out
    file = tmp_path / "commitment.json"
    file.write_bytes(commitment(store, QUARTER).evolve(set_sha256="0" * 64).to_bytes())
    shutil.rmtree(tmp_path / "v")
    assert evaluator(["ko-fresh", "verify", str(file), "--out", str(tmp_path / "v")]) == 1
