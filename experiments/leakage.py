"""Question: does a model answer from the documentation, or from examples and memory?

Hypothesis of ADR-0007, section 7: part of the correct syntax in its scores is not owed to retrieval. The same questions
are answered with documents on and off and few-shot examples on and off, N times each; what is right without them was
not learned from them. Cells are suites x arms x runs; a row is one question under one arm in one run. Nothing is
judged, but code goes before the parser as ever, and a parser that is down aborts the run.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import ConfigError
from core.flows.leakage import Audited
from core.lab.experiment import (
    CallEstimate,
    Cell,
    Conclusion,
    Coverage,
    ExperimentConfig,
    Plan,
    RunIdentity,
    SuiteName,
    Workspace,
)
from core.model.frozen import Frozen
from core.model.leakage import Arm, AuditedRow, AuditSpec
from core.model.record import FewShotRecord, RunRecord, SuiteRecord
from core.model.sample import Example, GoldenQuestion
from core.model.specs import (
    FewShotSpec,
    IndexSpec,
    LanguageSpec,
    ModelSpec,
    Positive,
    RehearsalSpec,
    RetrievalSpec,
)
from core.ports import Clock
from experiments.standing import (
    ANSWER_WORDS,
    EXAMPLE_WORDS,
    INSTRUCTION_WORDS,
    data_files,
    estimated,
    parser_record,
    questions_of,
    read_rows,
)


class AuditedSuite(Frozen):
    """One model under audit, with the documents and examples it is shown."""

    name: SuiteName
    language: LanguageSpec = LanguageSpec()
    index: IndexSpec
    retrieval: RetrievalSpec = RetrievalSpec()
    few_shot: FewShotSpec = FewShotSpec()
    generator: ModelSpec
    rehearsal: RehearsalSpec | None = None
    """How the rehearsal model behaves, its planted leaks among the rest."""


class LeakageConfig(ExperimentConfig):
    """The audit as configured."""

    runs: Positive = 5
    """Repetitions of every arm; fewer than 5 are not binding."""
    golden: str
    """The golden set, relative to the configs root."""
    questions: Positive | None = None
    """Only the first so many questions of the golden set; None is all of them."""
    audit: AuditSpec = AuditSpec()
    """The decision rule."""
    suites: tuple[AuditedSuite, ...]


class Leakage:
    """The leakage audit, as core.lab.experiment.Experiment."""

    name = "leakage"
    config_type = LeakageConfig

    def data_files(self, config: LeakageConfig, configs: Path) -> Sequence[Path]:
        """Golden set, corpora, few-shot pools, vocabularies."""
        return data_files(config.golden, config.suites, configs)

    def plan(self, config: LeakageConfig, configs: Path) -> Plan:
        """Suites x arms x runs. Raises ConfigError for a suite without examples to withhold."""
        for number, suite in enumerate(config.suites):
            if suite.few_shot.k == 0:
                raise ConfigError(
                    f"suite {suite.name} shows no few-shot examples, so that there are none to withhold",
                    path=f"suites.{number}.few_shot.k",
                    remedy="set few_shot.k to the number that production uses",
                )
        expected = len(questions_of(config.golden, configs, config.questions))
        return Plan(
            cells=tuple(
                Cell(id=_cell_id(suite.name, arm, run), suite=suite.name, run=run, expected=expected)
                for suite in config.suites
                for arm in Arm
                for run in range(1, config.runs + 1)
            ),
            calls=tuple(e for suite in config.suites for e in _estimates(suite, expected * config.runs, configs)),
            notes=("nothing is judged",),
        )

    @contextlib.asynccontextmanager
    async def open(self, config: LeakageConfig, workspace: Workspace, clock: Clock) -> AsyncIterator[LeakageSession]:
        """Ask the workshop for everything that the suites need."""
        golden = workspace.configs / config.golden
        suites = {suite.name: await _opened(suite, workspace, golden, clock) for suite in config.suites}
        questions = await asyncio.to_thread(questions_of, config.golden, workspace.configs, config.questions)
        yield LeakageSession(config, workspace.configs, questions, suites)


@dataclass(frozen=True)
class OpenModel:
    """A model with its dependencies open."""

    spec: AuditedSuite
    audited: Audited
    few_shot: FewShotRecord
    vocabulary: frozenset[str]
    """Every word that AVAP gives a meaning."""


@dataclass(frozen=True)
class LeakageSession:
    """core.lab.experiment.Session of the audit."""

    config: LeakageConfig
    configs: Path
    questions: Sequence[GoldenQuestion]
    """What is asked, as it was when the run was opened."""
    suites: Mapping[str, OpenModel]

    async def record(self, identity: RunIdentity) -> RunRecord:
        """What every suite stands on, asked of the open dependencies."""
        from core.flows.prompts import ANSWER, REFORMULATE, UNAIDED

        return RunRecord(
            **dict(identity),
            runs=self.config.runs,
            prompts={prompt.name: prompt.sha256 for prompt in (REFORMULATE, ANSWER, UNAIDED)},
            metrics=METRICS,
            suites=tuple([await _suite_record(suite) for suite in self.suites.values()]),
        )

    async def rows(self, cell: Cell, finished: frozenset[str]) -> AsyncIterator[Frozen]:
        """The rows of one run of one model under one arm."""
        from core.flows.leakage import audit_answers

        rows = audit_answers(
            self.questions,
            finished,
            arm=_arm_of(cell),
            run=cell.run,
            audited=self.suites[cell.suite].audited,
            in_flight=self.config.runtime.concurrency,
        )
        async with contextlib.aclosing(rows):
            async for row in rows:
                yield row

    def read(self, cell: Cell, stored: Sequence[str]) -> Sequence[AuditedRow]:
        """Audited rows."""
        return read_rows(AuditedRow, stored, cell, self.questions, lambda row: _cell_id(row.suite, row.arm, row.run))

    async def conclude(
        self,
        record: RunRecord,
        rows: Mapping[str, Sequence[AuditedRow]],
        coverage: Coverage,  # noqa: ARG002  the report counts its rows itself
    ) -> Conclusion:
        """The report."""
        return await asyncio.to_thread(self._concluded, record, rows)

    def _concluded(self, record: RunRecord, rows: Mapping[str, Sequence[AuditedRow]]) -> Conclusion:
        from core.lab.audit import files, summary
        from core.measure.leakage.report import AuditBackground, audit

        answered = [row for stored in rows.values() for row in stored]
        background = AuditBackground(
            record=record,
            questions=self.questions,
            spec=self.config.audit,
            pools={name: self._pool(suite) for name, suite in self.suites.items()},
            vocabularies={name: suite.vocabulary for name, suite in self.suites.items()},
        )
        report = audit(answered, background)
        return Conclusion(
            files=files(report),
            usable=sum(not row.answer_fault for row in answered),
            summary=summary(report),
            binding_faults=report.binding_faults,
        )

    def _pool(self, suite: OpenModel) -> Sequence[Example]:
        from core.adapters.domain import load_examples

        return load_examples(self.configs / suite.spec.few_shot.pool)


METRICS = ("syntax@1", "leakage@1")
"""The gate, and the measures and decision rule of core.measure.leakage."""


async def _opened(suite: AuditedSuite, workspace: Workspace, golden: Path, clock: Clock) -> OpenModel:
    from core.adapters.languages import VOCABULARIES, load_vocabulary
    from core.flows.leakage import AuditPorts, distinctive, known_words

    shop = workspace.shop
    pool = await shop.few_shots(suite.few_shot, golden, suite.index.embedder)
    vocabulary = load_vocabulary(suite.language.vocabulary, workspace.configs / VOCABULARIES)
    ports = AuditPorts(
        parser=await shop.parser(suite.language),
        generator=await shop.llm(suite.generator, "generator", suite.rehearsal),
        index=await shop.index(suite.index, suite.retrieval),
        examples=pool.index,
        clock=clock,
    )
    audited = Audited(
        suite=suite.name,
        generator=suite.generator,
        retrieval=suite.retrieval,
        few_shot=suite.few_shot,
        names=distinctive(vocabulary),
        ports=ports,
    )
    return OpenModel(suite, audited, pool.record, known_words(vocabulary))


def _cell_id(suite: str, arm: Arm, run: int) -> str:
    return f"{suite}.{arm.value}.run-{run:02}"


def _arm_of(cell: Cell) -> Arm:
    return next(arm for arm in Arm if cell.id == _cell_id(cell.suite, arm, cell.run))


async def _suite_record(suite: OpenModel) -> SuiteRecord:
    from core.adapters.llm import describe

    spec, ports = suite.spec, suite.audited.ports
    return SuiteRecord(
        suite=spec.name,
        retrieval_mode=spec.retrieval.mode.value,
        index=ports.index.manifest,
        generator=describe(spec.generator, "generator"),
        judge=None,
        few_shot=suite.few_shot,
        parser=parser_record(await ports.parser.info(), spec.language),
    )


def _estimates(suite: AuditedSuite, rows: int, configs: Path) -> Iterator[CallEstimate]:
    """What one model will be asked: a search query once for all arms, an answer under each."""
    context = suite.retrieval.k * suite.index.chunking.max_words * 0.6
    examples = suite.few_shot.k * EXAMPLE_WORDS
    arms = len(Arm)
    yield estimated(
        "generator",
        suite.generator,
        calls=rows * (arms + 1),
        words_in=rows * ((arms + 1) * INSTRUCTION_WORDS + 2 * context + 2 * examples),
        words_out=rows * (arms * ANSWER_WORDS + 20),
        configs=configs,
    )
