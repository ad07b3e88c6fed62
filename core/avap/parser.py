"""A program in, its tree and its verdict out. Never raises for any text, and takes time linear in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from core.avap.blocks import LimitReached
from core.avap.diagnostics import MAX_DIAGNOSTICS, Fault, diagnostic, select, trace_line
from core.avap.keywords import RULES
from core.avap.lines import Lines
from core.avap.names import Names
from core.avap.statements import Statements
from core.avap.tree import Program
from core.avap.vocabulary import Vocabulary
from core.model.syntax import Category, Dialect, ParseResult, Validity

PARSER_VERSION: Final = "1.1.0"
"""Changes with every change of what is accepted or of how a fault is told; part of every run record."""
MAX_BYTES: Final = 256 * 1024

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Parsed:
    """Both halves of a parser's answer."""

    tree: Program
    """For an INVALID program, what could be understood of it."""
    result: ParseResult


def check(code: str, vocabulary: Vocabulary, dialect: Dialect) -> ParseResult:
    """The verdict on `code`, with every fault found (at most MAX_DIAGNOSTICS)."""
    return parse(code, vocabulary, dialect).result


def parse(code: str, vocabulary: Vocabulary, dialect: Dialect) -> Parsed:
    """The tree of `code` and the verdict on it."""
    size = len(code) if code.isascii() else len(code.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        message = f"the program has {size} bytes, the limit is {MAX_BYTES}"
        fault = Fault(1, 1, Category.SYNTAX_ERROR, message, "")
        return Parsed(Program((), (), ()), _result([fault], {}, vocabulary, dialect))
    source = code.removeprefix("\ufeff")
    faults: list[Fault] = []
    if _NO_TEXT.search(source):
        faults.extend(_signs_that_are_no_text(source))
        source = _NO_TEXT.sub(" ", source)
    return _parse(source, faults, vocabulary, dialect)


def _parse(source: str, faults: list[Fault], vocabulary: Vocabulary, dialect: Dialect) -> Parsed:
    names = Names(source, vocabulary)
    lines = Lines(source, vocabulary, dialect)
    reading = Statements(lines.texts, vocabulary, dialect, names, RULES)
    complete = _read(lines, reading)
    found_so_far = len(reading.faults)
    body = reading.blocks.finish()
    if not complete:
        del reading.faults[found_so_far:]
    faults += [*reading.faults, *lines.faults, *names.resolve()]
    if not body and not faults:
        faults.append(Fault(1, 1, Category.SYNTAX_ERROR, "the program has no statement", ""))
    chosen = [_with_suggestion(fault, names) for fault in select(faults)]
    counts = {} if chosen else {kind: reading.counts[kind] for kind in sorted(reading.counts)}
    known = {kind: count for kind, count in counts.items() if kind in vocabulary.node_types}
    return Parsed(Program(lines.texts, body, tuple(lines.comments)), _result(chosen, known, vocabulary, dialect))


def _read(lines: Lines, reading: Statements) -> bool:
    """Read statements until the end, a limit, or more faulty lines than can be told; says whether to the end.

    Later lines can only add faults that would not be shown, so stopping keeps hopeless input cheap.
    """
    told: set[int] = set()
    seen = 0
    try:
        for line in lines:
            reading.read(line)
            if len(reading.faults) > seen:
                told.update(fault.line for fault in reading.faults[seen:])
                seen = len(reading.faults)
                if len(told) >= MAX_DIAGNOSTICS:
                    return False
    except LimitReached:
        return False
    return True


def _with_suggestion(fault: Fault, names: Names) -> Fault:
    if fault.category is not Category.UNKNOWN_TOKEN or fault.suggestion is not None:
        return fault
    return replace(fault, suggestion=names.suggestion(fault.text))


def _signs_that_are_no_text(source: str) -> Iterable[Fault]:
    """A fault for each line with a NUL or half a surrogate pair, at the first of them."""
    for number, text in enumerate(_LINE_END.split(source), 1):
        match = _NO_TEXT.search(text)
        if match:
            message = f"U+{ord(match[0]):04X} is no text"
            yield Fault(number, match.start() + 1, Category.SYNTAX_ERROR, message, match[0])


def _result(faults: list[Fault], node_types: dict[str, int], vocabulary: Vocabulary, dialect: Dialect) -> ParseResult:
    diagnostics = tuple(map(diagnostic, faults))
    return ParseResult(
        verdict=Validity.INVALID if diagnostics else Validity.VALID,
        category=diagnostics[0].category if diagnostics else None,
        diagnostics=diagnostics,
        trace=tuple(map(trace_line, diagnostics)),
        node_types=node_types,
        vocabulary=vocabulary.id,
        dialect=dialect,
        parser_version=PARSER_VERSION,
    )
