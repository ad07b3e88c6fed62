"""Queries of many callers in one call, and nobody the worse for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy
import pytest

from core.cluster.gathering import GatheringEmbedder
from core.errors import EmbedderUnavailable
from core.model.retrieval import TextKind
from core.ports import Matrix


class Model:
    """Embeds a text as its length, one call at a time; `gate` holds it back."""

    dimensions = 1

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.gate = asyncio.Event()
        self.broken = False

    async def embed(self, texts: Sequence[str], *, kind: TextKind) -> Matrix:
        self.calls.append(tuple(texts))
        await self.gate.wait()
        if self.broken:
            raise EmbedderUnavailable("no memory")
        return numpy.array([[len(text)] for text in texts], dtype=numpy.float32)


async def started(model: Model, *asked: tuple[str, ...], kind: TextKind = TextKind.QUERY) -> list[asyncio.Task[Matrix]]:
    """Calls that were made one after the other while the model is held back."""
    embedder = GatheringEmbedder(model)
    tasks = []
    for texts in asked:
        tasks.append(asyncio.create_task(embedder.embed(texts, kind=kind)))
        for _ in range(3):
            await asyncio.sleep(0)  # noqa: TID251 - gives way, so that the call is made
    return tasks


async def test_what_comes_while_the_model_is_busy_goes_together_and_each_text_once() -> None:
    model = Model()
    tasks = await started(model, ("a",), ("bb", "ccc"), ("ccc", "a", "ccc"))
    model.gate.set()
    assert [matrix.tolist() for matrix in await asyncio.gather(*tasks)] == [[[1]], [[2], [3]], [[3], [1], [3]]]
    assert model.calls == [("a",), ("bb", "ccc", "a")]


async def test_documents_keep_their_batches() -> None:
    model = Model()
    model.gate.set()
    await asyncio.gather(*await started(model, ("a", "a"), ("a", "b"), kind=TextKind.DOCUMENT))
    assert model.calls == [("a", "a"), ("a", "b")]


async def test_a_failure_is_told_to_those_in_the_call_and_the_next_call_is_made() -> None:
    model = Model()
    model.broken = True
    tasks = await started(model, ("a",), ("b",))
    model.gate.set()
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(end) for end in ends] == [EmbedderUnavailable, EmbedderUnavailable]
    model.broken = False
    [task] = await started(model, ("a",))
    assert (await task).tolist() == [[1]]


async def test_a_caller_that_leaves_costs_no_other_its_vectors() -> None:
    model = Model()
    first, leaving, staying = await started(model, ("a",), ("bb",), ("ccc",))
    leaving.cancel()
    model.gate.set()
    assert (await first).tolist() == [[1]]
    assert (await staying).tolist() == [[3]]
    with pytest.raises(asyncio.CancelledError):
        await leaving
