"""A loopback HTTP server that answers by a script, and can also cut, hang and lie, which real frameworks refuse to."""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Manner(Enum):
    WHOLE = "whole"
    CUT = "cut"
    """Announces the whole length, sends half, closes."""
    CLOSED = "closed"
    """Closes without a byte."""
    SILENT = "silent"
    """Never answers."""


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    manner: Manner = Manner.WHOLE


@dataclass(frozen=True)
class Seen:
    path: str
    headers: Mapping[str, str]
    body: Any


class ScriptedServer:
    """Gives the scripted answers in order, then `otherwise` for ever."""

    def __init__(self, otherwise: Answer) -> None:
        self.script: deque[Answer] = deque()
        self.otherwise = otherwise
        self.seen: list[Seen] = []
        self.gate: asyncio.Event | None = None
        """When set, answers wait for it."""
        self.url = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while await self._exchange(reader, writer):
                pass
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.seen.append(Seen(head[0].split(" ")[1], headers, json.loads(body)))
        if self.gate is not None:
            await self.gate.wait()
        answer = self.script.popleft() if self.script else self.otherwise
        if answer.manner is Manner.SILENT:
            await reader.read()
        if answer.manner in {Manner.SILENT, Manner.CLOSED}:
            return False
        await self._answer(answer, writer)
        return answer.manner is Manner.WHOLE

    async def _answer(self, answer: Answer, writer: asyncio.StreamWriter) -> None:
        headers = {"content-type": "application/json", "content-length": str(len(answer.body)), **answer.headers}
        lines = [f"HTTP/1.1 {answer.status} Said", *(f"{name}: {value}" for name, value in headers.items())]
        sent = answer.body if answer.manner is Manner.WHOLE else answer.body[: len(answer.body) // 2]
        writer.write("\r\n".join([*lines, "", ""]).encode() + sent)
        await writer.drain()


@contextlib.asynccontextmanager
async def scripted(otherwise: Answer) -> AsyncIterator[ScriptedServer]:
    server = ScriptedServer(otherwise)
    async with await asyncio.start_server(server.handle, "127.0.0.1", 0, limit=2**20) as listening:
        server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        yield server


def message(text: str = "Hola", **changes: Any) -> Answer:
    """A 200 of the Messages API."""
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "served-model",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }
    return Answer(body=json.dumps(body | changes).encode())


def chat(text: str = "Hola", finish_reason: str = "stop", **changes: Any) -> Answer:
    """A 200 of the chat-completions API."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "served-model",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }
    return Answer(body=json.dumps(body | changes).encode())


def refusal(status: int, said: str = "no", **headers: str) -> Answer:
    """An error in the form that both APIs use; `x_should_retry="true"` gives that header."""
    body = {"type": "error", "error": {"type": "some_error", "message": said}}
    return Answer(status, json.dumps(body).encode(), {name.replace("_", "-"): value for name, value in headers.items()})
