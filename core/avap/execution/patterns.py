"""Regular expressions that cannot hang: Python's syntax without back-references and look-behind.

A pattern becomes a small program; matching remembers every (instruction, place) that has been tried and never tries it
twice, so it takes at most their product in steps, and each step is counted. (R. Cox, "Regular Expression Matching: the
Virtual Machine Approach", 2009: the memoised backtracker.) Where a repeated group can match nothing, a match may be
longer than Python's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NoReturn

from core.avap.execution.failures import Failure

MAX_PATTERN: Final = 1000
MAX_PROGRAM: Final = 5000
_MAX_GROUPS: Final = 30
_MAX_REPEAT: Final = 1000

Test = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Take:
    """One sign that passes the test."""

    test: Test


@dataclass(frozen=True, slots=True)
class Fork:
    """Go on at the first offset; if that fails, at the second."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Go on at an offset."""

    offset: int


@dataclass(frozen=True, slots=True)
class Stand:
    """A condition on the place alone: the whole text and the place -> whether it holds."""

    holds: Callable[[str, int], bool]


@dataclass(frozen=True, slots=True)
class Look:
    """What must, or must not, follow."""

    pattern: Pattern
    wanted: bool


Step = Take | Fork | Jump | Stand | Look
Pattern = tuple[Step, ...]


def compiled(text: str) -> Pattern:
    """The program of the regular expression `text`. Raises Failure for one that is malformed, too large or refused."""
    if len(text) > MAX_PATTERN:
        raise Failure(f"the pattern is longer than {MAX_PATTERN} signs")
    folds = text.startswith("(?i)")
    reader = _Reader(text[4:] if folds else text, _folded if folds else _exact)
    program = reader.alternatives()
    if not reader.at_end:
        reader.refuse("')' closes nothing")
    return tuple(program)


def _exact(test: Test) -> Test:
    return test


def _folded(test: Test) -> Test:
    return lambda sign: test(sign) or test(sign.lower()) or test(sign.upper())


class _Reader:
    """Reads one pattern from left to right."""

    def __init__(self, text: str, case: Callable[[Test], Test]) -> None:
        self._text = text
        self._case = case
        self._place = 0
        self._groups = 0

    @property
    def at_end(self) -> bool:
        return self._place == len(self._text)

    def refuse(self, reason: str) -> NoReturn:
        raise Failure(f"the pattern cannot be used: {reason}")

    def alternatives(self) -> list[Step]:
        program = self._sequence()
        while self._accept("|"):
            other = self._sequence()
            program = [Fork(1, len(program) + 2), *program, Jump(len(other) + 1), *other]
        return program

    def _sequence(self) -> list[Step]:
        program: list[Step] = []
        while not self.at_end and self._peek not in "|)":
            program += self._repeated(self._atom())
            self._check(program)
        return program

    def _repeated(self, atom: list[Step]) -> list[Step]:
        bounds = self._bounds()
        if bounds is None:
            return atom
        least, most = bounds
        lazy = self._accept("?")
        if self._bounds() is not None:
            self.refuse("a repetition is repeated")
        self._check(atom, max(least, most or 0))
        program = atom * least
        if most is None:
            return [*program, _fork(lazy, len(atom) + 2), *atom, Jump(-len(atom) - 1)]
        for left in range(most - least, 0, -1):
            program += [_fork(lazy, left * (len(atom) + 1)), *atom]
        return program

    def _bounds(self) -> tuple[int, int | None] | None:
        """The least and most number of repetitions that stand here, or None."""
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._accept(sign):
                return bounds
        end = self._text.find("}", self._place)
        if self.at_end or self._peek != "{" or end < 0:
            return None
        low, comma, high = self._text[self._place + 1 : end].partition(",")
        if not all(part == "" or (part.isascii() and part.isdigit() and len(part) < 5) for part in (low, high)):
            return None
        if not low and not high:
            return None
        self._place = end + 1
        least = int(low or 0)
        most = (int(high) if high else None) if comma else least
        if max(least, most or 0) > _MAX_REPEAT or (most is not None and most < least):
            self.refuse(f"repetitions are at most {_MAX_REPEAT}, the lower number first")
        return least, most

    def _atom(self) -> list[Step]:
        sign = self._next()
        if sign == "(":
            return self._group()
        if sign == "[":
            return [Take(self._case(self._class()))]
        if sign == ".":
            return [Take(lambda found: found != "\n")]
        if sign in _EDGES:
            return [Stand(_EDGES[sign])]
        if sign == "\\":
            return self._escape()
        if sign in "*+?":
            self.refuse(f"'{sign}' repeats nothing")
        return [Take(self._case(sign.__eq__))]

    def _escape(self) -> list[Step]:
        sign = self._next()
        if sign in _PLACES:
            return [Stand(_PLACES[sign])]
        if sign in "123456789":
            self.refuse("back-references are not supported")
        return [Take(self._case(self._escaped_test(sign)))]

    def _escaped_test(self, sign: str) -> Test:
        if sign in _CLASSES:
            return _CLASSES[sign]
        if sign.isascii() and sign.isalpha() and sign not in _CONTROLS:
            self.refuse(f"'\\{sign}' means nothing")
        return _CONTROLS.get(sign, sign).__eq__

    def _group(self) -> list[Step]:
        self._groups += 1
        if self._groups > _MAX_GROUPS:
            self.refuse(f"it has more than {_MAX_GROUPS} groups")
        look = self._group_kind()
        program = self.alternatives()
        if not self._accept(")"):
            self.refuse("'(' is never closed")
        return program if look is None else [Look(tuple(program), look)]

    def _group_kind(self) -> bool | None:
        """What a look-ahead wants; None for a group that only groups."""
        if not self._accept("?"):
            return None
        for sign, look in ((":", None), ("=", True), ("!", False)):
            if self._accept(sign):
                return look
        end = self._text.find(">", self._place)
        if self._accept("P<") and self._text[self._place : end].isidentifier():
            self._place = end + 1
            return None
        return self.refuse("of the groups with '?' there are (?:...), (?=...), (?!...) and (?P<name>...)")

    def _class(self) -> Test:
        negated = self._accept("^")
        tests: list[Test] = []
        while not tests or self.at_end or self._peek != "]":
            if self.at_end:
                self.refuse("'[' is never closed")
            tests.append(self._class_item())
        self._place += 1
        return lambda sign: any(test(sign) for test in tests) is not negated

    def _class_item(self) -> Test:
        first = self._next()
        if first == "\\":
            escaped = self._next()
            if escaped in _CLASSES:
                return _CLASSES[escaped]
            self._escaped_test(escaped)
            first = _CONTROLS.get(escaped, escaped)
        if self._text[self._place : self._place + 1] != "-" or self._text[self._place + 1 : self._place + 2] in {
            "]",
            "",
        }:
            return first.__eq__
        self._place += 1
        last = self._next()
        if last == "\\":
            last = self._next()
        if last < first:
            self.refuse(f"the range {first}-{last} is empty")
        return lambda sign: first <= sign <= last

    def _check(self, program: list[Step], times: int = 1) -> None:
        if len(program) * times > MAX_PROGRAM:
            self.refuse("it is too large")

    @property
    def _peek(self) -> str:
        return self._text[self._place]

    def _next(self) -> str:
        if self.at_end:
            self.refuse("it ends too early")
        self._place += 1
        return self._text[self._place - 1]

    def _accept(self, text: str) -> bool:
        if not self._text.startswith(text, self._place):
            return False
        self._place += len(text)
        return True


def _fork(lazy: bool, past: int) -> Fork:
    """Into the repetition that follows or `past` it; a lazy one tries first without."""
    return Fork(past, 1) if lazy else Fork(1, past)


def _at_start(_: str, place: int) -> bool:
    return place == 0


def _at_end(text: str, place: int) -> bool:
    return place == len(text)


def _at_line_end(text: str, place: int) -> bool:
    return place == len(text) or (place == len(text) - 1 and text[place] == "\n")


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def _at_boundary(text: str, place: int) -> bool:
    before = place > 0 and _is_word(text[place - 1])
    return before is not (place < len(text) and _is_word(text[place]))


def _not(test: Test) -> Test:
    return lambda sign: not test(sign)


_EDGES: Final[dict[str, Callable[[str, int], bool]]] = {"^": _at_start, "$": _at_line_end}
_PLACES: Final[dict[str, Callable[[str, int], bool]]] = {
    "A": _at_start,
    "Z": _at_end,
    "b": _at_boundary,
    "B": lambda text, place: not _at_boundary(text, place),
}
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_CLASSES: Final[dict[str, Test]] = {
    "d": str.isdecimal,
    "w": _is_word,
    "s": str.isspace,
    "D": _not(str.isdecimal),
    "W": _not(_is_word),
    "S": _not(str.isspace),
}
