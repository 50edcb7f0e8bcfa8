"""Create repositories, and keep the variables and secrets of Spaces, for the Hub double.

Sources: `create_repo`, `auth_check`, `add_space_variable` to `get_space_secrets` and `get_space_runtime` in `hf_api.py` of
huggingface_hub, and https://huggingface.co/docs/hub/api#repo-api
"""

import json

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from scripts.support.hub.jobs import ACCOUNTS
from scripts.support.hub.request_parts import Body
from scripts.support.hub.roles import error, token_of
from scripts.support.hub.state import HubState, Space

APP_FILES = {"gradio": "app.py", "docker": "Dockerfile", "static": "index.html"}  # what a Space runs, by SDK


def serve_creation_and_spaces(app: FastAPI, hub: HubState) -> None:
    """Add the routes that create repositories of every kind, check access to them, and read and change Spaces."""

    @app.post("/api/repos/create")
    def create(request: Request, body: Body) -> Response:
        asked = json.loads(body)
        account = ACCOUNTS.get(token_of(request) or "")
        if account is None:
            return error(request, 401, "Invalid username or password.")
        owner = asked["organization"] or account["name"]
        kind = f"{asked.get('type', 'model')}s"
        repo = hub.name(kind, owner, asked["name"])
        name = f"{owner}/{asked['name']}"
        address = f"{request.base_url}{name}" if kind == "models" else f"{request.base_url}{kind}/{name}"
        if hub.roles.role(token_of(request), repo) != "write" or owner in hub.foreign:
            return error(
                request, 403, f'You don\'t have the rights to create a {kind[:-1]} under the namespace "{owner}"'
            )
        if hub.store(repo).folder.is_dir():
            return JSONResponse({"error": "You already created this repo", "url": address}, 409)
        if asked.get("sdk") in ("gradio", "docker") and owner in hub.without_plan:
            return error(request, 402, "Payment required: a PRO or Team plan is needed for this Space")
        hub.create(repo)
        if asked.get("visibility", "public") == "public":
            hub.public.add(repo)
        if kind == "spaces":
            hub.spaces[repo] = Space(asked["sdk"])
        return JSONResponse({"url": address, "name": name, "id": "1"})

    @app.get("/api/{kind}/{owner}/{name}/auth-check")
    def check_read_access(request: Request, kind: str, owner: str, name: str) -> Response:
        return hub.refusal(request, hub.name(kind, owner, name)) or JSONResponse({})

    @app.get("/api/{kind}/{owner}/{name}/auth-check/write")
    def check_write_access(request: Request, kind: str, owner: str, name: str) -> Response:
        return hub.refusal(request, hub.name(kind, owner, name), write=True) or JSONResponse({})

    def space_of(repo: str) -> Space:
        """Return what is kept of a Space. A test may have made its repository without the API, so without an SDK."""
        return hub.spaces.setdefault(repo, Space("gradio"))

    def listed_or_added(request: Request, owner: str, name: str, body: bytes, *, secret: bool) -> Response:
        """List variables with their values or secrets without, after adding one to them if the request does so."""
        repo = f"spaces/{owner}/{name}"
        if denied := hub.refusal(request, repo, write=True):
            return denied
        space = space_of(repo)
        values = space.secrets if secret else space.variables
        if request.method == "POST":
            asked = json.loads(body)
            values[asked["key"]] = asked["value"]
        about = {"description": "", "updatedAt": "2026-01-01T00:00:00.000Z"}
        return JSONResponse({key: about if secret else about | {"value": value} for key, value in values.items()})

    @app.api_route("/api/spaces/{owner}/{name}/variables", methods=["GET", "POST"])
    def variables(request: Request, owner: str, name: str, body: Body) -> Response:
        return listed_or_added(request, owner, name, body, secret=False)

    @app.api_route("/api/spaces/{owner}/{name}/secrets", methods=["GET", "POST"])
    def secrets(request: Request, owner: str, name: str, body: Body) -> Response:
        return listed_or_added(request, owner, name, body, secret=True)

    @app.get("/api/spaces/{owner}/{name}/runtime")
    def runtime(request: Request, owner: str, name: str) -> Response:
        repo = f"spaces/{owner}/{name}"
        if denied := hub.refusal(request, repo, write=True):
            return denied
        space = space_of(repo)
        ((object_type, _, _),) = hub.store(repo).stat_objects([f"main:{APP_FILES[space.sdk]}"])
        stage = "RUNNING" if object_type == "blob" else "NO_APP_FILE"
        hardware = {"current": "cpu-basic", "requested": "cpu-basic"}
        return JSONResponse({"stage": stage, "sdk": space.sdk, "hardware": hardware})
