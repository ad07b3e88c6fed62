"""A campaign as a user starts it, against a rehearsal server in sight of the bench that counts what it is sent."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import uvicorn

from core.adapters.clock import SystemClock
from core.serving.rehearsal.endpoints import application
from core.serving.rehearsal.settings import Settings

DEADLINE_S = 900
QUIET = {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", "HF_HUB_OFFLINE": "1"}


class CountingModel:
    """A rehearsal server that counts its replies by status, and remembers when the first and the last was asked."""

    def __init__(self, settings: Settings) -> None:
        self.replies: Counter[int] = Counter()
        self.requests = 0
        self.first = self.last = 0.0
        self._changed = threading.Condition()
        self._app: Any = application(settings, SystemClock())

    async def __call__(self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        with self._changed:
            self.last = perf_counter()
            self.first = self.first or self.last
            self.requests += 1
            self._changed.notify_all()

        async def counted(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.replies[message["status"]] += 1
            await send(message)

        return await self._app(scope, receive, counted)

    def wait_for(self, requests: int) -> None:
        """Until so many requests have come in."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.requests >= requests, DEADLINE_S):
                sys.exit(f"bench: the run sent {self.requests} requests, {requests} were waited for")

    @property
    def seconds(self) -> float:
        """From the first request to the last."""
        return self.last - self.first


@contextlib.contextmanager
def counting_model(**settings: Any) -> Iterator[tuple[CountingModel, str]]:
    """A counting server in a thread, and its URL."""
    model = CountingModel(Settings(**settings))
    config = uvicorn.Config(
        model, host="127.0.0.1", port=0, log_level="error", lifespan="off", access_log=False, loop="uvloop"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        threading.Event().wait(0.01)
    try:
        yield model, f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@dataclass(frozen=True)
class Campaign:
    """One configuration in a results root of its own."""

    root: Path
    url: str
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Of its one run."""
        [found] = (self.root / "results" / "msvl").iterdir()
        return found

    @property
    def elapsed_s(self) -> float:
        """Seconds that its last driver worked, from when everything was open."""
        return float(json.loads((self.folder / "status.json").read_text())["elapsed_s"])

    def report_sha256(self) -> str:
        """Of the report without its timing."""
        report = json.loads((self.folder / "report.json").read_text())
        report.pop("timing")
        return sha256(json.dumps(report, sort_keys=True).encode()).hexdigest()

    def start(self, *words: str, **variables: str) -> subprocess.Popen[str]:
        """`assay run` of it, or `assay WORDS`."""
        chosen = {
            "index.embedder.model": "hash:256", "gates": "[]", "runtime.pool": "ray", "runtime.track.mode": "off",
            "runtime.generator_url": self.url, "runtime.judge_url": self.url, **self.settings,
        }  # fmt: skip
        assignments = [word for key, value in chosen.items() for word in ("--set", f"{key}={value}")]
        command = words or ("run", "msvl", *assignments)
        places = {"ASSAY_RESULTS": str(self.root / "results"), "ASSAY_CACHE": str(self.root / "cache")}
        return subprocess.Popen(
            [sys.executable, "-m", "experiments", *command], env={**os.environ, **QUIET, **places, **variables},
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def run(self, *words: str, expected: int = 0, **variables: str) -> str:
        """The output of it, which must leave with `expected`."""
        process = self.start(*words, **variables)
        output, _ = process.communicate(timeout=DEADLINE_S)
        if process.returncode != expected:
            sys.exit(f"bench: assay {' '.join(words) or 'run'} left with {process.returncode}:\n{output}")
        return output


def together(*work: Callable[[], Any]) -> list[Any]:
    """The results of `work`, done side by side in threads."""

    async def gathered() -> list[Any]:
        return await asyncio.gather(*(asyncio.to_thread(each) for each in work))

    return asyncio.run(gathered())
