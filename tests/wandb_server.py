"""A W&B backend in memory, as far as the client speaks to it: GraphQL, the file stream, files and artifacts.

It keeps what the real one keeps (history by line offset, one version per artifact content) and can be told to be in
trouble. Written from what the client sends; it is no W&B, and what only W&B can show is not shown by it.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

DEADLINE_S = 60


@dataclass
class RemoteRun:
    """One run as the server has it."""

    name: str
    fields: dict[str, Any] = field(default_factory=dict)
    lines: dict[int, dict[str, Any]] = field(default_factory=dict)
    """History by line offset."""
    overwritten: int = 0
    summary: dict[str, Any] = field(default_factory=dict)
    exit_code: int | None = None
    used: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)

    @property
    def history(self) -> list[dict[str, Any]]:
        return [self.lines[number] for number in sorted(self.lines)]

    @property
    def config(self) -> dict[str, Any]:
        found = json.loads(self.fields.get("config") or "{}")
        return {key: item["value"] for key, item in found.items() if key != "_wandb"}


@dataclass
class RemoteArtifact:
    """One version of an artifact."""

    id: str
    name: str
    state: str = "PENDING"


class WandbServer:
    """The backend. `trouble` may answer a request instead of it."""

    def __init__(self) -> None:
        self.runs: dict[str, RemoteRun] = {}
        self.artifacts: dict[tuple[str, str], RemoteArtifact] = {}
        """By name and digest: one version per content."""
        self.files: dict[str, bytes] = {}
        self.reports: dict[str, dict[str, Any]] = {}
        self.operations: list[str] = []
        self.unknown: list[str] = []
        self.trouble: Callable[[str, str], Response | None] = lambda path, operation: None
        self.stalls: Callable[[str, bytes], bool] = lambda path, body: False
        """Requests that are taken and never answered, until `released`."""
        self.stalled = threading.Event()
        self.released = threading.Event()
        self.url = ""

    async def every(self, request: Request) -> Response:
        body = await request.body()
        if request.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        path = request.url.path
        asked = json.loads(body) if path == "/graphql" else {}
        named = re.search(r"(?:query|mutation)\s+(\w+)", asked.get("query", ""))
        operation = named[1] if named else ""
        answer = self.trouble(path, operation)
        if answer is not None:
            return answer
        self.operations.append(operation or path)
        answer = self._answer(path, operation, asked, body)
        if self.stalls(path, body):
            self.stalled.set()
            await asyncio.to_thread(self.released.wait)
        return answer

    def _answer(self, path: str, operation: str, asked: dict[str, Any], body: bytes) -> Response:
        if path == "/graphql":
            found = getattr(self, f"_{_snake(operation)}", None)
            if found is None:
                self.unknown.append(f"{operation}: {asked}")
                return JSONResponse({"errors": [{"message": f"unknown operation {operation}"}]}, status_code=400)
            return JSONResponse({"data": found(asked.get("variables") or {})})
        if path.endswith("/file_stream"):
            return JSONResponse(self._streamed(path.split("/")[-2], json.loads(body)))
        if path.startswith("/upload/"):
            self.files[path.removeprefix("/upload/")] = body
        return PlainTextResponse("")

    def _streamed(self, name: str, sent: dict[str, Any]) -> dict[str, Any]:
        run = self.runs[name]
        history = sent.get("files", {}).get("wandb-history.jsonl")
        if history:
            for number, line in enumerate(history["content"], start=history["offset"]):
                run.overwritten += number in run.lines
                run.lines[number] = json.loads(line)
        for line in sent.get("files", {}).get("wandb-summary.json", {}).get("content", []):
            run.summary = json.loads(line)
        if sent.get("complete"):
            run.exit_code = sent.get("exitcode")
        return {}

    def _viewer(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"viewer": {"id": "u", "entity": "team", "username": "me", "email": "", "flags": "{}",
                           "teams": {"edges": []}}}  # fmt: skip

    def _run_resume_status(self, asked: dict[str, Any]) -> dict[str, Any]:
        run = self.runs.get(asked["name"])
        bucket: dict[str, Any] | None = None
        if run is not None:
            last = run.history[-1:]
            bucket = {
                "id": run.name, "name": run.name, "summaryMetrics": json.dumps(run.summary), "displayName": None,
                "logLineCount": 0, "historyLineCount": len(run.lines), "eventsLineCount": 0,
                "historyTail": json.dumps([json.dumps(line) for line in last]), "eventsTail": "[]",
                "config": run.fields.get("config"), "tags": [], "notes": "", "wandbConfig": '{"t": 1}',
            }  # fmt: skip
        return {"model": {"id": "p", "name": "assay", "entity": {"id": "e", "name": "team"}, "bucket": bucket}}

    def _upsert_bucket(self, asked: dict[str, Any]) -> dict[str, Any]:
        is_new = asked["name"] not in self.runs
        run = self.runs.setdefault(asked["name"], RemoteRun(asked["name"]))
        run.fields |= {key: value for key, value in asked.items() if value is not None}
        bucket = {
            "id": run.name, "name": run.name, "displayName": run.fields.get("displayName"), "description": None,
            "config": run.fields.get("config"), "sweepName": None, "historyLineCount": len(run.lines),
            "project": {"id": "p", "name": asked["project"], "entity": {"id": "e", "name": "team"}},
        }  # fmt: skip
        return {"upsertBucket": {"bucket": bucket, "inserted": is_new}}

    def _create_run_files(self, asked: dict[str, Any]) -> dict[str, Any]:
        files = [{"name": name, "uploadUrl": f"{self.url}/upload/{asked['run']}/{name}"} for name in asked["files"]]
        return {"createRunFiles": {"runID": asked["run"], "uploadHeaders": [], "files": files}}

    def _artifact_type(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"project": {"artifact": None}}

    def _server_features_query(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"serverInfo": {"features": []}}

    def _create_artifact(self, asked: dict[str, Any]) -> dict[str, Any]:
        given = asked["input"]
        key = (given["artifactCollectionName"], given["digest"])
        found = self.artifacts.setdefault(key, RemoteArtifact(f"artifact-{len(self.artifacts) + 1}", key[0]))
        if given["runName"] and key[0] not in self.runs[given["runName"]].made:
            self.runs[given["runName"]].made.append(key[0])
        artifact = {"id": found.id, "state": found.state, "artifactSequence": {"latestArtifact": None}}
        return {"createArtifact": {"artifact": artifact}}

    def _create_artifact_manifest(self, asked: dict[str, Any]) -> dict[str, Any]:
        upload = {"uploadUrl": f"{self.url}/upload/{asked['artifactID']}/manifest", "uploadHeaders": []}
        file = {"id": "f", **(upload if asked["includeUpload"] else {})}
        return {"createArtifactManifest": {"artifactManifest": {"id": asked["artifactID"], "file": file}}}

    def _update_artifact_manifest(self, asked: dict[str, Any]) -> dict[str, Any]:
        upload = {"uploadUrl": f"{self.url}/upload/{asked['artifactManifestID']}/manifest", "uploadHeaders": []}
        manifest = {"id": asked["artifactManifestID"], "file": {"id": "f", **upload}}
        return {"updateArtifactManifest": {"artifactManifest": manifest}}

    def _create_artifact_files(self, asked: dict[str, Any]) -> dict[str, Any]:
        nodes: list[dict[str, Any]] = [
            {"storagePath": f"{file['artifactID']}/{file['name']}", "uploadHeaders": [], "uploadMultipartUrls": None,
             "uploadUrl": f"{self.url}/upload/{file['artifactID']}/{file['name']}",
             "artifact": {"id": file["artifactID"]}}
            for file in asked["input"]["artifactFiles"]
        ]  # fmt: skip
        return {"createArtifactFiles": {"files": {"edges": [{"node": node} for node in nodes]}}}

    def _commit_artifact(self, asked: dict[str, Any]) -> dict[str, Any]:
        found = self._artifact(asked["artifactID"])
        found.state = "COMMITTED"
        return {"commitArtifact": {"artifact": {"id": found.id, "digest": "d"}}}

    def _use_artifact(self, asked: dict[str, Any]) -> dict[str, Any]:
        given = asked["input"]
        found, used = self._artifact(given["artifactID"]), self.runs[given["runName"]].used
        if found.name not in used:
            used.append(found.name)
        return {"useArtifact": {"artifact": {"id": found.id}}}

    def _artifact_by_id(self, asked: dict[str, Any]) -> dict[str, Any]:
        found = self._artifact(asked["id"])
        project = {"id": "p", "internalId": "p", "name": "assay", "entity": {"name": "team"}}
        sequence = {"__typename": "ArtifactSequence", "name": found.name, "project": project}
        return {"artifact": {
            "__typename": "Artifact", "id": found.id, "artifactSequence": sequence, "versionIndex": 0,
            "artifactType": {"name": "t"}, "description": None, "metadata": "{}", "ttlDurationSeconds": -2,
            "ttlIsInherited": True, "tags": [], "historyStep": None, "state": found.state, "size": 1, "digest": "d",
            "commitHash": "c", "fileCount": 1, "createdAt": "2026-01-01T00:00:00Z", "updatedAt": None, "aliases": [],
        }}  # fmt: skip

    def _get_projects(self, asked: dict[str, Any]) -> dict[str, Any]:
        project = {"__typename": "Project", "id": "p", "name": "assay", "entityName": "team", "createdAt": "",
                   "isBenchmark": False, "user": None}  # fmt: skip
        page = {"__typename": "PageInfo", "endCursor": None, "hasNextPage": False}
        return {"models": {"pageInfo": page, "edges": [{"node": project}]}}

    def _upsert_view(self, asked: dict[str, Any]) -> dict[str, Any]:
        made = asked["id"] or f"report-{len(self.reports) + 1}"
        self.reports[made] = asked
        view = {
            "id": made, "name": asked["name"], "displayName": asked["displayName"],
            "description": asked["description"], "spec": asked["spec"], "type": "runs",
            "project": {"id": "p", "name": asked["projectName"], "entityName": asked["entityName"]},
            "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z",
        }  # fmt: skip
        return {"upsertView": {"view": view, "inserted": not asked["id"]}}

    def _artifact(self, wanted: str) -> RemoteArtifact:
        return next(artifact for artifact in self.artifacts.values() if artifact.id == wanted)


def _snake(operation: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation).lower()


@contextlib.contextmanager
def wandb_server() -> Iterator[WandbServer]:
    """The backend in a thread, on a free port."""
    backend = WandbServer()
    methods = ["GET", "POST", "PUT", "HEAD"]
    app = Starlette(routes=[Route("/{path:path}", backend.every, methods=methods)])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off", access_log=False))
    started = threading.Event()

    async def serve() -> None:
        server.config.load()
        server.lifespan = server.config.lifespan_class(server.config)
        await server.startup()
        started.set()
        await server.main_loop()
        await server.shutdown()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert started.wait(DEADLINE_S)
    backend.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield backend
    finally:
        backend.released.set()
        server.should_exit = True
        thread.join(DEADLINE_S)
