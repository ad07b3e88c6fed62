"""The path of a judged answer: calls/s through caller, recorder and store, and wall time under latency."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from _bars import Bar, conclude

from core.adapters.clock import SystemClock
from core.adapters.llm import open_llm
from core.adapters.llm.prices import PriceTable
from core.adapters.record import recorder
from core.adapters.rehearsal import running
from core.lab.journal import Journal
from core.model.prompt import Prompt, Role, Turn
from core.model.specs import BudgetSpec, Comparator, ModelSpec, Provider, RehearsalSpec, RuntimeSpec
from core.policy.ledger import Ledger
from core.policy.limiter import Limiter
from core.ports import Llm

CALLS = 1_500
SLOW_CALLS = 480
LATENCY_S = 0.2
IN_FLIGHT = 16
MODEL = ModelSpec(provider=Provider.REHEARSAL, model="rehearsal-answerer-2026-11-21")

PASSAGE = (
    "The command addVar assigns a value to a variable of the current scope. Its first argument is the name, its second "
    "the value: a literal, another variable or an expression. A name that begins with an underscore belongs to the "
    "platform, save _status, which sets the HTTP status of the reply."
)


VERDICT = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "supported": {"enum": [0, 1]}, "reason": {"type": "string"}},
    "required": ["id", "supported", "reason"],
    "additionalProperties": False,
}


def prompt(number: int) -> Prompt:
    """A judge's question over eight passages, as long as those of the main job; no two alike."""
    passages = "\n".join(f'<passage id="P{n}" source="reference/vars">{PASSAGE}</passage>' for n in range(1, 9))
    statements = f'<statement id="1">addVar assigns a value to variable {number}.</statement>'
    return Prompt(
        name="bench@1",
        model=MODEL.model,
        system="<task>judge.support</task>",
        turns=(
            Turn(
                role=Role.USER,
                text=f"<context>\n{passages}\n</context>\n<statements>\n{statements}\n</statements>",
            ),
        ),
        output_schema={
            "type": "object",
            "properties": {"verdicts": {"type": "array", "items": VERDICT}},
            "required": ["verdicts"],
            "additionalProperties": False,
        },
    )


@contextlib.asynccontextmanager
async def rehearsed(folder: Path, latency_s: float) -> AsyncIterator[Llm]:
    """A caller whose recordings go to `folder`, over a rehearsal server of its own."""
    runtime = RuntimeSpec(rehearsal_latency_ms=round(latency_s * 1000))
    async with (
        running(RehearsalSpec(), runtime, truth=folder / "truth.jsonl") as url,
        recorder(folder / "recordings", SystemClock()) as recordings,
        open_llm(
            MODEL,
            role="judge",
            base_url=url,
            prices=PriceTable(version="none", models={}),
            recordings=recordings,
            ledger=Ledger(BudgetSpec(tokens=10**9)),
            limiter=Limiter(IN_FLIGHT, SystemClock()),
            clock=SystemClock(),
            deadline_s=60.0,
        ) as llm,
    ):
        yield llm


async def wall_time(llm: Llm, journal: Journal, numbers: range) -> float:
    """Seconds until every call of `numbers` is answered, recorded and journalled."""

    async def one(number: int) -> None:
        completion = await llm.complete(prompt(number))
        row = completion.model_copy(update={"replayed": False}).model_dump_json()
        await journal.append(str(number), f'{{"id":"{number}","completion":{row}}}')

    started = perf_counter()
    await asyncio.gather(*(one(number) for number in numbers))
    return perf_counter() - started


async def measured(calls: int, latency_s: float) -> float:
    """Wall time of `calls` calls after a warm-up."""
    with TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        with Journal(folder / "samples.jsonl") as journal:
            async with rehearsed(folder, latency_s) as llm:
                await wall_time(llm, journal, range(-2 * IN_FLIGHT, 0))
                return await wall_time(llm, journal, range(calls))


def main() -> None:
    """Measure both bars of the pipeline and leave with 1 when one is missed."""
    rate = CALLS / asyncio.run(measured(CALLS, 0.0))
    ideal = SLOW_CALLS * LATENCY_S / IN_FLIGHT
    overhead = asyncio.run(measured(SLOW_CALLS, LATENCY_S)) / ideal
    conclude(
        (
            Bar("calls recorded and stored, server at 0 ms", rate, Comparator.AT_LEAST, 100, "calls/s"),
            Bar(f"wall time over ideal, 200 ms, {IN_FLIGHT} in flight", overhead, Comparator.AT_MOST, 1.2, "x"),
        )
    )


if __name__ == "__main__":
    main()
