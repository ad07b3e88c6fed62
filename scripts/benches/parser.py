"""The parser: lines/s in process on the pool, calls/s and latency over loopback, worst time on hostile input."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

from _bars import Bar, conclude
from _service import loopback_bars, programs

from core.adapters.domain import load_examples
from core.adapters.languages import configs_root, load_vocabulary
from core.avap import MAX_BYTES, Vocabulary, check
from core.model.specs import Comparator, LanguageSpec
from core.model.syntax import Dialect, Validity

REPEATS = 5
LANGUAGE = LanguageSpec()

HOSTILE = {
    "open brackets": "addVar(x, " + "(" * MAX_BYTES,
    "nested lists": "x = " + "[" * 190 + "]" * 190 + "\n",
    "closed blocks": "end()\n",
    "open blocks": "try()\n",
    "unknown commands": "addVarr(x, 1)\n",
    "long unknown names": "a" * 200 + "(x)\n",
    "one long name": "x",
    "one long number": "x = " + "1" * MAX_BYTES,
    "one long string": 'x = "' + "a" * MAX_BYTES,
    "one long sum": "x = 1" + " + 1" * MAX_BYTES,
    "one long power": "x = 2" + " ** 2" * MAX_BYTES,
    "negations": "x = " + "not " * MAX_BYTES,
    "minus signs": "x = " + "-" * MAX_BYTES,
    "ternaries": "x = 1" + " if a else b" * MAX_BYTES,
    "comparison chain": "x = 1" + " < 1" * MAX_BYTES,
    "calls of calls": "x = f" + "(1)" * MAX_BYTES,
    "one long list": "x = [" + "1, " * MAX_BYTES,
    "one long argument list": "addResult(" + "a, " * MAX_BYTES,
    "template slots": "x = `" + "${a}" * MAX_BYTES,
    "unclosed quotes": 'x = "\n',
    "unclosed templates": "x = `\n",
    "unclosed comments": "/* ",
    "closed comments": "/**/",
    "unclosed calls": "addVar(\n",
    "lines inside a bracket": "x = [\n" + "addVar(y, 1)\n" * MAX_BYTES,
    "functions": "function f(a){\nreturn(a)\n}\n",
    "mode 2 texts": "if(None, None, `" + "(a and b) or " * 18 + "c`)\nend()\n",
    "foreign words": "for x in y:\n",
    "semicolons": ";",
    "closed braces": 'if(a, 1, "==")\n' * 199 + "}" * MAX_BYTES,
    "statements between braces": "}x",
    "calls between braces": "}}if(a b",
    "blank lines": "\n",
    "carriage returns": "\r",
    "byte order marks": "\ufeff",
    "wide characters": "é = 1\n",
    "NUL": "\0",
    "valid program": programs(3)[2] + "\n",
}


def hostile() -> Iterator[tuple[str, str]]:
    """Named inputs just under the size limit, each made to be slow in its own way."""
    for name, piece in HOSTILE.items():
        size = len(piece.encode())
        text = piece * (MAX_BYTES // size + 1)
        yield name, text.encode()[: MAX_BYTES - 1].decode("utf-8", "ignore")


def lines_per_second(vocabulary: Vocabulary) -> float:
    """Lines of the few-shot pool's programs judged in a second of processor time, the best of REPEATS passes."""
    texts = [example.code for example in load_examples(configs_root() / "domains/avap/examples")]
    lines = sum(len(text.splitlines()) for text in texts)
    took = []
    for _ in range(REPEATS):
        started = process_time()
        verdicts = {check(text, vocabulary, Dialect.STRICT).verdict for text in texts}
        took.append(process_time() - started)
        assert verdicts == {Validity.VALID}
    return lines / min(took)


def seconds(text: str, vocabulary: Vocabulary, dialect: Dialect) -> float:
    """Processor time that `text` takes, the best of REPEATS: what else the machine does is not the parser's doing."""
    took = []
    for _ in range(REPEATS):
        started = process_time()
        check(text, vocabulary, dialect)
        took.append(process_time() - started)
    return min(took)


def worst(vocabulary: Vocabulary) -> tuple[float, str]:
    """The longest processor time in seconds that a hostile input took, over both dialects, and which it was."""
    return max(
        (seconds(text, vocabulary, dialect), f"{name}, {dialect.value}")
        for name, text in hostile()
        for dialect in Dialect
    )


def bars() -> Iterator[Bar]:
    """Every measurement, as it comes."""
    vocabulary = load_vocabulary(LANGUAGE.vocabulary)
    yield Bar("lines in process, the pool", lines_per_second(vocabulary), Comparator.AT_LEAST, 30_000, "lines/s")
    yield from loopback_bars()
    slowest, name = worst(vocabulary)
    yield Bar(f"worst hostile input ({name})", slowest, Comparator.AT_MOST, 1, "s CPU")


if __name__ == "__main__":
    conclude(bars())
