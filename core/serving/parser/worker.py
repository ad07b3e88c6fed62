"""A worker process of the parser service: judges what its socket brings, one request after the other, and may die.

It ends when its socket does, which is when the server is gone, however that went. It imports no gRPC: it starts
quickly, and nothing of the server's is inherited.
"""

from __future__ import annotations

import logging
import signal
import socket
import sys
from collections.abc import Iterator

from core.lab.process import collect_rarely
from core.serving.parser.frames import Assembler, Frame, encoded
from core.serving.parser.judge import Judge, Languages, Method, Reply, Setup, Status
from core.serving.parser.log import configure, failure

_READ = 1 << 16
_LOG = logging.getLogger("assay.parser.worker")


def serve(connection: socket.socket, memory_bytes: int) -> None:
    """Answer the requests on `connection` until it ends, or until one needs more than `memory_bytes`."""
    frames = _frames(connection)
    setup = next(frames, None)
    if setup is None:
        return
    judge = Judge(Languages.of(Setup.model_validate_json(setup.body)))
    _limit_memory(memory_bytes)
    connection.sendall(encoded(Status.OK, b""))
    for kind, body in frames:
        try:
            reply = answer(judge, Method(kind), body)
        except MemoryError:
            text = f"the request needs more than the {memory_bytes >> 20} MiB that one may use"
            connection.sendall(encoded(Status.RESOURCE_EXHAUSTED, text.encode()))
            # What is left of a full heap is not worth trusting; the server starts another.
            _leave(connection)
            return
        connection.sendall(encoded(*reply))


def _leave(connection: socket.socket) -> None:
    """Say nothing more, and let the server hang up: an end with unread requests would take the last reply with it."""
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(_READ):
        pass


def answer(judge: Judge, method: Method, body: bytes) -> Reply:
    """The judge's reply, or INTERNAL for a fault of our own, which is logged without the program.

    Raises MemoryError.
    """
    try:
        return judge.answer(method, body)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  one request that hits a bug of ours must not cost the others
        failure(_LOG, "fault", error, method=method.name, bytes=len(body))
        return Reply(Status.INTERNAL, f"a fault of the parser itself: {type(error).__name__}".encode())


def _frames(connection: socket.socket) -> Iterator[Frame]:
    assembler = Assembler()
    while data := connection.recv(_READ):
        yield from assembler.feed(data)


def _limit_memory(size: int) -> None:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def main() -> None:
    """Serve the socket whose descriptor is the first argument; memory in bytes and the log level follow."""
    descriptor, memory_bytes, level = sys.argv[1:]
    # Ctrl-C and a service manager's SIGTERM reach the whole group; a worker serves until its server lets go.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    configure(level)
    collect_rarely()
    try:
        with socket.socket(fileno=int(descriptor)) as connection:
            serve(connection, int(memory_bytes))
    except (BrokenPipeError, ConnectionResetError):
        return


if __name__ == "__main__":
    main()
