"""Run a Ray cluster on this machine: a head without resources, and two nodes with separate work folders."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster

from scripts.support.engines import QUESTION_LOG
from submissions.config.settings import Settings
from tests.evaluator.worker.launchers.conftest import Place

NODE = {"num_cpus": 2, "num_gpus": 1}


class RayPlace(Place):
    """A Ray cluster as the place in which the launcher's jobs run."""

    def __init__(self, settings: Settings, cluster: Cluster, nodes: dict[Path, object]) -> None:
        super().__init__(settings, *nodes)
        self._cluster = cluster
        self._nodes = nodes

    @classmethod
    @contextmanager
    def started(cls, settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator["RayPlace"]:
        head = {
            "num_cpus": 0,
            "include_dashboard": False,
        }  # on the host's own address, because Ray's client does not support loopback
        cluster = Cluster(initialize_head=True, head_node_args=head)
        nodes: dict[Path, object] = {}
        try:
            for number in range(2):
                work_dir = folder / f"node-{number}"
                monkeypatch.setenv("HANNUN_WORK_DIR", str(work_dir))
                nodes[work_dir] = cluster.add_node(**NODE)
            monkeypatch.setenv("RAY_ADDRESS", cluster.address)
            yield cls(settings.model_copy(update={"launcher": "ray"}), cluster, nodes)
        finally:
            ray.shutdown()
            cluster.shutdown()

    def kill(self, key: str) -> None:
        """Kill a node that runs a job of the request, and the jobs on the other nodes."""
        folder = next(folder for folder in self._nodes if (folder / QUESTION_LOG).exists())
        self._cluster.remove_node(self._nodes.pop(folder), allow_graceful=False)
        super().kill(key)
