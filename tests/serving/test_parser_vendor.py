"""The vendor's language server as a Parser, against a server that answers by a script."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_http import Answer, Manner, ScriptedServer, scripted

from core.adapters.parser.opening import connect
from core.adapters.parser.vendor_reply import error_in, fault_in
from core.errors import ConfigError, ParserRefused, ParserUnavailable
from core.model.specs import LanguageSpec
from core.model.syntax import Category, Diagnostic, Validity
from core.ports import Parser

LANGUAGE = LanguageSpec()
CODE = "addVar(x, 1)\n  getSHA256(x, y)\naddResult(y)"


def ran(**more: object) -> Answer:
    return Answer(body=json.dumps({"success": True, "result": {}, "variables": {}, "logs": [], **more}).encode())


def failed(error: str, status: int = 400) -> Answer:
    return Answer(status, json.dumps({"success": False, "error": error}).encode())


@contextlib.asynccontextmanager
async def vendor(otherwise: Answer, deadline_s: float = 10.0) -> AsyncIterator[tuple[Parser, ScriptedServer]]:
    async with (
        scripted(otherwise) as server,
        connect(server.url, language=LANGUAGE, deadline_s=deadline_s) as parser,
    ):
        yield parser, server
    await asyncio.gather(*(task for task in asyncio.all_tasks() if "ScriptedServer" in repr(task.get_coro())))


async def test_what_ran_is_valid_and_what_was_sent_is_the_contract() -> None:
    async with vendor(ran()) as (parser, server):
        result = await parser.parse(CODE)
    assert (result.verdict, result.category, result.trace) == (Validity.VALID, None, ())
    assert (server.seen[0].path, server.seen[0].body) == ("/api/v1/execute", {"script": CODE, "variables": {}})


async def test_an_unknown_command_is_an_unknown_token_where_it_stands() -> None:
    async with vendor(failed("Command not found: getSHA256")) as (parser, _):
        result = await parser.parse(CODE)
    assert (result.verdict, result.category) == (Validity.INVALID, Category.UNKNOWN_TOKEN)
    (fault,) = result.diagnostics
    assert (fault.line, fault.column, fault.text) == (2, 3, "getSHA256")
    assert result.trace == ("Line 2: unknown command 'getSHA256'",)


@pytest.mark.parametrize("answer", [failed("Error at line 3: bad"), failed("Error at line 3: bad", status=200)])
async def test_any_other_failure_is_an_unexpected_construct(answer: Answer) -> None:
    async with vendor(answer) as (parser, _):
        result = await parser.parse(CODE)
    assert (result.verdict, result.category) == (Validity.INVALID, Category.UNEXPECTED_CONSTRUCT)
    assert (result.diagnostics[0].line, result.diagnostics[0].message) == (3, "Error at line 3: bad")


async def test_it_says_that_it_does_not_validate() -> None:
    async with vendor(ran()) as (parser, server):
        info = await parser.info()
    assert info.validating is False
    assert [vocabulary.id for vocabulary in info.vocabularies] == [LANGUAGE.vocabulary]
    assert server.seen == []


async def test_an_overloaded_server_is_asked_again() -> None:
    async with vendor(ran()) as (parser, server):
        server.script.extend([Answer(503), Answer(503, headers={"retry-after-ms": "1"})])
        assert (await parser.parse(CODE)).verdict is Validity.VALID
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(503), "overloaded"),
        (Answer(503, headers={"retry-after": "3600"}), "overloaded"),
        (Answer(504), "longer than the server allows"),
        (Answer(500), "status 500"),
        (Answer(manner=Manner.CLOSED), "unavailable"),
        (Answer(body=b'{"success": true}', manner=Manner.CUT), "unavailable"),
        (Answer(manner=Manner.SILENT), "no answer within"),
    ],
)
async def test_no_verdict_is_no_evidence(answer: Answer, why: str) -> None:
    async with vendor(answer, deadline_s=0.3) as (parser, _):
        with pytest.raises(ParserUnavailable, match=why):
            await parser.parse(CODE)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(404),
        Answer(401),
        Answer(body=b"<html>"),
        Answer(body=b"[]"),
        Answer(body=b'{"success": "yes"}'),
        Answer(400, b"{}"),
    ],
)
async def test_what_is_no_language_server_is_never_a_verdict(answer: Answer) -> None:
    async with vendor(answer) as (parser, _):
        with pytest.raises(ParserRefused):
            await parser.parse(CODE)


async def test_half_characters_and_long_programs_do_not_break_the_request() -> None:
    async with vendor(ran()) as (parser, server):
        assert (await parser.parse('addVar(x, "\ud83d")')).verdict is Validity.VALID
        assert (await parser.parse("x" * (256 * 1024 + 1))).category is Category.SYNTAX_ERROR
    assert len(server.seen) == 1


async def test_it_does_not_mix_with_other_parsers() -> None:
    for target in ("http://localhost:1,localhost:2", "http://"):
        with pytest.raises(ConfigError):
            async with connect(target, language=LANGUAGE, deadline_s=1):
                raise AssertionError


@given(code=st.text(max_size=80), error=st.text(max_size=80))
def test_any_complaint_is_a_fault_inside_the_program(code: str, error: str) -> None:
    for said in (error, f"Command not found: {error}", f"line {error}"):
        fault = fault_in(code, said)
        assert isinstance(fault, Diagnostic)
        assert 1 <= fault.line <= code.count("\n") + 1
        assert fault.column >= 1


@given(body=st.binary(max_size=80))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(ValueError):
        error_in(body)
