"""What every Parser keeps to, however it is reached. To join, add a way of opening one to `OPENERS`."""

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.adapters.languages import load_vocabulary, vocabulary_root
from core.adapters.parser.opening import connect, embedded
from core.avap import check
from core.model.specs import LanguageSpec
from core.model.syntax import Category, Dialect, Validity
from core.ports import Parser
from core.serving.parser.judge import Languages
from core.serving.parser.limits import Limits
from core.serving.parser.server import ServerSpec, serving

Opener = Callable[[LanguageSpec], AbstractAsyncContextManager[Parser]]

STRICT = LanguageSpec()
DEADLINE_S = 10.0


@contextlib.asynccontextmanager
async def served(language: LanguageSpec, workers: int) -> AsyncIterator[Parser]:
    """Over loopback, to a server in this process whose default language is another one."""
    other = LanguageSpec(vocabulary="definitions-2026.03", dialect=Dialect.LENIENT)
    languages = Languages.read(vocabulary_root(), other)
    async with (
        serving(languages, ServerSpec(port=0, limits=Limits(workers=workers))) as server,
        connect(f"127.0.0.1:{server.port}", language=language, deadline_s=DEADLINE_S) as parser,
    ):
        yield parser


def connected(language: LanguageSpec) -> AbstractAsyncContextManager[Parser]:
    """To a server that judges by itself."""
    return served(language, 0)


def worked(language: LanguageSpec) -> AbstractAsyncContextManager[Parser]:
    """To a server that has worker processes judge."""
    return served(language, 1)


def child(language: LanguageSpec) -> AbstractAsyncContextManager[Parser]:
    """The embedded default: a process of its own."""
    return embedded(language=language, deadline_s=DEADLINE_S)


OPENERS: dict[str, Opener] = {"connected": connected, "workers": worked, "embedded": child}


@pytest.fixture(params=list(OPENERS))
def opened(request: pytest.FixtureRequest) -> Opener:
    return OPENERS[request.param]


PROGRAMS = [
    'addVar(x, "1")\naddResult(x)',
    "getSHA256(password, digest)",
    "for i in range(3):\n  print(i)",
    "end()",
    "x = (1 + ",
    "",
    "addVar(sql, SELECT * FROM users)",
    'addVar(größe, "ñandú 🐦")',
    "a\0b",
]


@pytest.mark.parametrize("dialect", list(Dialect))
async def test_it_says_what_the_language_says(opened: Opener, dialect: Dialect) -> None:
    language = LanguageSpec(dialect=dialect)
    vocabulary = load_vocabulary(language.vocabulary)
    async with opened(language) as parser:
        for program in PROGRAMS:
            assert await parser.parse(program) == check(program, vocabulary, dialect)


async def test_the_vocabulary_is_that_of_the_language(opened: Opener) -> None:
    program = 'variableFromJSON(reply, "name", target)'
    async with opened(STRICT) as parser:
        assert (await parser.parse(program)).verdict is Validity.INVALID
    async with opened(LanguageSpec(vocabulary="definitions-2026.03")) as parser:
        assert (await parser.parse(program)).verdict is Validity.VALID


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=st.text(max_size=200))
async def test_any_text_gets_the_verdict_it_gets_in_process(any_parser: Parser, program: str) -> None:
    assert await any_parser.parse(program) == check(program, load_vocabulary(STRICT.vocabulary), STRICT.dialect)


@pytest.fixture
async def any_parser() -> AsyncIterator[Parser]:
    async with connected(STRICT) as parser:
        yield parser


async def test_half_a_character_is_a_fault_at_its_place(opened: Opener) -> None:
    program = 'addVar(x, 1)\naddVar(y, "\ud83d")'
    async with opened(STRICT) as parser:
        result = await parser.parse(program)
    (fault,) = result.diagnostics
    (there,) = check(program, load_vocabulary(STRICT.vocabulary), Dialect.STRICT).diagnostics
    assert (
        (fault.line, fault.column, fault.category)
        == (there.line, there.column, there.category)
        == (
            2,
            12,
            Category.SYNTAX_ERROR,
        )
    )


async def test_code_over_the_limit_is_invalid_not_refused(opened: Opener) -> None:
    async with opened(STRICT) as parser:
        limit = (await parser.info()).max_bytes
        result = await parser.parse("addVar(x, 1)\n" * (limit // 13 + 1))
    assert (result.verdict, result.category) == (Validity.INVALID, Category.SYNTAX_ERROR)


async def test_it_says_what_it_is(opened: Opener) -> None:
    async with opened(STRICT) as parser:
        info = await parser.info()
        result = await parser.parse("addVar(x, 1)")
    vocabularies = {vocabulary.id: vocabulary for vocabulary in info.vocabularies}
    assert vocabularies[result.vocabulary].sha256 == load_vocabulary(result.vocabulary).sha256
    assert vocabularies["lrm-2026.04"].node_types == 38
    assert result.parser_version == info.version
    assert set(info.dialects) == set(Dialect)
    assert (info.max_bytes, info.max_depth, info.validating) == (256 * 1024, 200, True)
