"""The parser against made-up inputs: crashes, the slowest input and its time, inputs/s; --inputs, --seconds, --seed."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import perf_counter, process_time

from _bars import Bar, conclude
from _fuzz_inputs import Dice, Inputs

from core.adapters.avap_file import check_bytes
from core.adapters.domain import load_examples
from core.adapters.languages import configs_root, load_vocabulary
from core.avap import MAX_DIAGNOSTICS, Vocabulary, check, parse
from core.avap.formatting import format_program, same_tree
from core.model.frozen import seed_for
from core.model.specs import Comparator, LanguageSpec
from core.model.syntax import Dialect, ParseResult, Validity

BLOCK = 500
"""Inputs drawn from one seed: what can be repeated alone."""
PROCESSES = 2
BAR_S = 1.0
HANGS_S = 300.0
"""No block takes so long unless an input in it never ends."""


@dataclass(frozen=True)
class Failure:
    """An input that broke a promise."""

    name: str
    content: bytes
    reason: str


@dataclass
class Tally:
    """What came of some inputs."""

    inputs: Counter[str] = field(default_factory=Counter)
    valid: int = 0
    slowest_s: float = 0.0
    slowest: str = "none"
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.inputs.update(other.inputs)
        self.valid += other.valid
        self.failures += other.failures
        if other.slowest_s > self.slowest_s:
            self.slowest_s, self.slowest = other.slowest_s, other.slowest


@cache
def language() -> tuple[Vocabulary, tuple[str, ...]]:
    """The default vocabulary, and the programs of the few-shot pool."""
    examples = load_examples(configs_root() / "domains/avap/examples")
    return load_vocabulary(LanguageSpec().vocabulary), tuple(example.code for example in examples)


def block(seed: int, number: int) -> Tally:
    """Judge the inputs of block `number`."""
    vocabulary, pool = language()
    dice = Dice(seed_for(seed, "fuzz", number))
    inputs = Inputs(vocabulary, pool, dice)
    tally = Tally()
    for index in range(BLOCK):
        generator, made = inputs.draw()
        dialect = dice.pick(tuple(Dialect))
        tally.inputs[generator] += 1
        reason = one(made, vocabulary, dialect, tally, f"{generator}, {dialect.value}, block {number} #{index}")
        if reason is not None:
            raw = made if isinstance(made, bytes) else made.encode("utf-8", "surrogatepass")
            tally.failures.append(Failure(f"{seed}-{number}-{index}-{generator}-{dialect.value}", raw, reason))
    return tally


def one(made: str | bytes, vocabulary: Vocabulary, dialect: Dialect, tally: Tally, name: str) -> str | None:
    """Judge one input; what is wrong with the answer, or None."""
    try:
        started = process_time()
        result = judged(made, vocabulary, dialect)
        took = process_time() - started
        if took > tally.slowest_s:
            tally.slowest_s, tally.slowest = took, name
        if took > BAR_S:
            return f"took {took:.2f} s"
        tally.valid += result.verdict is Validity.VALID
        promises(made, result, vocabulary, dialect)
    except Exception:  # noqa: BLE001  whatever it is, it is what this bench looks for
        return traceback.format_exc()
    return None


def judged(made: str | bytes, vocabulary: Vocabulary, dialect: Dialect) -> ParseResult:
    if isinstance(made, bytes):
        return check_bytes(made, vocabulary, dialect)
    return check(made, vocabulary, dialect)


def promises(made: str | bytes, result: ParseResult, vocabulary: Vocabulary, dialect: Dialect) -> None:
    """Raise AssertionError where an answer is not what the parser promises, or a valid program cannot be printed."""
    code = made.decode("utf-8", "replace") if isinstance(made, bytes) else made
    lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    places = [fault.line for fault in result.diagnostics]
    assert places == sorted(set(places))
    assert len(places) == len(result.trace) <= MAX_DIAGNOSTICS
    for fault in result.diagnostics:
        assert 1 <= fault.line <= len(lines)
        assert 1 <= fault.column <= len(lines[fault.line - 1]) + 2
    result.model_dump_json()
    if result.verdict is Validity.VALID:
        printed = format_program(code, vocabulary, dialect).text
        assert printed is not None
        assert same_tree(parse(code, vocabulary, dialect).tree, parse(printed, vocabulary, dialect).tree)
        assert format_program(printed, vocabulary, dialect).text == printed


def tallies(seed: int, inputs: int | None, seconds: float) -> Iterator[Tally]:
    """The blocks as they are done, until there were `inputs` or `seconds` are over."""
    ends = perf_counter() + seconds
    numbers = iter(range(-(-inputs // BLOCK) if inputs else sys.maxsize))
    with ProcessPoolExecutor(PROCESSES) as workers:
        running: set[Future[Tally]] = set()
        while True:
            while len(running) < 2 * PROCESSES and perf_counter() < ends:
                number = next(numbers, None)
                if number is None:
                    break
                running.add(workers.submit(block, seed, number))
            if not running:
                return
            done, running = wait(running, HANGS_S, FIRST_COMPLETED)
            if not done:
                raise SystemExit(f"no block has ended for {HANGS_S:.0f} s: an input hangs the parser")
            yield from (future.result() for future in done)


def keep(failures: list[Failure], folder: Path) -> None:
    """Write each failing input, and why it failed, into `folder`."""
    if failures:
        folder.mkdir(parents=True, exist_ok=True)
    for failure in failures:
        (folder / f"{failure.name}.avap").write_bytes(failure.content)
        (folder / f"{failure.name}.txt").write_text(failure.reason, "utf-8", "backslashreplace")
        print(f"failed: {folder / failure.name}.avap: {failure.reason.strip().splitlines()[-1]}", flush=True)


def main() -> None:
    options = arguments()
    total = Tally()
    started = perf_counter()
    shown = started
    for tally in tallies(options.seed, options.inputs, options.seconds):
        keep(tally.failures, options.failures)
        total.add(tally)
        if perf_counter() - shown > 30:
            shown = perf_counter()
            print(f"{total.inputs.total():,} inputs, {len(total.failures)} failures", file=sys.stderr, flush=True)
    elapsed = perf_counter() - started
    count = total.inputs.total()
    print(f"{count:,} inputs, seed {options.seed}: {', '.join(f'{n:,} {kind}' for kind, n in total.inputs.items())}")
    print(f"{total.valid:,} of them valid programs; {count / elapsed:,.0f} inputs/s on {PROCESSES} processes")
    conclude(
        (
            Bar("crashes and broken promises", len(total.failures), Comparator.AT_MOST, 0.5, ""),
            Bar(f"slowest ({total.slowest})", total.slowest_s, Comparator.AT_MOST, BAR_S, "s CPU"),
        )
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, metavar="N", help="stop after so many inputs")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop after so long; 60 unless --inputs is given")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same inputs")
    parser.add_argument("--failures", type=Path, default=Path("results/fuzz"), help="where failing inputs are kept")
    options = parser.parse_args()
    if options.seconds is None:
        options.seconds = float("inf") if options.inputs else 60.0
    return options


if __name__ == "__main__":
    main()
