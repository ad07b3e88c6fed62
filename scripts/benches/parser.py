"""The parser: lines/s in process on the pool, calls/s and latency over loopback, worst time on hostile input."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Iterator
from time import perf_counter, process_time

from _bars import Bar, conclude

from core.adapters.domain import load_examples
from core.adapters.languages import configs_root, load_vocabulary
from core.adapters.parser import embedded
from core.avap import MAX_BYTES, Vocabulary, check
from core.model.specs import Comparator, LanguageSpec
from core.model.syntax import Dialect, Validity
from core.ports import Parser

CALLS = 5_000
IN_FLIGHT = 16
REPEATS = 5
LANGUAGE = LanguageSpec()

ANSWERS = (
    'addParam("email", email)\nif(email, None, "==")\n  addVar(_status, 400)\n  addResult(email)\nend()',
    'encodeSHA256(password, hash_{n})\naddVar(message, "stored")\naddResult(hash_{n})\naddResult(message)',
    "total = 0\nstartLoop(i, 1, {n})\n  total = total + i * 2\nendLoop()\naddResult(total)",
    'try()\n  RequestGet("https://api.example.com/{n}", "", "", reply, 5000)\n  addResult(reply)\n'
    "exception(problem)\n  addVar(_status, 500)\n  addResult(problem)\nend()",
    "function price(net, rate){{\n  gross = net * (1 + rate / 100)\n  return(gross)\n}}\n"
    'addParam("net", net)\nid = go(price, net, {n})\nresult = gather(id, 2000)\naddResult(result)',
)
"""Programs of the length that models write; `{n}` keeps each from being like the last."""

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
    "blank lines": "\n",
    "carriage returns": "\r",
    "byte order marks": "\ufeff",
    "wide characters": "é = 1\n",
    "NUL": "\0",
    "valid program": ANSWERS[2].format(n=9) + "\n",
}


def hostile() -> Iterator[tuple[str, str]]:
    """Named inputs just under the size limit, each made to be slow in its own way."""
    for name, piece in HOSTILE.items():
        size = len(piece.encode())
        text = piece * (MAX_BYTES // size + 1)
        yield name, text.encode()[: MAX_BYTES - 1].decode("utf-8", "ignore")


def programs(count: int) -> list[str]:
    """`count` valid programs, no two alike."""
    return [ANSWERS[n % len(ANSWERS)].format(n=n + 1) for n in range(count)]


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


async def latencies(parser: Parser, texts: list[str]) -> list[float]:
    """Seconds each call took, IN_FLIGHT at a time."""
    waiting = iter(texts)
    took: list[float] = []

    async def caller() -> None:
        for text in waiting:
            started = perf_counter()
            await parser.parse(text)
            took.append(perf_counter() - started)

    await asyncio.gather(*(caller() for _ in range(IN_FLIGHT)))
    return took


async def over_loopback() -> tuple[float, float, float]:
    """Calls per second, and the median and 99th percentile of a call in milliseconds."""
    async with embedded(language=LANGUAGE, deadline_s=10.0) as parser:
        await latencies(parser, programs(200))
        started = perf_counter()
        took = await latencies(parser, programs(CALLS))
        elapsed = perf_counter() - started
    percentiles = statistics.quantiles(took, n=100)
    return CALLS / elapsed, percentiles[49] * 1000, percentiles[98] * 1000


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
    calls, median, tail = asyncio.run(over_loopback())
    yield Bar(f"Parse over loopback, {IN_FLIGHT} in flight", calls, Comparator.AT_LEAST, 1_000, "calls/s")
    yield Bar(f"  p50 {median:.1f} ms, p99", tail, Comparator.AT_MOST, 100, "ms")
    slowest, name = worst(vocabulary)
    yield Bar(f"worst hostile input ({name})", slowest, Comparator.AT_MOST, 1, "s CPU")


if __name__ == "__main__":
    conclude(bars())
