"""Other languages' constructs: how they are recognised, whose they look like, and what AVAP writes instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.avap import tokens as t
from core.avap.diagnostics import Fault, at, quoted
from core.avap.tokens import Token
from core.model.syntax import Category

_LOOP: Final = "a loop is startLoop(variable, from, to) ... endLoop()"
_WHOLE_LOOP: Final = "a loop runs to its end; what may be skipped stands in if(...) ... end()"
_IF: Final = 'a choice is if(a, b, "==") ... else() ... end()'
_FUNCTION: Final = "a function is function name(a, b){ ... }"
_VARIABLE: Final = "a variable is addVar(name, value) or name = value"
_RESULT: Final = "a result is shown with addResult(variable)"
_TRY: Final = "errors are caught with try() ... exception(error) ... end()"
_MODULE: Final = 'a module is import name or import "file"'
_NONE: Final = "AVAP has nothing like it"


@dataclass(frozen=True, slots=True)
class Construct:
    """A word of another language."""

    advice: str
    suggestion: str | None = None
    language: str | None = None
    """Whose it is when the line itself does not tell."""
    owes_closer: bool = False
    """Whether programs that mix languages close it with `end()` or `endLoop()`, which is then no second fault."""


_CLEAR: Final = {
    "for": Construct(_LOOP, "startLoop", owes_closer=True),
    "foreach": Construct(_LOOP, "startLoop", "PHP", owes_closer=True),
    "while": Construct(_LOOP, "startLoop", owes_closer=True),
    "elif": Construct(_IF, "if", "Python"),
    "switch": Construct(_IF, "if", "JavaScript", owes_closer=True),
    "def": Construct(_FUNCTION, "function", "Python"),
    "func": Construct(_FUNCTION, "function", "Go"),
    "fn": Construct(_FUNCTION, "function", "Rust"),
    "class": Construct("AVAP has functions, but no classes", None, "Python"),
    "package": Construct("a program needs no package line", None, "Go"),
    "let": Construct(_VARIABLE, "addVar", "JavaScript"),
    "var": Construct(_VARIABLE, "addVar", "JavaScript"),
    "const": Construct(_VARIABLE, "addVar", "JavaScript"),
}
"""Words that are foreign wherever they lead a line, unless the line assigns to them or asks something of them."""

_WHEN_FOLLOWED: Final = {
    "async": Construct("concurrency is id = go(function_name, arguments) and gather(id)", "go"),
    "await": Construct("a result is awaited with gather(id)", "gather", "JavaScript"),
    "break": Construct(_WHOLE_LOOP),
    "continue": Construct(_WHOLE_LOOP),
    "case": Construct(_IF, "if"),
    "catch": Construct(_TRY, "exception", "JavaScript"),
    "defer": Construct(_NONE, None, "Go"),
    "do": Construct(_LOOP, "startLoop"),
    "echo": Construct(_RESULT, "addResult", "PHP"),
    "elseif": Construct(_IF, "if", "PHP"),
    "enum": Construct(_NONE),
    "except": Construct(_TRY, "exception", "Python"),
    "finally": Construct(_TRY, None),
    "from": Construct(_MODULE, "import", "Python"),
    "global": Construct("a function reads a global as $name", None, "Python"),
    "interface": Construct(_NONE),
    "pass": Construct("an empty block needs nothing in it", None, "Python"),
    "public": Construct(_FUNCTION, "function", "Java"),
    "private": Construct(_FUNCTION, "function", "Java"),
    "raise": Construct(_NONE, None, "Python"),
    "static": Construct(_FUNCTION, "function", "Java"),
    "struct": Construct(_NONE, None, "Go"),
    "throw": Construct(_NONE, None, "JavaScript"),
    "type": Construct(_NONE, None, "Go"),
    "using": Construct(_MODULE, "import", "C#"),
    "void": Construct(_FUNCTION, "function", "Java"),
    "with": Construct(_NONE, None, "Python"),
}
"""Words that are foreign only where another word, a text, a brace, a colon or nothing at all follows them."""
_FOLLOWERS: Final = frozenset(
    {t.NAME, t.STRING, t.GLOBAL, t.NUMBER, t.CONSTANT, t.BLOCK_OPEN, ":", ";", "*", "if", "not"}
)

_ASKED_OF_A_VARIABLE: Final = frozenset({"=", ".", "[", "+=", "-=", "*=", "/=", "%=", "**="})

LEADS: Final = frozenset({*_CLEAR, *_WHEN_FOLLOWED, "import", "include"})
"""First words that are worth a closer look; the fast path asks nothing else of a plain line."""

CALLS: Final = {
    "print": Construct(_RESULT, "addResult", "Python"),
    "println": Construct(_RESULT, "addResult"),
    "printf": Construct(_RESULT, "addResult", "C"),
    "require": Construct(_MODULE, "import", "JavaScript"),
}
"""Functions of other languages, unless the program declares its own."""
OBJECTS: Final = {
    "fmt": Construct(_RESULT, "addResult", "Go"),
    "console": Construct(_RESULT, "addResult", "JavaScript"),
    "System": Construct(_RESULT, "addResult", "Java"),
}
"""Names that are foreign before a dot."""
_SIGNS: Final = {
    "=>": Construct(_FUNCTION, "function", "JavaScript"),
    ":=": Construct("a value is assigned with name = value", "=", "Go"),
    "lambda": Construct(_FUNCTION, "function", "Python"),
    t.PHP_TAG: Construct("a program is plain statements, without tags", None, "PHP"),
}
_BRACE: Final = Construct(
    "only the body of a function stands in braces; if(...) and try() end with end(), startLoop(...) with endLoop()"
)
_COLON_LEADS: Final = frozenset({"if", "else", "try", "except", "finally", "with", "match", "case", *_CLEAR})
_COLON: Final = Construct("if(...), startLoop(...), try() and function begin a block, without a colon", None, "Python")
_INCLUDE: Final = Construct(_MODULE, "include", "C")
_ELSE_IF: Final = Construct(_IF, "else", "JavaScript")

_LANGUAGES: Final = tuple(
    (re.compile(pattern), language)
    for language, pattern in (
        ("Java", r"^\s*(?:package\s+[\w.]+|import\s+(?:static\s+)?[\w.]+)\s*;"),
        ("PHP", r"^\s*(?:foreach|echo)\b|<\?|\$\w+\s*(?:=>|as\b)|\bas\s+\$"),
        ("Go", r":=|^\s*(?:package\s+\w+\s*$|import\s*\($|func\b)|\bfmt\."),
        ("Go", r"^\s*(?:for|if|switch)\s+[^(:]*\{\s*$|^\s*var\s+\w+\s+[\w\[]"),
        ("C", r"^\s*#\s*include\b"),
        ("Go", r"^\s*type\s+\w+\s+(?:struct|interface)\b"),
        ("Rust", r"^\s*fn\b|^\s*let\s+mut\b"),
        ("JavaScript", r"\b(?:let|const|var)\s+[\w{\[]|=>|===|\bconsole\.|^\s*function\s*\(|\bfrom\s+[\"']"),
        ("JavaScript", r"^\s*(?:class\s[^:]*\{\s*$|\}\s*else\s+if\b)"),
        ("Java", r"^\s*(?:public|private|protected|static)\b|\(\s*int\s+\w+"),
        ("Python", r"\b(?:def|elif|lambda|except)\b|:\s*(?:\#.*|//.*)?$|\bprint\(|^\s*from\s+[\w.]+\s+import\b"),
    )
)
"""Signs of a language in a line, the clearest first."""
_ENDS_LIKE_C: Final = re.compile(r"[{};]\s*$")


@dataclass(frozen=True, slots=True)
class Found:
    """A foreign construct in a line."""

    token: Token
    construct: Construct


def find(tokens: Sequence[Token]) -> Found | None:
    """The first construct of another language in the logical line `tokens`."""
    leading = _leading(tokens)
    if leading is not None:
        return Found(tokens[0], leading)
    return _sign(tokens) or _colon(tokens[0], tokens[-1])


def find_leading(tokens: Sequence[Token], last: Token) -> Found | None:
    """What the first of `tokens` say about a statement that ends its line with `last`; no signs further on."""
    leading = _leading(tokens)
    return _colon(tokens[0], last) if leading is None else Found(tokens[0], leading)


def _sign(tokens: Sequence[Token]) -> Found | None:
    for place, token in enumerate(tokens):
        sign = _SIGNS.get(token.kind)
        if sign is not None:
            return Found(token, sign)
        if token.kind is t.BLOCK_OPEN and not is_function_brace(tokens, place):
            return Found(token, _BRACE)
    return None


def _colon(first: Token, last: Token) -> Found | None:
    return Found(first, _COLON) if last.kind == ":" and first.text in _COLON_LEADS else None


def fault_of(token: Token, construct: Construct, language: str | None = None) -> Fault:
    """The fault of `construct` at `token`, naming `language` or whose the construct usually is."""
    language = language or construct.language
    whose = f"{language}'s " if language else ""
    message = f"{whose}{quoted(token.text)} is not AVAP: {construct.advice}"
    return at(token, Category.FOREIGN_KEYWORD, message, construct.suggestion)


def language_of(text: str, construct: Construct, before: str | None) -> str | None:
    """The language that the line `text` looks like, from its first 400 code points.

    A line that shows nothing of its own goes with `before`, the language told last in the same program.
    """
    own = next((language for pattern, language in _LANGUAGES if pattern.search(text[:400])), None)
    likely = "JavaScript" if _ENDS_LIKE_C.search(text[:400]) else None
    return own or before or construct.language or likely


def is_function_brace(tokens: Sequence[Token], place: int) -> bool:
    """Whether the brace at `place` opens the body of the `function` that leads the line."""
    if tokens[0].text != "function":
        return False
    return all(token.kind is not t.BLOCK_OPEN for token in tokens[:place])


def _leading(tokens: Sequence[Token]) -> Construct | None:
    first = tokens[0]
    word, second = first.text, tokens[1].kind if len(tokens) > 1 else ";"
    if word in _CLEAR:
        return None if second in _ASKED_OF_A_VARIABLE and first.kind is t.NAME else _CLEAR[word]
    if first.kind == "else" and second == "if":
        return _ELSE_IF
    if word in {"import", "include"}:
        return _foreign_import(tokens, second)
    if word in _WHEN_FOLLOWED and (second in _FOLLOWERS or (word == "elseif" and second == "(")):
        return _WHEN_FOLLOWED[word]
    return _INCLUDE if first.kind is t.HASH and re.match(r"#\s*include\b", word) else None


def _foreign_import(tokens: Sequence[Token], second: str) -> Construct | None:
    if second == "(" and (len(tokens) == 2 or tokens[2].line > tokens[1].line):
        return Construct(_MODULE, "import", "Go")
    words = {token.text for token in tokens[1:12]}
    if second in {"*", "{", t.BLOCK_OPEN} or "from" in words:
        return Construct(_MODULE, "import", "JavaScript")
    if "as" in words or (second is t.NAME and "," in words):
        return Construct(_MODULE, "import", "Python")
    if second is t.NAME and "." in words:
        return Construct(_MODULE, "import", "Java" if ";" in words else "Python")
    return None
