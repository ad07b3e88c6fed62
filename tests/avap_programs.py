"""Whole AVAP programs for property tests, drawn from the grammar and from a vocabulary's own table of commands.

A program is a list of lines that know which block they belong to, so that a test can spoil one and say what follows.
`scrawled` writes the same program as no formatter would: odd gaps, line ends inside brackets, comments anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle

from hypothesis import strategies as st

from core.avap import Vocabulary
from core.avap.tokens import tokens_of_line
from core.avap.vocabulary import Command, Form, Parameter, ParameterKind


@dataclass(frozen=True)
class Line:
    """One statement, or one line of a block. `blocks` are the numbers of the blocks around it, its own last."""

    text: str
    role: str = "plain"
    """plain, opener, turn or closer."""
    command: str | None = None
    """The command word that the line calls, where renaming it can only be an unknown name."""
    blocks: tuple[int, ...] = ()


Lines = tuple[Line, ...]

NAMES = ("a", "total", "item_1", "año", "_x", "Name")
OPERATORS = ("+", "-", "*", "/", "%", "**", "<", "<=", "==", "!=", "in", "not in", "and", "or", "is", "is not")
names = st.sampled_from(NAMES)
texts = st.sampled_from(["''", '"text"', "'it \\' // no comment'", '"/* é */"', '"a\\nb"', "'1'"])
templates = st.sampled_from(["`${a}`", "`Hi ${ user.name }!`", "`// \\` ${x}${y}`", "``"])
numbers = st.one_of(st.integers(0, 10**12).map(str), st.sampled_from(["0.5", "3.25", "007"]))
atoms = st.one_of(
    names, numbers, texts, templates, st.sampled_from(["None", "True", "False", "$total", "[]", "{}", "()"])
)


def _operated(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map("({0[0]}) {0[1]} {0[2]}".format),
        st.tuples(st.sampled_from(["-", "+", "not ", "not not ", "- -"]), inner).map("({0[0]}({0[1]}))".format),
        st.tuples(inner, inner, inner).map("({0[0]}) if ({0[1]}) else {0[2]}".format).map("({})".format),
        st.tuples(inner, inner).map("[{0[0]} for a, b in [{0[1]}] if a if b for c in a]".format),
    )


def _shown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        inner.map("({})".format),
        inner.map("({},)".format),
        st.lists(inner, max_size=4).map(", ".join).map("[{}]".format),
        st.tuples(inner, inner).map("({0[0]}, {0[1]})".format),
        st.tuples(inner, inner).map("{{'k': {0[0]}, total: {0[1]}}}".format),
    )


def _asked(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    trailers = st.one_of(
        inner.map("[{}]".format),
        st.tuples(inner, inner).map("[{0[0]}:{0[1]}]".format),
        st.sampled_from([".name", "[:]", "[::2]", "[1:]", ".upper()", "[:-1:2]"]),
        st.lists(inner, max_size=3).map(", ".join).map(".m({})".format),
    )
    return st.one_of(
        st.tuples(names, trailers, trailers).map("".join),
        st.tuples(inner, trailers).map("({0[0]}){0[1]}".format),
        inner.map("len({})".format),
    )


expressions = st.recursive(atoms, lambda inner: st.one_of(_operated(inner), _shown(inner), _asked(inner)), max_leaves=5)


def _argument(parameter: Parameter) -> st.SearchStrategy[str]:
    match parameter.kind:
        case ParameterKind.VALUE:
            return expressions
        case ParameterKind.METHOD:
            return st.sampled_from(['"GET"', "'POST'", "verb"])
        case ParameterKind.FUNCTION:
            return st.sampled_from(["declared", '"declared"'])
    return st.one_of(names, names.map('"{}"'.format))


@st.composite
def _arguments(draw: st.DrawFn, form: Form) -> str:
    least = sum(not parameter.optional for parameter in form)
    if form and form[-1].repeated:
        # `go(declared, value)`: the declared function takes one argument.
        least = len(form)
    return ", ".join(draw(_argument(parameter)) for parameter in form[: draw(st.integers(least, len(form)))])


@st.composite
def _called(draw: st.DrawFn, command: Command) -> Line:
    assigned = bool(command.assigned_forms) and draw(st.booleans())
    form = draw(st.sampled_from(command.assigned_forms if assigned else command.forms))
    call = f"{command.name}({draw(_arguments(form))})"
    return Line(f"{draw(names)} = {call}" if assigned else call, command=command.name)


def _plain(vocabulary: Vocabulary) -> st.SearchStrategy[Lines]:
    commands = st.sampled_from(sorted(vocabulary.commands)).flatmap(lambda name: _called(vocabulary.commands[name]))
    others = st.one_of(
        st.tuples(names, expressions).map("{0[0]} = {0[1]}".format),
        expressions.map("declared({})".format),
        st.tuples(names, expressions).map("{0[0]}.method({0[1]}, 1)".format),
        expressions.map("reply = $total.call({})".format),
        st.sampled_from(["import json_tools", 'include "lib/x.avap"', "import <std/io>"]),
    )
    return st.one_of(commands, others.map(Line)).map(lambda line: (line,))


def _block(opener: str, first: Lines, turn: str | None, second: Lines, closer: str) -> Lines:
    turned = () if turn is None else (Line(turn, "turn"), *second)
    return (Line(opener, "opener"), *first, *turned, Line(closer, "closer"))


@st.composite
def _blocks(draw: st.DrawFn, body: st.SearchStrategy[Lines]) -> Lines:
    kind = draw(st.sampled_from(["if", "mode 2", "loop", "try", "sequence"]))
    first, second = draw(body), draw(body)
    if kind == "sequence":
        return (*first, *second)
    if kind == "loop":
        return _block(f"startLoop({draw(names)}, {draw(atoms)}, {draw(expressions)})", first, None, (), "endLoop()")
    if kind == "try":
        return _block("try()", first, draw(st.sampled_from(["exception(e)", "exception()"])), second, "end()")
    header = "if(None, None, `a // 2 > 1 and not b`)"
    if kind == "if":
        operator = draw(st.sampled_from(['"=="', "'in'", "==", "<=", "in", '"="']))
        header = f"if({draw(expressions)}, {draw(expressions)}, {operator})"
        header = header.replace("if(None, None,", "if(None, 1,")
    return _block(header, first, draw(st.sampled_from([None, "else()"])), second, "end()")


@st.composite
def programs(draw: st.DrawFn, vocabulary: Vocabulary) -> Lines:
    """A valid program: a few statements, blocks in blocks, and the function that they call."""
    body = st.recursive(_plain(vocabulary), _blocks, max_leaves=5)
    returned = draw(expressions)
    word = draw(st.sampled_from(["return({})", "return {}", "return()"])).format(returned)
    if returned.startswith("(") and "," in returned:
        word = f"return([{returned}])"
    inside = draw(body)
    function = (Line("function declared(p){", "opener"), *inside, Line(word), Line("}", "closer"))
    parts = draw(st.permutations([draw(body), function]))
    return _numbered(tuple(line for part in parts for line in part))


def _numbered(lines: Lines) -> Lines:
    numbered: list[Line] = []
    opened: list[int] = []
    for place, line in enumerate(lines):
        if line.role == "opener":
            opened.append(place)
        numbered.append(replace(line, blocks=tuple(opened)))
        if line.role == "closer":
            opened.pop()
    return tuple(numbered)


def written(lines: Lines, end: str = "\n") -> str:
    """The program as text, one line each."""
    return "".join(line.text + end for line in lines)


OPENERS, CLOSERS = frozenset("([{"), frozenset(")]}")
INSIDE = (
    "",
    " ",
    "  ",
    "\t",
    "\n",
    "\n\n  ",
    " // note\n",
    " /* c */ ",
    " /* two\nlines */ ",
    "\n// alone\n",
    "\n /* c */\n",
)
OUTSIDE = ("", "", " ", "  ", " /* c */ ")
AFTER = (
    "\n",
    "\r\n",
    ";\n",
    " // note\n",
    "  \n\n\n",
    " /* a\nb */\n",
    "\n\n/// doc\n",
    "\n\t/* alone */\n",
    " /* a */ // b\n",
)


gaps = st.tuples(*(st.lists(st.sampled_from(kind), min_size=1, max_size=7) for kind in (INSIDE, OUTSIDE, AFTER)))


@st.composite
def scrawled(draw: st.DrawFn, lines: Lines) -> str:
    """The same program with other gaps, line ends and comments between its tokens."""
    inside, outside, after = map(cycle, draw(gaps))
    pieces = [draw(st.sampled_from(["", "\ufeff", "\n\n", "// head\n", "/* head */ "]))]
    for line in lines:
        pieces.append(_scrawled_line(line.text, inside, outside))
        end = next(after)
        pieces.append(end if ";" not in end or line.role == "plain" else "\n")
    return "".join(pieces)


def _scrawled_line(text: str, inside: Iterator[str], outside: Iterator[str]) -> str:
    depth = 0
    before = ""
    pieces: list[str] = []
    for token in tokens_of_line(text, 1):
        gap = next(inside if depth > 0 else outside) if before else ""
        if token.text in {"if", "else"} and "\n" in gap:
            # A line that begins so is a statement of its own.
            gap = " "
        pieces.append(gap or (" " if _need_a_gap(before, token.text) else ""))
        pieces.append(token.text)
        if text != "}" and not (text.endswith("){") and token.text == "{"):
            depth += (token.text in OPENERS) - (token.text in CLOSERS)
        before = token.text
    return "".join(pieces)


def _need_a_gap(before: str, text: str) -> bool:
    if not before:
        return False
    return (before[-1].isalnum() or before[-1] == "_") and (text[0].isalnum() or text[0] in "_$\"'`.")
