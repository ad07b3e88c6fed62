"""The budget stands whatever dies: drivers are killed at drawn moments, and the server counts what it billed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import paying_lab
import pytest

from core.adapters.ledger import accounts_of
from core.errors import ExitCode
from core.lab.outcome import Status
from core.model.frozen import seed_for

SEEDS = 20
ROWS, MAX_TOKENS = 30, 200


@dataclass
class BillingServer:
    """Chat completions that cost; it bills before it answers, loses some answers, and kills drivers on the way."""

    seed: int
    input_usd: Decimal
    output_usd: Decimal
    billed_usd: Decimal = Decimal(0)
    billed_tokens: int = 0
    requests: int = 0
    url: str = ""
    driver: int | None = None
    kill_at: int | None = None
    """The request at which the driver dies."""
    kills: int = 0

    def drawn(self, what: str, below: int) -> int:
        return seed_for(self.seed, what, self.requests) % below

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while await self._exchange(reader, writer):
                pass
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        content = await reader.readexactly(length)
        self.requests += 1
        if self.kill_at is not None and self.requests >= self.kill_at:
            return await self._fatal(content, writer)
        match self.drawn("fate", 10):
            case 0:
                return await self._say(writer, 529, b'{"error": {"message": "overloaded"}}')
            case 1:
                self._bill(content)
                return False
        return await self._say(writer, 200, self._bill(content))

    async def _fatal(self, content: bytes, writer: asyncio.StreamWriter) -> bool:
        """The driver dies before it is billed, after that, or with half or all of the reply on its way to it."""
        moment = self.drawn("moment", 4)
        body = self._bill(content) if moment else b""
        if moment >= 2:
            with contextlib.suppress(ConnectionError):
                await self._say(writer, 200, body if moment == 3 else body[: len(body) // 2])
        if self.driver is not None:
            os.kill(self.driver, signal.SIGKILL)
            self.driver = self.kill_at = None
            self.kills += 1
        return False

    def _bill(self, content: bytes) -> bytes:
        used_in, used_out = 1 + self.drawn("in", len(content)), 1 + self.drawn("out", MAX_TOKENS)
        self.billed_tokens += used_in + used_out
        self.billed_usd += (used_in * self.input_usd + used_out * self.output_usd) / 1_000_000
        return json.dumps(
            {
                "id": f"c{self.requests}",
                "model": "served",
                "choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": used_in, "completion_tokens": used_out},
            }
        ).encode()

    async def _say(self, writer: asyncio.StreamWriter, status: int, body: bytes) -> bool:
        writer.write(f"HTTP/1.1 {status} Said\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        return True


@contextlib.asynccontextmanager
async def billing(seed: int) -> AsyncIterator[BillingServer]:
    rate_in, rate_out = (Decimal(1 + seed_for(seed, "price", kind) % 40) for kind in ("in", "out"))
    server = BillingServer(seed, rate_in, rate_out)
    async with await asyncio.start_server(server.connected, "127.0.0.1", 0) as listening:
        server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        yield server


@contextlib.asynccontextmanager
async def drivers() -> AsyncIterator[asyncio.subprocess.Process]:
    forking = await asyncio.create_subprocess_exec(
        sys.executable, paying_lab.__file__, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert forking.stdin is not None
    yield forking
    forking.stdin.close()
    await forking.wait()


async def life(forking: asyncio.subprocess.Process, server: BillingServer, root: Path) -> int:
    """One driver from its start to its end; its exit code, -9 when it was killed."""
    assert forking.stdin is not None
    assert forking.stdout is not None
    forking.stdin.write(json.dumps({"root": str(root), "url": server.url}).encode() + b"\n")
    server.driver = int(await forking.stdout.readline())
    code = int(await forking.stdout.readline())
    server.driver = None
    return code


def written(root: Path, seed: int, server: BillingServer) -> Decimal:
    """The configuration of one seeded run; its cap in dollars, a part of what the whole would cost."""
    root.mkdir()
    (root / "models").mkdir()
    rates = {
        "input": server.input_usd,
        "output": server.output_usd,
        "cache_read": Decimal(0),
        "cache_write": Decimal(0),
    }
    prices = {"version": "drawn", "models": {paying_lab.MODEL: {name: str(rate) for name, rate in rates.items()}}}
    (root / "models" / "prices.yaml").write_text(json.dumps(prices))
    mean = (150 * server.input_usd + MAX_TOKENS / Decimal(2) * server.output_usd) / 1_000_000
    cap = round(mean * ROWS * (30 + seed_for(seed, "cap") % 40) / 100, 6)
    budget = {"usd": float(cap)} | ({"tokens": 5000} if seed % 4 == 0 else {})
    config = {
        "experiment": "paying", "name": "it", "rows": ROWS, "max_tokens": MAX_TOKENS,
        "runtime": {"concurrency": 1 + seed_for(seed, "width") % 8, "budget": budget},
    }  # fmt: skip
    (root / "paying.yaml").write_text(json.dumps(config))
    return cap


@pytest.mark.e2e
@pytest.mark.parametrize("part", range(2))
async def test_never_more_is_billed_than_the_cap_whatever_is_killed(tmp_path: Path, part: int) -> None:
    async with drivers() as forking:
        kills = [await seeded(tmp_path, seed, forking) for seed in range(part, SEEDS, 2)]
    assert sum(kills) >= SEEDS / 2


async def seeded(tmp_path: Path, seed: int, forking: asyncio.subprocess.Process) -> int:
    root = tmp_path / str(seed)
    async with billing(seed) as server:
        cap = written(root, seed, server)
        folder = paying_lab.prepared(root, server.url).folder(root / "results")
        for number in range(1 + seed_for(seed, "lives") % 4):
            server.kill_at = server.requests + 1 + seed_for(seed, "kill", number) % 8
            await life(forking, server, root)
            assert server.billed_usd <= cap
        server.kill_at = None
        assert await life(forking, server, root) == ExitCode.BUDGET
        spent = accounts_of(folder.path / "recordings").spent
        assert server.billed_usd <= spent.usd <= cap
        assert server.billed_tokens <= spent.tokens
        outcome = folder.outcome
        assert outcome is not None
        assert (outcome.status, outcome.exit_code) == (Status.PARTIAL, ExitCode.BUDGET)
        if outcome.rows:
            assert json.loads((folder.path / "report.json").read_text())["coverage"] == "partial"
        return server.kills
