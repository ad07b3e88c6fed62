"""What every language-model caller promises, whatever protocol it speaks."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from manual_clock import ManualClock
from scripted_http import Answer, Manner, ScriptedServer, chat, message, refusal, scripted

from core.adapters.llm import open_llm
from core.adapters.llm.prices import PRICES, load_prices
from core.adapters.record import RecordingMode, Recordings, recorder
from core.errors import BudgetExhausted, ConfigError, LlmRefused, LlmUnavailable, RecordingMissing
from core.model.prompt import Prompt, Role, StopReason, Turn, Usage
from core.model.specs import BudgetSpec, ModelSpec, Provider
from core.policy.ledger import Ledger
from core.policy.limiter import Limiter
from core.ports import Llm

SHIPPED_PRICES = load_prices(Path(__file__).resolve().parents[2] / "configs" / PRICES)
SECRET = "el secreto del prompt"
DEADLINE_S = 60.0


@dataclass(frozen=True)
class Protocol:
    """One caller under test: its specification, and its server's way of saying things."""

    spec: ModelSpec
    path: str
    say: Callable[..., Answer]
    cut_off: Answer
    declined: Answer


PROTOCOLS = {
    "messages": Protocol(
        ModelSpec(provider=Provider.REHEARSAL, model="rehearsal-2026-11-21"),
        "/v1/messages",
        message,
        message("par", stop_reason="max_tokens"),
        message("", stop_reason="refusal", content=[]),
    ),
    "chat": Protocol(
        ModelSpec(provider=Provider.OPENAI, model="qwen3:1.7b"),
        "/v1/chat/completions",
        chat,
        chat("par", "length"),
        chat("", "content_filter"),
    ),
}


@dataclass
class Rig:
    """A caller with all that it stands on."""

    protocol: Protocol
    server: ScriptedServer
    clock: ManualClock
    folder: Path
    ledger: Ledger
    mode: RecordingMode = RecordingMode.RECORD
    deadline_s: float = DEADLINE_S
    limit: int = 4

    @contextlib.asynccontextmanager
    async def llm(self) -> AsyncIterator[Llm]:
        replayed = contextlib.nullcontext(Recordings(self.folder))
        async with (
            replayed if self.mode is RecordingMode.REPLAY else recorder(self.folder, self.clock) as recordings,
            open_llm(
                self.protocol.spec,
                role="generator",
                base_url=self.server.url,
                prices=SHIPPED_PRICES,
                recordings=recordings,
                ledger=self.ledger,
                limiter=Limiter(self.limit, self.clock, longest_pause_s=self.deadline_s),
                clock=self.clock,
                deadline_s=self.deadline_s,
            ) as llm,
        ):
            yield llm

    def prompt(self, text: str = SECRET, **fields: Any) -> Prompt:
        turns = (Turn(role=Role.USER, text=text),)
        model = self.protocol.spec.model
        return Prompt(**{"name": "test@1", "model": model, "system": "Sé breve.", "turns": turns, **fields})


@pytest.fixture(params=PROTOCOLS)
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    protocol = PROTOCOLS[request.param]
    async with scripted(protocol.say()) as server:
        yield Rig(protocol, server, ManualClock(), tmp_path / "recordings", Ledger(BudgetSpec()))


async def test_a_reply_is_whole(rig: Rig) -> None:
    rig.server.script.append(rig.protocol.say("La función está — ¿verdad? 🙂"))
    async with rig.llm() as llm:
        completion = await llm.complete(rig.prompt())
    assert completion.text == "La función está — ¿verdad? 🙂"
    assert completion.stop is StopReason.END
    assert completion.usage == Usage(input_tokens=11, output_tokens=7)
    assert completion.model == "served-model"
    assert completion.message_id
    assert not completion.replayed
    assert [seen.path for seen in rig.server.seen] == [rig.protocol.path]


async def test_the_repetition_travels_in_a_header_and_in_the_address(rig: Rig) -> None:
    async with rig.llm() as llm:
        first, again, other = [await llm.complete(rig.prompt(repeat=repeat)) for repeat in (0, 0, 3)]
    assert [seen.headers["assay-repeat"] for seen in rig.server.seen] == ["0", "3"]
    assert first.key == again.key != other.key


async def test_a_recorded_reply_is_never_asked_for_again(rig: Rig) -> None:
    async with rig.llm() as llm:
        first = await llm.complete(rig.prompt())
    async with rig.llm() as llm:
        second = await llm.complete(rig.prompt())
    assert len(rig.server.seen) == 1
    assert second == first.model_copy(update={"replayed": True})


async def test_replay_sends_nothing_and_needs_no_server(rig: Rig) -> None:
    async with rig.llm() as llm:
        first = await llm.complete(rig.prompt())
    rig.mode = RecordingMode.REPLAY
    rig.server.url = "http://127.0.0.1:1"
    async with rig.llm() as llm:
        assert (await llm.complete(rig.prompt())).text == first.text
        with pytest.raises(RecordingMissing) as raised:
            await llm.complete(rig.prompt("nunca preguntado"))
    assert raised.value.key
    assert len(rig.server.seen) == 1


async def test_equal_requests_at_once_are_sent_once(rig: Rig) -> None:
    rig.server.gate = asyncio.Event()
    async with rig.llm() as llm:
        calls = [asyncio.ensure_future(llm.complete(rig.prompt())) for _ in range(5)]
        while not rig.server.seen:
            await asyncio.wait(calls, timeout=0.01)
        rig.server.gate.set()
        completions = await asyncio.gather(*calls)
    assert len(rig.server.seen) == 1
    assert [completion.replayed for completion in completions].count(False) == 1


async def test_no_more_than_the_limit_is_in_flight(rig: Rig) -> None:
    rig.server.gate = asyncio.Event()
    async with rig.llm() as llm:
        calls = [asyncio.ensure_future(llm.complete(rig.prompt(repeat=repeat))) for repeat in range(9)]
        while len(rig.server.seen) < rig.limit:
            await asyncio.wait(calls, timeout=0.01)
        await asyncio.wait(calls, timeout=0.05)
        assert len(rig.server.seen) == rig.limit
        rig.server.gate.set()
        await asyncio.gather(*calls)
    assert len(rig.server.seen) == 9


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
async def test_a_passing_trouble_is_waited_out(rig: Rig, status: int) -> None:
    rig.server.script.extend([refusal(status), refusal(status)])
    async with rig.llm() as llm:
        assert (await llm.complete(rig.prompt())).text == "Hola"
    assert len(rig.server.seen) == 3
    first, second = rig.clock.slept
    assert 0.375 <= first <= 0.5
    assert 0.75 <= second <= 1.0


async def test_retry_after_is_honoured(rig: Rig) -> None:
    rig.server.script.append(refusal(429, retry_after="7"))
    async with rig.llm() as llm:
        await llm.complete(rig.prompt())
    assert rig.clock.slept == [7.0]


async def test_retry_after_of_days_ends_at_our_deadline(rig: Rig) -> None:
    rig.server.otherwise = refusal(429, retry_after="172800")
    async with rig.llm() as llm:
        with pytest.raises(LlmUnavailable, match=r"within 60 s.*172800") as raised:
            await llm.complete(rig.prompt())
    assert rig.clock.monotonic() <= DEADLINE_S
    assert raised.value.endpoint == rig.server.url
    assert raised.value.remedy


async def test_after_a_long_retry_after_the_next_call_finds_out_whether_it_still_stands(rig: Rig) -> None:
    rig.server.script.append(refusal(429, retry_after="3600"))
    async with rig.llm() as llm:
        with pytest.raises(LlmUnavailable):
            await llm.complete(rig.prompt())
        assert (await llm.complete(rig.prompt())).text == "Hola"
    assert rig.clock.monotonic() <= 2 * DEADLINE_S


async def test_what_one_call_is_told_ends_the_others_that_cannot_wait_so_long(rig: Rig) -> None:
    rig.server.script.append(refusal(529))
    rig.server.otherwise = refusal(429, retry_after="3600")
    async with rig.llm() as llm:
        calls = (llm.complete(rig.prompt(repeat=repeat)) for repeat in range(2))
        ends = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(end, LlmUnavailable) and "to wait 3" in str(end) for end in ends)


async def test_endless_trouble_ends_at_our_deadline(rig: Rig) -> None:
    rig.server.otherwise = refusal(529, "overloaded")
    async with rig.llm() as llm:
        with pytest.raises(LlmUnavailable, match="overloaded"):
            await llm.complete(rig.prompt())
    assert DEADLINE_S - 8 <= rig.clock.monotonic() <= DEADLINE_S
    assert max(rig.clock.slept) <= 8


@pytest.mark.parametrize("manner", [Manner.CUT, Manner.CLOSED])
async def test_a_cut_connection_is_tried_again_then_typed(rig: Rig, manner: Manner) -> None:
    cut = replace(rig.protocol.say(), manner=manner)
    rig.server.script.append(cut)
    async with rig.llm() as llm:
        assert (await llm.complete(rig.prompt())).text == "Hola"
        rig.server.otherwise = cut
        with pytest.raises(LlmUnavailable):
            await llm.complete(rig.prompt(repeat=1))


async def test_truncated_json_is_tried_again_then_typed(rig: Rig) -> None:
    whole = rig.protocol.say()
    cut = replace(whole, body=whole.body[: len(whole.body) // 2])
    rig.server.script.append(cut)
    async with rig.llm() as llm:
        assert (await llm.complete(rig.prompt())).text == "Hola"
        rig.server.otherwise = cut
        with pytest.raises(LlmUnavailable, match="truncated"):
            await llm.complete(rig.prompt(repeat=1))


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b'{"id": 3}', b"\xff\xfe", b'{"type": "error"}'])
async def test_a_reply_of_the_wrong_shape_is_typed(rig: Rig, body: bytes) -> None:
    rig.server.otherwise = Answer(body=body)
    async with rig.llm() as llm:
        with pytest.raises(LlmUnavailable, match=r"truncated|malformed"):
            await llm.complete(rig.prompt())


async def test_a_silent_server_is_left_at_the_deadline(rig: Rig) -> None:
    rig.server.otherwise = Answer(manner=Manner.SILENT)
    rig.deadline_s = 0.1
    async with rig.llm() as llm:
        with pytest.raises(LlmUnavailable):
            await llm.complete(rig.prompt())


async def test_a_connection_that_hangs_leaves_time_for_another(rig: Rig) -> None:
    rig.server.script.append(Answer(manner=Manner.SILENT))
    rig.deadline_s = 1.5
    async with rig.llm() as llm:
        assert (await llm.complete(rig.prompt())).text == "Hola"
    assert len(rig.server.seen) == 2


async def test_a_dead_port_is_unavailable(rig: Rig) -> None:
    rig.server.url = "http://127.0.0.1:1"
    async with rig.llm() as llm:
        with pytest.raises(LlmUnavailable, match=r"127\.0\.0\.1:1"):
            await llm.complete(rig.prompt())


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_a_refused_request_is_not_repeated(rig: Rig, status: int) -> None:
    rig.server.otherwise = refusal(status, "max_tokens: too large")
    async with rig.llm() as llm:
        with pytest.raises(LlmRefused, match="max_tokens: too large") as raised:
            await llm.complete(rig.prompt())
    assert raised.value.status == status
    assert raised.value.remedy
    assert len(rig.server.seen) == 1


async def test_the_servers_own_advice_is_obeyed(rig: Rig) -> None:
    rig.server.script.append(refusal(400, x_should_retry="true"))
    rig.server.script.append(refusal(503, x_should_retry="false"))
    async with rig.llm() as llm:
        with pytest.raises(LlmUnavailable):
            await llm.complete(rig.prompt())
    assert len(rig.server.seen) == 2


async def test_incomplete_answers_say_so(rig: Rig) -> None:
    rig.server.script.extend([rig.protocol.cut_off, rig.protocol.declined])
    async with rig.llm() as llm:
        stops = [(await llm.complete(rig.prompt(repeat=repeat))).stop for repeat in range(2)]
    assert stops == [StopReason.MAX_TOKENS, StopReason.REFUSAL]


async def test_the_budget_is_reserved_before_sending(rig: Rig) -> None:
    rig.ledger = Ledger(BudgetSpec(tokens=2000))
    async with rig.llm() as llm:
        with pytest.raises(BudgetExhausted, match="2000 tokens"):
            await llm.complete(rig.prompt(max_tokens=2000))
        assert not rig.server.seen
        await llm.complete(rig.prompt(max_tokens=100))
    assert rig.ledger.spent.tokens == 18
    assert rig.ledger.held.tokens == 0


async def test_refused_and_failed_attempts_are_free_but_lost_replies_are_charged_in_full(rig: Rig) -> None:
    rig.server.script.extend([refusal(529), replace(rig.protocol.say(), manner=Manner.CUT)])
    async with rig.llm() as llm:
        await llm.complete(rig.prompt(max_tokens=1000))
    assert 1018 < rig.ledger.spent.tokens < 2000


async def test_a_resumed_run_starts_from_what_was_spent(rig: Rig) -> None:
    async with rig.llm() as llm:
        for repeat in range(3):
            await llm.complete(rig.prompt(repeat=repeat))
    recordings = Recordings(rig.folder)
    spent = recordings.spent()[rig.protocol.spec.model]
    assert (spent.calls, spent.usage, spent.cost_usd) == (3, Usage(input_tokens=33, output_tokens=21), Decimal(0))
    assert recordings.total().tokens == 54


async def test_neither_prompts_nor_keys_reach_the_log(
    rig: Rig, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-geheim")
    caplog.set_level("DEBUG")
    rig.server.script.append(refusal(529))
    async with rig.llm() as llm:
        await llm.complete(rig.prompt())
    assert SECRET not in caplog.text
    assert "sk-geheim" not in caplog.text


async def test_a_prompt_for_another_model_is_refused(rig: Rig) -> None:
    async with rig.llm() as llm:
        with pytest.raises(ConfigError, match="other"):
            await llm.complete(rig.prompt(model="other"))


async def test_half_a_surrogate_pair_neither_goes_out_nor_gets_in(rig: Rig) -> None:
    rig.server.otherwise = rig.protocol.say("a\ud800b")
    async with rig.llm() as llm:
        with pytest.raises(LlmRefused, match="surrogate"):
            await llm.complete(rig.prompt("\ud800"))
        assert (await llm.complete(rig.prompt())).text == "a\ufffdb"


async def test_what_is_recorded_is_what_was_sent(rig: Rig) -> None:
    async with rig.llm() as llm:
        completion = await llm.complete(rig.prompt(output_schema={"type": "object"}))
    [recorded] = Recordings(rig.folder).all()
    assert recorded.key == completion.key
    assert recorded.request == rig.server.seen[0].body
