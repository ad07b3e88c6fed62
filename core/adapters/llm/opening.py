"""From a specification to a caller that is ready, and to the record of how it calls."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator

from core.adapters.llm.caller import Caller, Means
from core.adapters.llm.preflight import preflight
from core.adapters.llm.prices import FREE, PRICES, PriceTable, Tariff
from core.adapters.llm.sampling import seed_status, temperature_status
from core.adapters.llm.surfaces import Batching, surface_of, takes_batches, wire_to
from core.adapters.record import RecordingMode, Recordings
from core.errors import PreflightRefused
from core.model.frozen import digest
from core.model.record import ModelRecord
from core.model.specs import BatchSpec, ModelSpec
from core.policy.ledger import Budget
from core.policy.limiter import Limiter
from core.ports import Clock, Llm

_log = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def open_llm(  # noqa: PLR0913 - each is shared by other callers, or this one's own
    spec: ModelSpec,
    *,
    role: str,
    base_url: str | None,
    prices: PriceTable,
    recordings: Recordings,
    ledger: Budget,
    limiter: Limiter,
    clock: Clock,
    deadline_s: float,
    batch: BatchSpec | None = None,
) -> AsyncIterator[Llm]:
    """A caller of `spec`, while the context is open. When replaying, nothing is checked, connected or sent.

    `deadline_s` is for one call with all its retries. With `batch` requests go in message batches, where the provider
    has them, at half the price. Raises PreflightRefused and ConfigError before any call.
    """
    replaying = recordings.mode is RecordingMode.REPLAY
    if not replaying:
        preflight(spec, role=role, clock=clock)
    batching = None
    if batch is not None and takes_batches(spec):
        batching = Batching(batch, recordings.folder / f"batches-{role}-{digest(spec)[:8]}.jsonl", clock)
    wire = wire_to(spec, role, base_url, batching)
    tariff = _UNUSED if replaying else _tariff(spec, role, ledger, prices)
    tariff = tariff.batched() if batching else tariff
    async with contextlib.nullcontext() if replaying else wire.connected():
        means = Means(recordings, ledger, limiter, clock)
        yield Caller(spec.model, role, wire, tariff, means, deadline_s=deadline_s)


def describe(spec: ModelSpec, role: str) -> ModelRecord:
    """How `spec` is really called: by which SDK, in which API version, with which of its sampling parameters."""
    surface = surface_of(spec)
    return ModelRecord(
        role=role,
        provider=spec.provider,
        model=spec.model,
        sdk=surface.sdk,
        api_version=surface.api_version,
        temperature_asked=spec.temperature,
        temperature=temperature_status(spec),
        seed=seed_status(spec),
    )


_UNUSED = Tariff(FREE, version="replay")


def _tariff(spec: ModelSpec, role: str, ledger: Budget, table: PriceTable) -> Tariff:
    price = table.price(spec)
    if price is None and ledger.caps_usd:
        raise PreflightRefused(
            f"{role}: a budget in dollars is set, and nobody wrote down what {spec.model} costs",
            path="runtime.budget.usd",
            remedy=f"add {spec.model} to configs/{PRICES.as_posix()}, or cap tokens instead of dollars",
        )
    if price is None:
        _log.warning("%s: no price for %s: its cost is counted as 0", role, spec.model)
    return Tariff(price or FREE, table.version)
