"""Listening on loopback until a signal."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette

from core.errors import DependencyDown

HOST = "127.0.0.1"
"""Loopback only: whoever can reach the pages can read every run."""


def serve(pages: Starlette, *, port: int, ready: Callable[[int], None]) -> None:
    """Serve on `port` (0 is any free one) until SIGINT or SIGTERM; `ready` is told the port once it answers.

    Raises DependencyDown when the port is taken.
    """
    listening = _listen(port)
    config = uvicorn.Config(
        pages, access_log=False, log_level="error", lifespan="off", server_header=False, date_header=False,
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    _Server(config, lambda: ready(listening.getsockname()[1])).run([listening])


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise DependencyDown(
            f"port {port} cannot be used: {error.strerror}",
            endpoint=f"{HOST}:{port}",
            remedy="take another with --port, or --port 0 for a free one",
        ) from error
    return listening


class _Server(uvicorn.Server):
    """uvicorn that says when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()
