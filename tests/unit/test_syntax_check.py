"""Which blocks of an answer the gate sees, and what it concludes."""

from __future__ import annotations

import pytest
from evaluation_fakes import ScriptedParser
from hypothesis import given
from hypothesis import strategies as st

from core.checks.blocks import code_blocks
from core.checks.syntax import SyntaxCheck
from core.errors import ParserRefused
from core.model.judged import BlockKind
from core.model.sample import QueryType, Sample
from core.model.syntax import Category, ParseResult, Validity
from core.model.verdict import Outcome

CODE, FOREIGN, UNLABELLED = BlockKind.CODE, BlockKind.FOREIGN, BlockKind.UNLABELLED


def blocks(answer: str, route: QueryType = QueryType.CODE_GENERATION) -> list[tuple[BlockKind, str, str]]:
    return [(block.kind, block.label, block.code) for block in code_blocks(answer, route)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("no code at all", []),
        ("inline `addVar(x, 1)` only", []),
        ("```avap\nx = 1\n```", [(CODE, "avap", "x = 1\n")]),
        ("```AVAP\nx = 1\n```", [(CODE, "avap", "x = 1\n")]),
        ("```avap title=x\nx = 1\n```", [(CODE, "avap", "x = 1\n")]),
        ("``` avap\nx = 1\n```", [(CODE, "avap", "x = 1\n")]),
        ("```{.avap .numbered}\nx = 1\n```", [(CODE, "avap", "x = 1\n")]),
        ("```avap:main.avap\nx = 1\n```", [(CODE, "avap", "x = 1\n")]),
        ("```language-avap\nx = 1\n```", [(CODE, "avap", "x = 1\n")]),
        ("~~~avap\nx = 1\n~~~", [(CODE, "avap", "x = 1\n")]),
        ("~~~~ avap\nx = 1\n~~~\n~~~~", [(CODE, "avap", "x = 1\n~~~\n")]),
        ("text\n```avap\nx = 1\n```\ntext", [(CODE, "avap", "x = 1\n")]),
        ("```avap\r\nx = 1\r\n```\r\n", [(CODE, "avap", "x = 1\n")]),
        ("```avap\nx = 1\n```\n```avap\ny = 2\n```", [(CODE, "avap", "x = 1\n"), (CODE, "avap", "y = 2\n")]),
        ("```avapx\nx = 1\n```", [(FOREIGN, "avapx", "x = 1\n")]),
        ("```go\npackage main\n```", [(FOREIGN, "go", "package main\n")]),
        ("```c++\nint x;\n```", [(FOREIGN, "c++", "int x;\n")]),
        ("```\nx = 1\n```", [(CODE, "", "x = 1\n")]),
        ("   ```avap\n   x = 1\n   ```", [(CODE, "avap", "x = 1\n")]),
        ("1. first\n   ```avap\n   x = 1\n   ```\n2. second", [(CODE, "avap", "x = 1\n")]),
        ("- a\n  - b\n    ```avap\n    x = 1\n    ```", [(CODE, "avap", "x = 1\n")]),
        ("> quoted\n> ```avap\n> x = 1\n> ```", [(CODE, "avap", "x = 1\n")]),
        ("<details>\n```avap\nx = 1\n```\n</details>", [(CODE, "avap", "x = 1\n")]),
        ("<!--\n```avap\nx = 1\n```\n-->", [(CODE, "avap", "x = 1\n")]),
        ("    ```avap\n    x = 1\n    ```", [(CODE, "avap", "x = 1\n")]),
        ("````markdown\n# T\n```avap\nx = 1\n```\n````", [(CODE, "avap", "x = 1\n")]),
        ("````\n```avap\nx = 1\n```\n````", [(CODE, "avap", "x = 1\n")]),
        ("    plain indented\n", [(BlockKind.INDENTED, "", "plain indented\n")]),
        ("```avap\n\n```", [(BlockKind.EMPTY, "avap", "\n")]),
        ("```avap\n```", [(BlockKind.EMPTY, "avap", "")]),
    ],
)
def test_blocks_of_a_code_generation_answer(answer: str, expected: list[tuple[BlockKind, str, str]]) -> None:
    assert blocks(answer) == expected


def test_an_unlabelled_block_is_code_only_where_code_was_asked_for() -> None:
    answer = "```\nx = 1\n```\n```avap\ny = 2\n```"
    assert [kind for kind, _, _ in blocks(answer)] == [CODE, CODE]
    for route in (QueryType.RETRIEVAL, QueryType.CONVERSATIONAL, QueryType.PLATFORM):
        assert [kind for kind, _, _ in blocks(answer, route)] == [UNLABELLED, CODE]


@pytest.mark.parametrize(
    ("answer", "line", "closed"),
    [
        ("```avap\nx = 1\n```", 1, True),
        ("\n\n```avap\nx = 1\n```", 3, True),
        ("```avap\nx = 1", 1, False),
        ("```avap\nx = 1\n", 1, False),
        ("```avap\nx = 1\n\n\n", 1, False),
        ("```avap\nx = 1\n    ```", 1, False),
        ("```avap\nx = 1\n~~~", 1, False),
        ("- a\n  ```avap\n  x = 1\n\nafter", 2, False),
        ("text\n\n````md\nintro\n\n```avap\nx = 1\n```\n````", 6, True),
        ("text\n\n    ```avap\n    x = 1\n    ```", 3, True),
    ],
)
def test_a_block_knows_its_line_and_whether_it_was_closed(answer: str, line: int, closed: bool) -> None:
    (block,) = code_blocks(answer, QueryType.RETRIEVAL)
    assert block.kind is CODE
    assert (block.line, block.closed) == (line, closed)


@given(st.text(alphabet="`~ \n>-avp1.<x", max_size=120), st.sampled_from(list(QueryType)))
def test_any_text_can_be_searched_for_blocks(answer: str, route: QueryType) -> None:
    for block in code_blocks(answer, route):
        assert 1 <= block.line <= answer.count("\n") + 1
        assert block.result is None
        assert (block.kind is BlockKind.EMPTY) == (not block.code.strip()) or block.kind is BlockKind.INDENTED


@given(st.text(alphabet=st.characters(exclude_characters="\r\x00`~", exclude_categories=["Cs"]), max_size=80))
def test_what_stands_between_avap_fences_reaches_the_parser_unchanged(code: str) -> None:
    (block,) = code_blocks(f"```avap\n{code}\n```", QueryType.RETRIEVAL)
    assert block.code == code + "\n"


def sample(answer: str, route: QueryType = QueryType.CODE_GENERATION) -> Sample:
    return Sample(id="GD-C-001", question="q", answer=answer, route=route)


async def test_one_invalid_block_makes_the_answer_invalid() -> None:
    parser = ScriptedParser()
    answer = "```avap\nfine\n```\n```avap\nBAD\n```\n```avap\nfine too\n```"
    verdict = await SyntaxCheck(parser)(sample(answer))
    assert verdict is not None
    assert verdict.outcome is Outcome.FAIL
    assert verdict.score == 0.0
    assert [d.category for d in verdict.diagnostics] == [Category.FOREIGN_KEYWORD]
    assert parser.parsed == ["fine\n", "BAD\n", "fine too\n"]


async def test_all_blocks_valid_passes() -> None:
    verdict = await SyntaxCheck(ScriptedParser())(sample("```avap\nfine\n```"))
    assert verdict is not None
    assert (verdict.outcome, verdict.score, verdict.name) == (Outcome.PASS, 1.0, "syntax@1")


@pytest.mark.parametrize("answer", ["prose", "```go\nBAD\n```", "```avap\n\n```", ""])
async def test_without_code_the_check_does_not_apply_and_the_parser_is_not_asked(answer: str) -> None:
    parser = ScriptedParser(down=True)
    assert await SyntaxCheck(parser)(sample(answer)) is None
    examination = await SyntaxCheck(parser).examine(sample(answer))
    assert examination.validity is None
    assert examination.outage is None
    assert parser.parsed == []


async def test_an_unreachable_parser_is_no_evidence_and_is_asked_once() -> None:
    parser = ScriptedParser(down=True)
    verdict = await SyntaxCheck(parser)(sample("```avap\nfine\n```\n```avap\nBAD\n```"))
    assert verdict is not None
    assert (verdict.outcome, verdict.score) == (Outcome.UNKNOWN, None)
    assert "no answer within 2 s" in verdict.reason
    assert len(parser.parsed) == 1


async def test_a_parser_that_refuses_is_not_mistaken_for_one_that_is_away() -> None:
    class Refusing(ScriptedParser):
        async def parse(self, code: str) -> ParseResult:
            raise ParserRefused("over 256 KiB")

    with pytest.raises(ParserRefused):
        await SyntaxCheck(Refusing())(sample("```avap\nfine\n```"))


async def test_examination_keeps_every_block_with_its_verdict() -> None:
    examination = await SyntaxCheck(ScriptedParser()).examine(sample("```avap\nBAD\n```\n```go\nx\n```"))
    assert [(b.kind, b.result.verdict if b.result else None) for b in examination.blocks] == [
        (CODE, Validity.INVALID),
        (FOREIGN, None),
    ]
    assert examination.validity is Validity.INVALID
    assert examination.category is Category.FOREIGN_KEYWORD
