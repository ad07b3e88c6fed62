"""What stands word for word in something else: near-verbatim copies of programs, and overlaps of whole answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.measure.leakage.table import Table, share_of
from core.measure.leakage.words import Run, longest_run, programs, runs, tokens, words
from core.model.leakage import Arm, AuditedRow, AuditSpec, Copy, Overlap
from core.model.sample import Example

REFERENCE, SHOWN, POOL = "reference", "shown examples", "pool"


@dataclass(frozen=True)
class Originals:
    """Texts that answers may be copied from, as tokens, made searchable by their runs of `length`."""

    texts: Mapping[str, tuple[str, ...]]
    length: int
    holders: Mapping[Run, tuple[str, ...]]
    """Run -> texts that hold it, so that an answer is compared only with what it shares a run with."""

    def nearest(self, mine: tuple[str, ...]) -> tuple[str, float] | None:
        """The text that holds most of the runs of `mine`, and what share; None where none holds any."""
        shares = self.shares(mine)
        best = max(sorted(shares), key=lambda name: shares[name], default=None)
        return None if best is None else (best, shares[best])

    def shares(self, mine: tuple[str, ...]) -> Mapping[str, float]:
        """The share of the runs of `mine` that each text holds; texts that hold none are left out."""
        own = runs(mine, self.length)
        shared = Counter(name for run in own for name in self.holders.get(run, ()))
        return {name: count / len(own) for name, count in shared.items()}

    def containing(self, mine: tuple[str, ...]) -> float:
        """The share of the runs of `mine` that any of the texts holds; 0 where `mine` is shorter than a run."""
        own = runs(mine, self.length)
        return sum(run in self.holders for run in own) / len(own) if own else 0.0

    def longest(self, mine: tuple[str, ...]) -> int:
        """Tokens of the longest run shared with one text; 0 where it is shorter than `length`."""
        near = {name for run in runs(mine, self.length) for name in self.holders.get(run, ())}
        return max((longest_run(mine, self.texts[name]) for name in near), default=0)


def originals(texts: Mapping[str, tuple[str, ...]], length: int) -> Originals:
    """`texts` made searchable."""
    holders: dict[Run, list[str]] = {}
    for name, text in texts.items():
        for run in runs(text, length):
            holders.setdefault(run, []).append(name)
    return Originals(texts, length, {run: tuple(names) for run, names in holders.items()})


@dataclass(frozen=True)
class Sources:
    """All that answers are compared with."""

    table: Table
    spec: AuditSpec
    pool: Originals
    references: Originals
    """Every golden reference, by question."""

    def reference(self, row: AuditedRow) -> Originals:
        """That of the row's own question."""
        return originals({row.id: self.references.texts[row.id]}, self.spec.run_length)

    def shown(self, row: AuditedRow) -> Originals:
        """The few-shot examples of the full prompt for the question and run of `row`."""
        examples = self.table.material(row).examples
        return originals({example.id: tokens(example.code) for example in examples}, self.spec.run_length)

    def copied(self, row: AuditedRow, source: Originals) -> Iterator[tuple[str, str, float]]:
        """The programs of `row` that are near-verbatim copies: each with its original and the share of its runs."""
        for code in programs(row):
            mine = tokens(code)
            found = source.nearest(mine) if len(mine) >= self.spec.shortest_program else None
            if found is not None and found[1] >= self.spec.copied:
                yield code, *found

    def copies_an_example(self, row: AuditedRow) -> float:
        """1 where a program of the answer is a near-verbatim copy of an example of the full prompt, else 0."""
        return float(any(self.copied(row, self.shown(row))))


def sources(table: Table, pool: Sequence[Example], spec: AuditSpec) -> Sources:
    """What the rows of `table` are compared with."""
    length = spec.run_length
    return Sources(
        table,
        spec,
        originals({example.id: tokens(example.code) for example in pool}, length),
        originals({question.id: words(question.ground_truth) for question in table.questions}, length),
    )


def listed(found: Sources) -> tuple[Copy, ...]:
    """Every near-verbatim copy of an example of the pool, by question, run and arm."""
    rows = [row for question in found.table.questions for row in _of_question(found.table, question.id)]
    return tuple(_copy(row, found, *copy) for row in rows for copy in found.copied(row, found.pool))


def _of_question(table: Table, question: str) -> list[AuditedRow]:
    places = ((run, arm) for run in range(1, table.runs + 1) for arm in Arm)
    return [row for run, arm in places if (row := table.row(question, arm, run)) is not None]


def _copy(row: AuditedRow, found: Sources, code: str, original: str, contained: float) -> Copy:
    mine = tokens(code)
    return Copy(
        question=row.id,
        run=row.run,
        arm=row.arm,
        target=POOL,
        target_id=original,
        containment=contained,
        longest_run=longest_run(mine, found.pool.texts[original]),
        tokens=len(mine),
        shown=any(example.id == original for example in row.examples),
    )


def overlaps(found: Sources) -> tuple[Overlap, ...]:
    """Each arm against the references, the examples of the full prompt and the whole pool."""
    targets: dict[str, Callable[[AuditedRow], Originals]] = {
        REFERENCE: found.reference,
        SHOWN: found.shown,
        POOL: lambda _: found.pool,
    }
    return tuple(_overlap(found, arm, target, source) for arm in Arm for target, source in targets.items())


def _overlap(found: Sources, arm: Arm, target: str, source: Callable[[AuditedRow], Originals]) -> Overlap:
    """A reference is compared in words with the whole answer, programs with programs in tokens of code."""
    table = found.table
    read = _answer_text if target == REFERENCE else _code_text
    asked = tuple(question.id for question in table.questions)
    contained = table.matrix(arm, lambda row: source(row).containing(text) if (text := read(row)) else None, asked)
    copied = table.matrix(arm, lambda row: float(any(found.copied(row, source(row)))), table.after_code)
    return Overlap(
        arm=arm,
        target=target,
        containment=share_of(contained),
        longest_run=max((source(row).longest(read(row)) for row in table.of(arm)), default=0),
        copies=None if target == REFERENCE else share_of(copied),
    )


def _answer_text(row: AuditedRow) -> tuple[str, ...]:
    return words(row.answer)


def _code_text(row: AuditedRow) -> tuple[str, ...]:
    return tuple(token for code in programs(row) for token in tokens(code))
