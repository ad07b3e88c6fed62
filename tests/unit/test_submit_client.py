"""What is said when the address is wrong, the server another, the door locked, or the line dead."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from core.cluster.submit_client import Jobs, JobStatus, http_address
from core.errors import AssayError, ConfigError, DependencyDown

VERSION = (200, {"ray_version": "2.60.0", "version": "4", "ray_commit": "x", "session_name": "s"})
DETAILS = {
    "type": "SUBMISSION", "submission_id": "assay-it-1", "status": "FAILED", "entrypoint": "assay run it",
    "message": "Job entrypoint command failed", "driver_exit_code": 4,
}  # fmt: skip


@dataclass
class Server:
    """Answers each path as told; anything else is 404."""

    replies: dict[str, tuple[int, Any]]
    asked: list[tuple[str, dict[str, str]]]
    url: str = ""


@pytest.fixture
def server() -> Iterator[Server]:
    told = Server({"/api/version": VERSION}, [])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            status, body = told.replies.get(self.path, (404, "not here"))
            content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    told.url = f"http://127.0.0.1:{http.server_port}"
    yield told
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def _no_ray_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    for name in ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)


def test_a_job_is_read_with_its_exit_code(server: Server) -> None:
    server.replies["/api/jobs/assay-it-1"] = (200, DETAILS)
    server.replies["/api/jobs/"] = (200, [DETAILS, {**DETAILS, "type": "DRIVER", "submission_id": None}])
    jobs = Jobs(server.url, {})
    job = jobs.get("assay-it-1")
    assert (job.id, job.status, job.exit_code) == ("assay-it-1", JobStatus.FAILED, 4)
    assert jobs.all() == (job,)
    assert jobs.ray_version == "2.60.0"
    assert jobs.find("nothing") is None
    with pytest.raises(ConfigError, match="no job nothing") as caught:
        jobs.get("nothing")
    assert "ray job list" in caught.value.remedy


def test_the_address_given_wins_over_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "http://127.0.0.1:1")
    monkeypatch.setenv("RAY_API_SERVER_ADDRESS", "http://127.0.0.1:2")
    assert Jobs(server.url, {}).address == server.url


def test_headers_for_a_proxy_are_sent(server: Server) -> None:
    Jobs(server.url, {"RAY_JOB_HEADERS": '{"X-Proxy": "let me in"}'})
    assert server.asked[0][1]["x-proxy"] == "let me in"
    for text in ("{", "[]", '"x"'):
        with pytest.raises(ConfigError, match="RAY_JOB_HEADERS"):
            Jobs(server.url, {"RAY_JOB_HEADERS": text})


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        ((401, "no token"), ConfigError, "does not let you in"),
        ((403, "bad token"), ConfigError, "does not let you in"),
        ((404, "nginx"), ConfigError, "declines"),
        ((200, "<html>"), ConfigError, "declines|does not answer"),
        ((200, {"ray_version": "1.8.0"}), ConfigError, "declines"),
        ((503, "starting"), DependencyDown, "does not answer"),
    ],
)
def test_a_server_that_is_not_what_was_meant_is_told(
    server: Server, reply: tuple[int, Any], kind: type[AssayError], words: str
) -> None:
    server.replies["/api/version"] = reply
    with pytest.raises(AssayError, match=words) as caught:
        Jobs(server.url, {})
    assert isinstance(caught.value, kind) or reply[1] == "<html>"
    assert caught.value.remedy
    assert server.url in str(caught.value)


def test_a_closed_door_of_a_locked_cluster_names_the_variables(server: Server) -> None:
    server.replies["/api/version"] = (401, "")
    with pytest.raises(ConfigError) as caught:
        Jobs(server.url, {})
    assert "RAY_AUTH_TOKEN" in caught.value.remedy


def test_nobody_there_is_a_dependency_that_is_down(server: Server) -> None:
    with pytest.raises(DependencyDown, match="does not answer") as caught:
        Jobs("http://127.0.0.1:1", {})
    assert "scripts/cluster dashboard" in caught.value.remedy


async def test_a_tail_that_cannot_be_had_is_a_break(server: Server) -> None:
    jobs = Jobs(server.url, {})
    with pytest.raises(DependencyDown):
        async for _ in jobs.tail("assay-it-1"):
            pass


@pytest.mark.parametrize("address", ["ray://head:10001", "auto", "anyscale://x", "", "http://"])
def test_another_of_rays_addresses_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="not the address of a job server") as caught:
        http_address(address)
    assert "8265" in caught.value.remedy


def test_an_address_may_leave_the_scheme_out() -> None:
    assert http_address("head:8265") == "http://head:8265"
    assert http_address("https://head/ray/") == "https://head/ray"
