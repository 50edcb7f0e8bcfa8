"""Serve Jobs and pull requests to models for the Hub double.

Source: the requests that the huggingface_hub client sends, and https://huggingface.co/docs/hub/jobs
"""

import base64
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

TOKEN = "hf_write"  # may read and write every repository
OWNER = {"id": "1", "name": "org", "type": "org"}
ACCOUNTS: dict[str, dict[str, Any]] = {  # by token
    TOKEN: {"type": "user", "name": "org"},
    "hf_person": {"type": "user", "name": "lee", "orgs": [{"type": "org", "name": "lab", "fullname": "The Lab"}]},
    "hf_organisation": {"type": "org", "name": "lab"},
}


HARDWARE: list[dict[str, Any]] = [
    {
        "name": "cpu-basic",
        "prettyName": "CPU Basic",
        "cpu": "2 vCPU",
        "ram": "16 GB",
        "accelerator": None,
        "unitCostUSD": 0.000167,
    },
    {
        "name": "a10g-small",
        "prettyName": "Nvidia A10G - small",
        "cpu": "4 vCPU",
        "ram": "15 GB",
        "accelerator": {"type": "gpu", "model": "A10G", "quantity": "1", "vram": "24 GB", "manufacturer": "Nvidia"},
        "unitCostUSD": 0.016667,
    },
    {
        "name": "a100-large",
        "prettyName": "Nvidia A100 - large",
        "cpu": "12 vCPU",
        "ram": "142 GB",
        "accelerator": {"type": "gpu", "model": "A100", "quantity": "1", "vram": "80 GB", "manufacturer": "Nvidia"},
        "unitCostUSD": 0.041667,
    },
]


class Runner:
    """Run jobs as processes on this machine: only the last line of their command, with this Python."""

    def __init__(self) -> None:
        # The environment of the image. None means that jobs are recorded but not run.
        self.environment: Mapping[str, str] | None = None
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._cancelled: set[str] = set()

    def start(self, job: dict[str, Any]) -> None:
        if self.environment is None:
            return
        arguments = shlex.split(job["command"][-1].splitlines()[-1])[2:]  # without `exec python`
        environment = {**os.environ, **self.environment, **job["environment"], **job.get("secrets", {})}
        self._processes[job["id"]] = subprocess.Popen([sys.executable, *arguments], env=environment)

    def cancel(self, job_id: str) -> None:
        self._cancelled.add(job_id)
        self._processes[job_id].terminate()

    def stage(self, job_id: str) -> str:
        if job_id not in self._processes or (code := self._processes[job_id].poll()) is None:
            return "RUNNING"
        if job_id in self._cancelled:
            return "CANCELED"
        if code:
            return "ERROR"
        return "COMPLETED"


def serve_jobs(
    app: FastAPI, jobs: list[dict[str, Any]], pulls: list[tuple[str, dict[str, bytes]]], runner: Runner
) -> None:
    """Serve jobs and pull requests.

    `jobs` collects the created jobs with their `kind`, and `pulls` the pull requests as repository and files.
    """

    @app.get("/api/whoami-v2")
    def whoami(request: Request) -> Response:
        who = ACCOUNTS.get(request.headers.get("Authorization", "").removeprefix("Bearer "))
        return JSONResponse(who) if who else JSONResponse({"error": "Invalid username or password."}, 401)

    @app.post("/api/scheduled-jobs/{namespace}")
    async def create(request: Request, namespace: str) -> dict[str, Any]:
        made = {**(await request.json()), "kind": "scheduled", "id": f"job-{len(jobs)}", "namespace": namespace}
        made |= {"status": {"lastJob": None, "nextJobRunAt": "2026-01-01T00:00:00Z"}, "owner": OWNER}
        jobs.append(made)
        return made

    @app.get("/api/scheduled-jobs/{namespace}")
    def listed(namespace: str) -> list[dict[str, Any]]:
        return [job for job in jobs if job["kind"] == "scheduled" and job["namespace"] == namespace]

    @app.delete("/api/scheduled-jobs/{namespace}/{job_id}")
    def delete(namespace: str, job_id: str) -> Response:
        found = [job for job in jobs if job["id"] == job_id]
        if not found:
            return JSONResponse({"error": "Not found"}, 404)
        jobs.remove(found[0])
        return Response()

    @app.post("/api/jobs/{namespace}")
    async def run(request: Request, namespace: str) -> dict[str, Any]:
        made = {**(await request.json()), "kind": "job", "id": f"job-{len(jobs)}", "namespace": namespace}
        made |= {"status": {"stage": "RUNNING", "message": None}, "owner": OWNER, "createdAt": "2026-01-01T00:00:00Z"}
        jobs.append(made)
        runner.start(made)
        return made

    @app.get("/api/jobs/hardware")
    def hardware() -> list[dict[str, Any]]:
        common = {"ephemeralStorage": "20 GB", "unitLabel": "minute"}
        return [common | one | {"unitCostMicroUSD": round(one["unitCostUSD"] * 1e6)} for one in HARDWARE]

    @app.get("/api/jobs/{namespace}/{job_id}")
    def inspect(namespace: str, job_id: str) -> Response:
        for job in jobs:
            if (job["id"], job["namespace"]) == (job_id, namespace):
                return JSONResponse({**job, "status": {"stage": runner.stage(job_id), "message": None}})
        return JSONResponse({"error": "Not found"}, 404)

    @app.post("/api/jobs/{namespace}/{job_id}/cancel")
    def cancel(namespace: str, job_id: str) -> Response:
        runner.cancel(job_id)
        return JSONResponse({})

    @app.post("/api/models/{owner}/{name}/preupload/{revision}")
    async def preupload(request: Request, owner: str, name: str, revision: str) -> dict[str, Any]:
        files = (await request.json())["files"]
        return {"files": [{"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in files]}

    @app.post("/api/models/{owner}/{name}/commit/{revision}")
    async def commit(request: Request, owner: str, name: str, revision: str) -> Response:
        if request.query_params.get("create_pr") != "1":
            return JSONResponse({"error": "You have no right to write here"}, 403)
        lines = [json.loads(line) for line in (await request.body()).splitlines()][1:]
        files = {line["value"]["path"]: base64.b64decode(line["value"]["content"]) for line in lines}
        pulls.append((f"{owner}/{name}", files))
        address = f"{request.base_url}{owner}/{name}/discussions/{len(pulls)}"
        done = {
            "success": True,
            "commitOid": "a" * 40,
            "commitUrl": f"{request.base_url}{owner}/{name}/commit/{'a' * 40}",
            "pullRequestUrl": address,
        }
        return JSONResponse(done)
