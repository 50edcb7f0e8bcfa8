"""Serve branches, tags and the history of repositories for the Hub double.

Source: `list_repo_refs`, `list_repo_commits`, `create_branch`, `create_tag` and `super_squash_history` of huggingface_hub
"""

import json

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from scripts.support.hub.bare import MovedError
from scripts.support.hub.request_parts import Body
from scripts.support.hub.roles import error
from scripts.support.hub.state import HubState, date


def serve_refs(app: FastAPI, hub: HubState, kind: str) -> None:
    api = f"/api/{kind}/{{owner}}/{{name}}"

    @app.get(f"{api}/refs")
    def refs(request: Request, owner: str, name: str) -> Response:
        repo = hub.name(kind, owner, name)
        if denied := hub.refusal(request, repo):
            return denied
        store = hub.store(repo)
        listed = {folder: store.refs(folder) for folder in ("refs/heads", "refs/tags", "refs/pr")}
        if hub.refs_lag and len(before := store.history("refs/heads/main", 2)) > 1:
            hub.refs_lag -= 1
            listed["refs/heads"]["main"] = before[1].id
        refs_by_folder = {
            folder: [{"name": n, "ref": f"{folder}/{n}", "targetCommit": commit} for n, commit in named.items()]
            for folder, named in listed.items()
        }
        answer = {"branches": refs_by_folder["refs/heads"], "tags": refs_by_folder["refs/tags"], "converts": []}
        pulls = {"pullRequests": refs_by_folder["refs/pr"]} if request.query_params.get("include_prs") else {}
        return JSONResponse({**answer, **pulls})

    @app.get(f"{api}/commits/{{revision:path}}")
    def commits(request: Request, owner: str, name: str, revision: str) -> Response:
        repo = hub.name(kind, owner, name)
        if denied := hub.refusal(request, repo):
            return denied
        commit = hub.store(repo).find(revision)
        if commit is None:
            return error(request, 404, f"Invalid rev id: {revision}", "RevisionNotFound")
        history = hub.store(repo).history(commit)
        page = int(request.query_params.get("p", 0))
        size = hub.limits.commits_page
        commits_of_page = []
        for one in history[page * size : (page + 1) * size]:
            title, _, message = one.message.partition("\n")
            who = [{"user": one.author, "avatar": ""}]
            commits_of_page.append(
                {"id": one.id, "title": title, "message": message.strip(), "authors": who, "date": date(one.seconds)}
            )
        headers = {"X-Total-Count": str(len(history))}
        if (page + 1) * size < len(history):
            headers["Link"] = f'<{request.url.include_query_params(p=page + 1)}>; rel="next"'
        return JSONResponse(commits_of_page, headers=headers)

    @app.post(f"{api}/branch/{{branch:path}}")
    def create_branch(request: Request, owner: str, name: str, branch: str, body: Body) -> Response:
        repo = hub.name(kind, owner, name)
        if denied := hub.refusal(request, repo, write=True):
            return denied
        return _set_ref(
            hub, request, repo, f"refs/heads/{branch}", (json.loads(body or b"{}")).get("startingPoint") or "main"
        )

    @app.delete(f"{api}/branch/{{branch:path}}")
    def delete_branch(request: Request, owner: str, name: str, branch: str) -> Response:
        repo = hub.name(kind, owner, name)
        if denied := hub.refusal(request, repo, write=True):
            return denied
        if branch == "main":
            return error(request, 403, "Cannot delete refs/heads/main")
        return _delete_ref(hub, request, repo, f"refs/heads/{branch}")

    @app.post(f"{api}/tag/{{revision:path}}")
    def create_tag(request: Request, owner: str, name: str, revision: str, body: Body) -> Response:
        repo = hub.name(kind, owner, name)
        if denied := hub.refusal(request, repo, write=True):
            return denied
        return _set_ref(hub, request, repo, f"refs/tags/{json.loads(body)['tag']}", revision)

    @app.delete(f"{api}/tag/{{tag:path}}")
    def delete_tag(request: Request, owner: str, name: str, tag: str) -> Response:
        repo = hub.name(kind, owner, name)
        if denied := hub.refusal(request, repo, write=True):
            return denied
        return _delete_ref(hub, request, repo, f"refs/tags/{tag}")

    @app.post(f"{api}/super-squash/{{branch:path}}")
    def squash(request: Request, owner: str, name: str, branch: str, body: Body) -> Response:
        repo = hub.name(kind, owner, name)
        if denied := hub.refusal(request, repo, write=True):
            return denied
        message = json.loads(body or b"{}").get("message") or f"Super-squash branch '{branch}'"
        with hub.locked(repo):
            try:
                commit = hub.store(repo).squash(branch, message)
            except KeyError:
                return error(request, 404, f"Invalid rev id: {branch}", "RevisionNotFound")
        return JSONResponse({"commitOid": commit})


def _set_ref(hub: HubState, request: Request, repo: str, ref: str, revision: str) -> Response:
    store = hub.store(repo)
    commit = store.find(revision)
    if commit is None:
        return error(request, 404, f"Invalid rev id: {revision}", "RevisionNotFound")
    if store.run("check-ref-format", ref).returncode:
        return error(request, 400, f"Invalid reference name: {ref}")
    try:
        store.set_ref(ref, commit)
    except MovedError:
        return error(request, 409, f"Reference already exists: {ref}")
    return JSONResponse({})


def _delete_ref(hub: HubState, request: Request, repo: str, ref: str) -> Response:
    store = hub.store(repo)
    if store.find(ref) is None:
        return error(request, 404, f"Reference does not exist: {ref}", "RevisionNotFound")
    store.delete_ref(ref)
    return JSONResponse({})
