"""Which called names exist: commands, declared functions, imported names, built-ins; and what was meant otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final

from core.avap.diagnostics import Fault, at, quoted
from core.avap.foreign import CALLS, fault_of
from core.avap.suggest import edit_distance, nearest
from core.avap.tokens import Token
from core.avap.vocabulary import BUILTINS, KEYWORDS, Vocabulary
from core.model.syntax import Category

_GAP: Final = r"(?:\s|/\*[^*]{0,200}\*/)"
"""Between two words: a comment, too, but none so long that looking for its end costs."""
_MENTIONED: Final = re.compile(
    rf"\b(?:function|import|include|def|func|fn){_GAP}++<?{_GAP}*+([^\W\d]\w*+)", re.IGNORECASE
)
_LONG_KEYWORDS: Final = ("endLoop", "exception", "function", "startLoop")
"""Keywords long enough that two edits cannot make one of an ordinary name."""


@dataclass(slots=True)
class Pending:
    """A name that has to be a function by the end of the program."""

    token: Token
    name: str
    arguments: int | None
    """How many were given; None when that is unknown or not to be judged."""
    word: str = "command"
    """What a message calls it."""


class Names:
    """The names of one program."""

    def __init__(self, source: str, vocabulary: Vocabulary) -> None:
        self.functions: dict[str, int | None] = {}
        """Declared function -> number of parameters, None for one whose header could not be read."""
        self.imported: set[str] = set()
        self.saw_import = False
        self._source = source
        self._vocabulary = vocabulary
        self._pending: list[Pending] = []

    def call(self, pending: Pending) -> Fault | None:
        """Judge a called name: now when it is declared nowhere in the source, else when all functions are known."""
        if pending.name in self._mentioned or pending.name in BUILTINS:
            self._pending.append(pending)
            return None
        return self._fault(pending)

    def keyword_meant(self, word: str) -> str | None:
        """The keyword that `word`, met where a statement begins, is a slip of; None when it is none."""
        if word in self._mentioned:
            return None
        folded = word.casefold()
        meant = self._vocabulary.folded.get(folded) or self._vocabulary.inventions.get(folded)
        if meant is None:
            near = (item for item in _LONG_KEYWORDS if abs(len(item) - len(word)) <= 2 and _close(word, item))
            meant = next(near, None)
        return meant if meant in KEYWORDS else None

    def unknown(self, token: Token, name: str, word: str = "command") -> Fault:
        """The fault of a name that does not exist. What was meant is looked up only for faults that are reported."""
        message = f"unknown {word} {quoted(name)}"
        if self.saw_import and name.casefold() not in self._vocabulary.inventions:
            message += " (imported files are not read)"
        return at(token, Category.UNKNOWN_TOKEN, message, None, name)

    def suggestion(self, name: str) -> str | None:
        """What the unknown `name` was meant to be, or None."""
        vocabulary, folded = self._vocabulary, name.casefold()
        if folded in vocabulary.folded:
            return vocabulary.folded[folded]
        if folded in vocabulary.inventions:
            return vocabulary.inventions[folded]
        return nearest(name, chain(vocabulary.words, self.functions, sorted(self.imported)))

    def resolve(self) -> Iterator[Fault]:
        """The faults of the names that were waiting for a declaration further down."""
        return filter(None, map(self._fault, self._pending))

    def _fault(self, pending: Pending) -> Fault | None:
        name = pending.name
        if name in self.functions:
            return self._arity_fault(pending, self.functions[name])
        if name in self.imported or (name in BUILTINS and pending.word == "command"):
            return None
        if name in CALLS and pending.word == "command":
            return fault_of(pending.token, CALLS[name])
        return self.unknown(pending.token, name, pending.word)

    def _arity_fault(self, pending: Pending, parameters: int | None) -> Fault | None:
        given = pending.arguments
        if given is None or parameters is None or given == parameters:
            return None
        message = f"function {quoted(pending.name)} takes {parameters} argument{'s' * (parameters != 1)}, not {given}"
        return at(pending.token, Category.UNEXPECTED_CONSTRUCT, message, None, pending.name)

    @cached_property
    def _mentioned(self) -> frozenset[str]:
        """Every name that may turn out to be declared or imported, comments not excepted."""
        return frozenset(_MENTIONED.findall(self._source))


def _close(word: str, keyword: str) -> bool:
    return edit_distance(word.casefold(), keyword.casefold(), 2) <= 2
