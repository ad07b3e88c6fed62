"""One embedding call for the queries of many callers: while the model is busy, what comes in waits together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from core.model.retrieval import TextKind
from core.ports import Embedder, Matrix


@dataclass(frozen=True)
class _Asked:
    """The texts of one caller, and where it waits."""

    texts: tuple[str, ...]
    vectors: asyncio.Future[Matrix]


class GatheringEmbedder:
    """core.ports.Embedder over another one. Queries of all callers go to it together, each distinct text once.

    Documents are passed on as they come: a document's last bits depend on its batch, which must not depend on who else
    is asking. A query's vector depends on its text alone.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._waiting: list[_Asked] = []
        self._working: asyncio.Task[None] | None = None

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str], *, kind: TextKind) -> Matrix:
        """Embed `texts`, in order. Raises EmbedderUnavailable to everybody whose texts were in the call that failed."""
        if kind is not TextKind.QUERY or not texts:
            return await self._embedder.embed(texts, kind=kind)
        asked = _Asked(tuple(texts), asyncio.get_running_loop().create_future())
        self._waiting.append(asked)
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())
        return await asked.vectors

    async def _work(self) -> None:
        while self._waiting:
            together, self._waiting = self._waiting, []
            try:
                await self._answer([asked for asked in together if not asked.vectors.done()])
            except Exception as error:  # noqa: BLE001 - it is theirs who asked, and must end no other call
                for asked in together:
                    if not asked.vectors.done():
                        asked.vectors.set_exception(error)

    async def _answer(self, together: Sequence[_Asked]) -> None:
        place: dict[str, int] = {}
        for asked in together:
            for text in asked.texts:
                place.setdefault(text, len(place))
        vectors = await self._embedder.embed(tuple(place), kind=TextKind.QUERY)
        for asked in together:
            if not asked.vectors.done():
                asked.vectors.set_result(vectors[[place[text] for text in asked.texts]])
