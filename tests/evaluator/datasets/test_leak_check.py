"""Test that content of a private test set is not published."""

import base64
import json
import os
import re
import shutil
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Item
from evaluator.core.errors import LeakError
from evaluator.datasets.leak_check import check_public
from evaluator.worker.loop import Worker
from scripts.support.engines import LoggingEngine, use_engine
from scripts.support.hub.repos import TOKEN, Hub
from submissions.config.paths import SAMPLES
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.store.open import open_store
from submissions.texts.errors import SettingsError
from tests.evaluator.worker.test_loop import submit

pytestmark = pytest.mark.integration

ITEM = Item(
    "7",
    "2019년 가온시의 정수장 예산은 모두 얼마였는가?",
    "2,434억 7천만 원",
    choices=("짧다",),
    extra={
        "images_described": "정수장에 밝은 등이 세 개 달린 정수장 모습의 사진",
        "checks": ({"text": "저수지 물은 세 해 동안 해마다 줄었다"},),
    },
)


@pytest.mark.parametrize(
    "public",
    [
        "정수장 예산은 모두 얼마였는가?" + " 2019년 가온시의 정수장 예산은 모두",
        "2019년 가온시의\n정수장   예산은 모두 얼마였는가",
        "밝은 등이 세 개 달린 정수장 모습의 사진",
        "저수지 물은 세 해 동안 해마다 줄었다",
        "x HANNUN-CANARY-3f1c x",
    ],
)
def test_check_public_finds_leak_without_quoting_it(tmp_path: Path, public: str) -> None:
    (tmp_path / "canary.txt").write_text("hannun-canary-3f1c\n")
    with pytest.raises(LeakError) as error:
        check_public([b"{}", json.dumps(public, ensure_ascii=False).encode()], [ITEM], tmp_path)
    assert "정수장" not in str(error.value) and "3f1c" not in str(error.value)


def test_check_public_accepts_common_text(tmp_path: Path) -> None:
    (tmp_path / "canary.txt").write_text("\n")
    check_public(['"가온시의 예산, 2,434억 7천만 원, 짧다"'.encode()], [ITEM], tmp_path)


def test_worker_withholds_leaking_result(settings: Settings, tmp_path: Path, dummy_engine: None) -> None:
    """Use a question of the test set as the licence, which is a submitted text that becomes public."""
    question = "누리 마을 도서관에는 몇 권의 책이 있었다고 하는가"
    data = tmp_path / "data"
    data.mkdir()
    (data / "page.html").write_text("<p>책 네 권</p>")
    row = {"id": "1", "question": question, "answer": "네 권", "page": "page.html"}
    row |= {"length": "short", "form": "paragraph"}
    (data / "items.jsonl").write_text(json.dumps(row, ensure_ascii=False))
    data_settings = settings.model_copy(update={"data": {"korquad-2": str(data)}})
    request = submit(data_settings, "tiny/extractive", "korquad-2")
    queue = Queue(open_store(data_settings.store))
    queue.cancel(request.key)
    queue.submit(request.evolve(license=question))
    Worker(data_settings).run_pending()
    after = queue.get(request.key)
    assert after.failure and (after.status, after.failure.code) == ("quarantined", "withheld")
    assert not any(path.startswith("results/") for path in queue.store.snapshot().files)


@pytest.mark.parametrize("benchmark", [name for name, benchmark in BENCHMARKS.items() if benchmark.card.data_stays])
def test_worker_rejects_hub_source_of_data_that_must_stay(settings: Settings, benchmark: str) -> None:
    abroad = settings.model_copy(update={"data": {benchmark: "hf://datasets/org/test"}})
    with pytest.raises(SettingsError, match="HANNUN_DATA_ABROAD"):
        Worker(abroad)
    Worker(abroad.model_copy(update={"data_abroad": [benchmark]}))


def test_worker_sends_no_item_content(
    hub: Hub, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run a model that repeats the question, with data and answers on this host and results on the Hub."""
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda command, policy: command)
    use_engine(monkeypatch, LoggingEngine)
    data = tmp_path / "data"
    shutil.copytree(SAMPLES / "ko-vqa", data)
    data_settings = settings.model_copy(
        update={"store": "hf://datasets/org/store", "hub_token": SecretStr(TOKEN), "data": {"ko-vqa": f"{data}#sample"}}
    )
    sent: list[bytes] = []
    call = Hub.__call__

    async def listening(self: Hub, scope: Any, receive: Any, send: Any) -> None:
        sent.append(f"{scope.get('path')}?{scope.get('query_string')} {scope.get('headers')}".encode())

        async def heard() -> Any:
            message = await receive()
            sent.append(message.get("body", b""))
            return message

        await call(self, scope, heard, send)

    monkeypatch.setattr(Hub, "__call__", listening)
    connected: set[Any] = set()
    connect = socket.socket.connect

    def connecting(self: socket.socket, address: Any) -> None:
        connected.add(address)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connecting)
    request = submit(data_settings, "tiny/image-text", "ko-vqa")
    Worker(data_settings).run_pending()
    assert Queue(open_store(data_settings.store, data_settings)).get(request.key).status == "finished"
    address = urlsplit(os.environ["HF_ENDPOINT"])
    assert {place[:2] for place in connected if isinstance(place, tuple)} == {(address.hostname, address.port)}
    bodies = b"\n".join(sent)
    coded = re.findall(rb'"(?:content|sample)": ?"([A-Za-z0-9+/=]+)"', bodies)
    everything = b"\n".join([bodies, *map(base64.b64decode, coded)])
    assert request.key.encode() in everything and b'"em"' in everything, "the sent data was inspected"
    everything += everything.decode(errors="replace").encode("unicode_escape")
    items = [json.loads(line) for line in (data / "items.jsonl").read_text().splitlines()]
    for item in items:
        for text in (item["question"], item["answer"]):
            assert text.encode() not in everything and text.encode("unicode_escape") not in everything
        for image in item["images"]:
            content = (data / image).read_bytes()
            assert content[100:164] not in everything
            assert base64.b64encode(content[99:162]) not in bodies
