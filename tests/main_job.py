"""Driving the installed command through a small main job, with the rehearsal server in sight of the test."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn

from core.adapters.clock import SystemClock
from core.serving.rehearsal.endpoints import application
from core.serving.rehearsal.settings import Settings

SMALL = {"questions": 8, "runs": 2, "index.embedder.model": "hash:256", "gates": "[]"}
"""Sixteen rows, and an embedder that needs no model to be loaded."""
DEADLINE_S = 180


class CountedModel:
    """A rehearsal server that counts the requests it was sent, and tells when a number is reached."""

    def __init__(self, settings: Settings) -> None:
        self.requests = 0
        self._changed = threading.Condition()
        self._app: Any = application(settings, SystemClock())

    async def __call__(self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        if scope["type"] == "http":
            with self._changed:
                self.requests += 1
                self._changed.notify_all()
        await self._app(scope, receive, send)

    def wait_for(self, requests: int) -> None:
        """Until so many requests have come in."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.requests >= requests, DEADLINE_S), "the run sent too little"


@contextlib.contextmanager
def counted_model(latency_ms: int = 0, **settings: Any) -> Iterator[tuple[CountedModel, str]]:
    """A counting rehearsal server in a thread, and its URL."""
    model = CountedModel(Settings(latency_ms=latency_ms, **settings))
    server = uvicorn.Server(uvicorn.Config(model, port=0, log_level="error", lifespan="off", access_log=False))
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
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield model, f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(DEADLINE_S)


def start_parser(port: int = 0) -> tuple[subprocess.Popen[str], int]:
    """A parser of its own process, ready, and its port; `port` 0 takes a free one."""
    process = subprocess.Popen(
        [sys.executable, "-m", "core.serving.parser", "--port", str(port), "--lifeline"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())["ready"]["port"]


@dataclass(frozen=True)
class MainJob:
    """The small main job in a results root of its own."""

    results: Path
    settings: dict[str, Any] = field(default_factory=dict)

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "experiments", *words]

    def run_command(self) -> list[str]:
        chosen = {**SMALL, **self.settings}
        return self.command("run", "msvl", *(w for k, v in chosen.items() for w in ("--set", f"{k}={v}")))

    def start(self, *words: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "ASSAY_RESULTS": str(self.results)}
        return subprocess.Popen(
            self.command(*words) if words else self.run_command(),
            env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def run(self, *words: str) -> tuple[int, str]:
        """Exit code and output of the run, or of `assay WORDS`."""
        process = self.start(*words)
        output, _ = process.communicate(timeout=DEADLINE_S)
        return process.returncode, output

    @property
    def folder(self) -> Path:
        [found] = (self.results / "msvl").iterdir()
        return found

    def report(self) -> dict[str, Any]:
        """The report without its timing."""
        report: dict[str, Any] = json.loads((self.folder / "report.json").read_text())
        report.pop("timing")
        return report

    def rows(self) -> list[dict[str, Any]]:
        journals = sorted(self.folder.glob("cells/*/samples.jsonl"))
        return [json.loads(line) for journal in journals for line in journal.read_text().splitlines()]
