"""Listening: the process around the application, by hand or as a child."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn

from core.adapters.clock import SystemClock
from core.errors import DependencyDown
from core.serving import lifeline
from core.serving.rehearsal.endpoints import application
from core.serving.rehearsal.settings import Settings

HOST = "127.0.0.1"
"""Loopback only: the model asks for no key worth the name."""
IDLE_S = 600
"""How long an idle connection is kept: longer than any client keeps one, so that none is closed under a request."""
STOP_S = 1
"""How long a stopping server waits for replies underway; hanging ones never end."""
BACKLOG = 2048


def serve(settings: Settings, *, port: int, ready: Callable[[int], None]) -> None:
    """Answer on `port` (0 is any free one) until a signal; `ready` is told the port once it answers.

    Raises DependencyDown when the port is taken, ConfigError when the truth file cannot be used.
    """
    listening = _listen(port)
    _Server(_config(settings), ready=lambda: ready(listening.getsockname()[1])).run([listening])


def serve_as_child(settings: Settings, *, port: int) -> None:
    """Like `serve`, for core.adapters.child: the port is announced on stdout, the end of stdin stops it.

    Signals of the terminal are left to the parent, which may have calls to finish.
    """
    listening = _listen(port)
    server = _ChildServer(_config(settings), ready=lambda: lifeline.announce(listening.getsockname()[1]))
    lifeline.when_parent_leaves(server.leave)
    server.run([listening])


def _listen(port: int) -> socket.socket:
    # The protocol is named because asyncio switches Nagle's algorithm off only on sockets that name it: without, every
    # reply of two packets waits 40 ms for a delayed acknowledgement.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise DependencyDown(
            f"port {port} cannot be used: {error.strerror}",
            endpoint=f"{HOST}:{port}",
            remedy="take another with --port, or --port 0 for a free one",
        ) from error
    return listening


def _config(settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        application(settings, SystemClock()), access_log=False, log_level="error", lifespan="off", server_header=False,
        date_header=False, timeout_keep_alive=IDLE_S, timeout_graceful_shutdown=STOP_S,
    )  # fmt: skip


class _Server(uvicorn.Server):
    """uvicorn that says when it answers."""

    def __init__(self, config: uvicorn.Config, *, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


class _ChildServer(_Server):
    """A server whose parent decides when it ends."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, ignored)

    def leave(self) -> None:
        """Stop soon; may be called from any thread."""
        self.should_exit = True
