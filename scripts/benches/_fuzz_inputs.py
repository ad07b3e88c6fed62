"""Inputs for the fuzz bench: text that is noise, nearly a program, half of two, or another language's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

import numpy

from core.avap import MAX_BYTES, Vocabulary
from core.avap.vocabulary import KEYWORDS

_T = TypeVar("_T")
_BUFFER: Final = 8192
_ONE_IS_LARGE: Final = 5_000
"""One input in so many is repeated up to the size limit."""

SIGNS: Final = (
    *("(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "=", "==", "+", "-", "**", "//", "/*", "*/", "#", "=>", ":="),
    *("x", "$x", "${x}", "1", "5.", "0x1", '"a"', "'", '"', "`", "`${a}`", "```", "\\", "None", "True", "not", "in"),
    *(
        "and",
        "if",
        "else",
        "for",
        "lambda",
        "\n",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\t",
        "\0",
        "\ud800",
        "\ufeff",
        "é",
        "²",
        "\u2028",
    ),
    *("if(None, None, `a > 1`)", 'if(a, b, "==")', "startLoop(i, 1, 3)", "function f(a){", "return(a)", "c.m(1)"),
    *("https://a.b/c", "SELECT * FROM t", "%Y-%m-%d", "<?php", "go_async(", "x = y", "// note", "import <a/b>"),
)
FOREIGN: Final = (
    "for i in range(10):\n    print(i)\n",
    "def f(x: int = 1, *rest) -> int:\n    return [y ** 2 for y in x if y] or {1, 2}\n",
    "class A(B):\n    @property\n    async def f(self): await g(lambda x: x)\n",
    "try:\n    x = 1\nexcept (E, F) as e:\n    raise\nfinally:\n    pass\n",
    "const f = async (x) => { let {a, b} = await g(x); console.log(`${a + b}`) }\n",
    "switch (x) { case 1: break; default: continue }\nwhile (i++ < 10) { s += i }\n",
    'package main\nimport "fmt"\nfunc main() { for i := 0; i < 3; i++ { fmt.Println(i) } }\n',
    '<?php foreach ($a as $k => $v) { echo "$k: $v\\n"; } ?>\n',
    'fn main() { let mut x = vec![1]; println!("{}", x[0]); }\n',
    '#include <stdio.h>\nint main(void) { printf("%d", 1 << 2); return 0; }\n',
    "SELECT a, b FROM t WHERE c = 'd' -- note\n",
    '{"json": [1, 2.5e3, null, true], "b": {"c": "\\u00e9"}}\n',
    "```avap\naddVar(x, 1)\n```\n",
)
OPENERS: Final = (
    *("(", "[", "{", "x[", "f(", "-", "not ", "(not ", "[[a for a in ", "{'k': ", "1 if ", "x.m(", "try()\n"),
    *('if(a, 1, "==")\n', "startLoop(i, 1, 2)\n", "function f(){\n", "else()\n", "exception(e)\n", "{\n", "`${", "/* "),
)
CLOSERS: Final = (
    ")",
    "]",
    "}",
    "1",
    " else 1",
    "end()\n",
    "endLoop()\n",
    "}\n",
    "exception(e)\n",
    "*/",
    "`",
    "\n",
    ";",
)


class Dice:
    """Draws that depend on the seed alone; taken from the generator in bulk, which is what makes them cheap."""

    def __init__(self, seed: int) -> None:
        self._generator = numpy.random.default_rng(seed)
        self._drawn: list[int] = []

    def below(self, limit: int) -> int:
        """A whole number from 0 to just under `limit`."""
        if not self._drawn:
            self._drawn = self._generator.integers(0, 2**62, _BUFFER).tolist()
        return self._drawn.pop() % limit

    def pick(self, items: Sequence[_T]) -> _T:
        """One of `items`."""
        return items[self.below(len(items))]

    def some(self, items: Sequence[str], most: int) -> str:
        """Up to `most` of `items`, one behind the other."""
        return "".join(self.pick(items) for _ in range(self.below(most + 1)))

    def bytes(self, most: int) -> bytes:
        """Up to `most` bytes of any value."""
        return self._generator.bytes(self.below(most + 1))


class Inputs:
    """All generators over one vocabulary and one pool of valid programs."""

    def __init__(self, vocabulary: Vocabulary, pool: Sequence[str], dice: Dice) -> None:
        self._dice = dice
        self._pool = pool
        self._words = (*SIGNS, *(f"{word}(" for word in sorted({*vocabulary.spellings, *KEYWORDS})))
        self.generators: Mapping[str, Callable[[], str | bytes]] = {
            "bytes": self._bytes,
            "unicode": self._unicode,
            "soup": self._soup,
            "mutated": self._mutated,
            "spliced": self._spliced,
            "foreign": self._foreign,
            "nested": self._nested,
        }

    def draw(self) -> tuple[str, str | bytes]:
        """The name of a generator and an input of it."""
        name = self._dice.pick(tuple(self.generators))
        made = self.generators[name]()
        if made and not self._dice.below(_ONE_IS_LARGE):
            size = len(made) if isinstance(made, bytes) else len(made.encode("utf-8", "surrogatepass"))
            made *= MAX_BYTES // size
        return name, made

    def _bytes(self) -> bytes:
        return self._dice.bytes(200)

    def _unicode(self) -> str:
        dice = self._dice
        limit = dice.pick((0x80, 0x250, 0x3000, 0x110000))
        return "".join(chr(dice.below(limit)) for _ in range(dice.below(80)))

    def _soup(self) -> str:
        return self._dice.some(self._words, 60)

    def _mutated(self) -> str:
        text = self._dice.pick(self._pool)
        for _ in range(1 + self._dice.below(4)):
            text = self._mutation(text)
        return text

    def _mutation(self, text: str) -> str:
        dice = self._dice
        start = dice.below(len(text) + 1)
        stop = min(len(text), start + dice.pick((0, 1, 1, 2, 8, 40)))
        kind = dice.below(4)
        if kind == 0:
            return text[:start] + text[stop:]
        if kind == 1:
            return text[:start] + dice.pick(self._words) + text[stop:]
        if kind == 2:
            return text[:start] + text[start:stop] * (1 + dice.below(4)) + text[stop:]
        lines = text.split("\n")
        place, other = dice.below(len(lines)), dice.below(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
        return "\n".join(lines[: len(lines) - dice.below(2)])

    def _spliced(self) -> str:
        one, other = self._dice.pick(self._pool), self._dice.pick(self._pool)
        return one[: self._dice.below(len(one) + 1)] + other[self._dice.below(len(other) + 1) :]

    def _foreign(self) -> str:
        snippet = self._dice.pick(FOREIGN)
        if self._dice.below(2):
            snippet = self._mutation(snippet)
        return snippet if self._dice.below(2) else f"{self._dice.pick(self._pool)}\n{snippet}{self._dice.pick(SIGNS)}"

    def _nested(self) -> str:
        dice = self._dice
        opener, closer = dice.pick(OPENERS), dice.pick(CLOSERS)
        depth = dice.below(260)
        head = dice.pick(("", "x = ", "addVar(x, ", "if(None, None, `"))
        return (
            f"{head}{opener * depth}{dice.pick(self._words)}{closer * (depth + dice.below(3) - 1)}{dice.some(SIGNS, 3)}"
        )
