"""The Messages caller: what goes over the wire, what it costs, and what is refused before anything is sent."""

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from manual_clock import ManualClock
from scripted_http import Answer, ScriptedServer, message, scripted

from core.adapters.llm import describe, open_llm, preflight
from core.adapters.llm.messages import MessagesWire
from core.adapters.llm.preflight import retirement
from core.adapters.llm.prices import PRICES, Tariff, load_prices
from core.adapters.record import Recordings, recorder
from core.errors import BudgetExhausted, ConfigError, ExitCode, PreflightRefused
from core.model.prompt import Completion, Effort, Prompt, Role, Turn, Usage
from core.model.record import SamplingStatus
from core.model.specs import BudgetSpec, ModelSpec, Provider
from core.policy.ledger import Ledger
from core.policy.limiter import Limiter
from core.policy.retry import Charge, Failure

OPUS = "claude-opus-4-5-20251101"
TODAY = ManualClock("2026-11-21T12:00:00Z")

SHIPPED_PRICES = load_prices(Path(__file__).resolve().parents[2] / "configs" / PRICES)


def spec(model: str = OPUS, **fields: Any) -> ModelSpec:
    return ModelSpec(**{"provider": Provider.ANTHROPIC, "model": model, **fields})


def prompt(model: str = OPUS, **fields: Any) -> Prompt:
    return Prompt(
        **{"name": "t@1", "model": model, "system": "", "turns": (Turn(role=Role.USER, text="hi"),), **fields}
    )


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with scripted(message()) as running:
        yield running


async def complete(
    server: ScriptedServer, folder: Path, asked: Prompt, *, of: ModelSpec, ledger: Ledger | None = None
) -> Completion:
    async with (
        recorder(folder, TODAY) as recordings,
        open_llm(
            of,
            role="judge",
            base_url=server.url,
            prices=SHIPPED_PRICES,
            recordings=recordings,
            ledger=ledger or Ledger(BudgetSpec()),
            limiter=Limiter(1, TODAY),
            clock=TODAY,
            deadline_s=5,
        ) as llm,
    ):
        return await llm.complete(asked)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    return "sk-ant-test"


async def test_schema_and_effort_travel_in_output_config(server: ScriptedServer, tmp_path: Path, key: str) -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    asked = prompt(output_schema=schema, effort=Effort.LOW, system="Be brief.", max_tokens=77)
    await complete(server, tmp_path, asked, of=spec())
    assert server.seen[0].body == {
        "model": OPUS,
        "max_tokens": 77,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "hi"}],
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": schema}},
    }
    assert server.seen[0].headers["authorization"] == f"Bearer {key}"


async def test_the_fields_of_a_schema_go_out_in_their_order(server: ScriptedServer, tmp_path: Path, key: str) -> None:
    """A model writes them in it: a reason that comes after its verdict explains nothing."""
    fields = {"reason": {"type": "string"}, "because": {"type": "string"}, "a_verdict": {"type": "integer"}}
    await complete(server, tmp_path, prompt(output_schema={"type": "object", "properties": fields}), of=spec())
    assert list(server.seen[0].body["output_config"]["format"]["schema"]["properties"]) == list(fields)


@pytest.fixture
def federated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_IDENTITY_TOKEN", "who I am")
    monkeypatch.setenv("ANTHROPIC_FEDERATION_RULE_ID", "fdrl_1")
    monkeypatch.setenv("ANTHROPIC_ORGANIZATION_ID", "00000000-0000-0000-0000-000000000001")


@pytest.mark.usefixtures("federated")
async def test_credentials_that_the_sdk_finds_by_itself_are_exchanged_and_sent(
    server: ScriptedServer, tmp_path: Path
) -> None:
    token = {"access_token": "for an hour", "token_type": "Bearer", "expires_in": 3600}
    server.script.append(Answer(body=json.dumps(token).encode()))
    await complete(server, tmp_path, prompt(), of=spec())
    assert [seen.path for seen in server.seen] == ["/v1/oauth/token", "/v1/messages"]
    assert server.seen[1].headers["authorization"] == "Bearer for an hour"


@pytest.mark.usefixtures("federated")
async def test_credentials_that_are_not_exchanged_cost_nothing(server: ScriptedServer) -> None:
    server.otherwise = Answer(status=403, body=b"{}")
    wire = MessagesWire(spec(), server.url)
    async with wire.connected():
        outcome = await wire.send(wire.request(prompt()), timeout_s=5, now=TODAY.now())
    assert {seen.path for seen in server.seen} == {"/v1/oauth/token"}
    assert isinstance(outcome, Failure)
    assert outcome.charge is Charge.NONE


async def test_a_connection_that_never_comes_is_given_up_before_the_attempt_and_costs_nothing(key: str) -> None:
    with socket.socket() as full, contextlib.ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):  # more than it keeps: who comes later is not answered at all
            early = waiting.enter_context(socket.socket())
            early.setblocking(False)
            early.connect_ex(full.getsockname())
        wire = MessagesWire(spec(), f"http://127.0.0.1:{full.getsockname()[1]}")
        async with wire.connected(), asyncio.timeout(5):
            outcome = await wire.send(wire.request(prompt()), timeout_s=0.2, now=TODAY.now())
    assert isinstance(outcome, Failure)
    assert outcome.charge is Charge.NONE


async def test_a_temperature_is_sent_only_where_the_api_takes_it(
    server: ScriptedServer, tmp_path: Path, key: str
) -> None:
    today, older = spec(temperature=0.0), spec(temperature=0.0, api_version="2023-06-01")
    for of in (today, older):
        await complete(server, tmp_path, prompt(temperature=0.0), of=of)
    assert "temperature" not in server.seen[0].body
    assert server.seen[0].headers["anthropic-version"] == describe(today, "judge").api_version
    assert server.seen[1].body["temperature"] == 0.0
    assert server.seen[1].headers["anthropic-version"] == "2023-06-01"


@pytest.mark.parametrize(
    ("of", "temperature", "seed"),
    [
        (spec(), SamplingStatus.NOT_ASKED, SamplingStatus.NOT_ASKED),
        (spec(temperature=0.0), SamplingStatus.REFUSED_BY_API, SamplingStatus.NOT_ASKED),
        (spec(temperature=0.0, api_version="2023-06-01"), SamplingStatus.SENT, SamplingStatus.NOT_ASKED),
        (
            ModelSpec(provider=Provider.OPENAI, model="qwen3:1.7b", temperature=0.0),
            SamplingStatus.SENT,
            SamplingStatus.SENT,
        ),
    ],
)
def test_the_record_claims_only_what_is_sent(of: ModelSpec, temperature: SamplingStatus, seed: SamplingStatus) -> None:
    record = describe(of, "judge")
    assert (record.temperature, record.seed) == (temperature, seed)
    assert record.temperature_asked == of.temperature
    assert record.sdk.split()[0] in {"anthropic", "httpx"}


async def test_chat_completions_are_sent_seed_temperature_and_schema(server: ScriptedServer, tmp_path: Path) -> None:
    from scripted_http import chat

    server.otherwise = chat(
        usage={"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}}
    )
    server.url += "/v1"
    of = ModelSpec(provider=Provider.OPENAI, model="qwen3:1.7b", temperature=0.25)
    completion = await complete(
        server, tmp_path, prompt("qwen3:1.7b", repeat=2, output_schema={"type": "object"}), of=of
    )
    body = server.seen[0].body
    assert (body["temperature"], body["seed"]) == (0.25, 2)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert completion.usage == Usage(input_tokens=5, output_tokens=1, cache_read_tokens=4)


async def test_every_kind_of_token_has_its_price(server: ScriptedServer, tmp_path: Path, key: str) -> None:
    million = 1_000_000
    usage = {"input_tokens": million, "output_tokens": million}
    cached = {"cache_read_input_tokens": million, "cache_creation_input_tokens": million}
    server.otherwise = message(usage=usage | cached)
    completion = await complete(server, tmp_path, prompt(), of=spec())
    assert completion.cost_usd == 5 + 25 + 0.5 + 6.25


async def test_the_dollar_cap_counts_the_worst_case(server: ScriptedServer, tmp_path: Path, key: str) -> None:
    ledger = Ledger(BudgetSpec(usd=0.10))
    with pytest.raises(BudgetExhausted):
        await complete(server, tmp_path, prompt(max_tokens=4000), of=spec(), ledger=ledger)
    assert not server.seen
    await complete(server, tmp_path, prompt(max_tokens=1000), of=spec(), ledger=ledger)
    assert ledger.spent.usd == Decimal("0.00023")


async def test_a_model_without_a_price_may_not_run_under_a_dollar_cap(
    server: ScriptedServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    of = ModelSpec(provider=Provider.OPENAI, model="other:7b")
    with pytest.raises(PreflightRefused, match="other:7b") as raised:
        await complete(server, tmp_path, prompt("other:7b"), of=of, ledger=Ledger(BudgetSpec(usd=1)))
    assert "prices.yaml" in raised.value.remedy
    assert not server.seen


async def test_a_missing_key_is_said_before_any_call(server: ScriptedServer, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no API key") as raised:
        await complete(server, tmp_path, prompt(), of=spec())
    assert "ANTHROPIC_API_KEY" in raised.value.remedy
    assert not server.seen


async def test_a_server_of_our_own_needs_its_url(server: ScriptedServer, tmp_path: Path) -> None:
    server.url = None  # type: ignore[assignment]
    for provider in (Provider.REHEARSAL, Provider.OPENAI):
        with pytest.raises(ConfigError, match="no URL") as raised:
            await complete(server, tmp_path, prompt(), of=ModelSpec(provider=provider, model="m:1"))
        assert raised.value.path == "runtime.judge_url"


async def test_a_retired_model_can_be_replayed_without_a_key(tmp_path: Path) -> None:
    of = spec("claude-sonnet-4-20250514")
    async with open_llm(
        of,
        role="judge",
        base_url=None,
        prices=SHIPPED_PRICES,
        recordings=Recordings(tmp_path),
        ledger=Ledger(BudgetSpec()),
        limiter=Limiter(1, TODAY),
        clock=TODAY,
        deadline_s=5,
    ):
        pass


def test_retired_models_are_refused_from_the_day_they_end(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(PreflightRefused, match="retired on 2026-06-15") as raised:
        preflight(spec("claude-sonnet-4-20250514"), role="judge", clock=TODAY)
    assert raised.value.path == "judge.model"
    assert raised.value.exit_code is ExitCode.CONFIG
    ending = spec("claude-sonnet-4-5-20250929")
    preflight(ending, clock=TODAY)
    assert "served only until 2026-11-30" in caplog.text
    with pytest.raises(PreflightRefused):
        preflight(ending, clock=ManualClock("2026-11-30T00:00:00Z"))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("November 1st, 2026", "2026-11-01"),
        ("June 2nd, 2026", "2026-06-02"),
        ("May 3rd, 2026", "2026-05-03"),
        ("July 24th, 2026", "2026-07-24"),
    ],
)
def test_every_ordinal_of_the_sdks_table_is_read(written: str, meant: str) -> None:
    assert retirement("m", lambda: {"m": written}) == date.fromisoformat(meant)


def test_the_sdks_table_is_readable_as_a_whole() -> None:
    from anthropic.resources.messages.messages import DEPRECATED_MODELS

    assert all(retirement(model) for model in DEPRECATED_MODELS)


@pytest.mark.parametrize("model", ["claude-opus-4-5", "claude-3-7-sonnet-latest", "claude-20250101-latest"])
def test_moving_names_are_refused(model: str) -> None:
    with pytest.raises(PreflightRefused, match="exact version"):
        preflight(spec(model), clock=TODAY)


@pytest.mark.parametrize("model", ["qwen3", "qwen3:latest"])
def test_moving_tags_are_refused(model: str) -> None:
    with pytest.raises(PreflightRefused, match="exact version"):
        preflight(ModelSpec(provider=Provider.OPENAI, model=model), clock=TODAY)


@pytest.mark.parametrize(
    ("provider", "fields", "path"),
    [
        (Provider.OPENAI, {"effort": "low"}, "judge.effort"),
        (Provider.OPENAI, {"api_version": "2023-06-01"}, "judge.api_version"),
        (Provider.ANTHROPIC, {"api_version": "v1"}, "judge.api_version"),
        (Provider.ANTHROPIC, {"api_version": "2023-06-01", "temperature": 1.5}, "judge.temperature"),
    ],
)
def test_parameters_that_would_be_refused_are_found_before(
    provider: Provider, fields: dict[str, Any], path: str
) -> None:
    with pytest.raises(PreflightRefused) as raised:
        preflight(ModelSpec(provider=provider, model="m-20260101", **fields), role="judge", clock=TODAY)
    assert raised.value.path == path
    assert raised.value.remedy


def test_the_shipped_prices_are_readable_and_the_rehearsal_is_free(configs: Path) -> None:
    table = load_prices(configs / PRICES)
    opus = table.price(spec())
    assert opus is not None
    assert Tariff(opus, table.version).cost(Usage(output_tokens=1_000_000)) == 25
    rehearsal = table.price(ModelSpec(provider=Provider.REHEARSAL, model="r"))
    assert rehearsal is not None
    assert Tariff(rehearsal, table.version).worst(10**9, 10**9).usd == 0
    assert table.price(spec("claude-unknown-20260101")) is None


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("version: '1'\nmodels: {m: {input: 1}}", "models.m.output"),
        ("version: '1'\nmodels: {m: {input: -1, output: 1, cache_read: 1, cache_write: 1}}", "models.m.input"),
        ("[", ""),
        ("", ""),
    ],
)
def test_a_broken_price_table_is_said_with_its_place(tmp_path: Path, text: str, path: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        load_prices(file)
    assert (raised.value.file, raised.value.path) == (str(file), path)


def test_importing_the_package_imports_no_client_library() -> None:
    script = "import sys, core.adapters.llm; print([m for m in ('anthropic', 'httpx', 'httpx2') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
