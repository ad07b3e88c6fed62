"""Question: how good is a RAG assistant for AVAP, once answers with invalid code score nothing?

Hypothesis of ADR-0007: an LLM judge alone overrates it, because coherent prose hides code that would not run. The
experiment answers a golden set N times per suite, puts every code block before the parser, lets a judge score the
rest, and reports both views side by side. Cells are suites x runs; a row is one question in one run.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.flows.answer import EvaluationSettings
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
from core.model.calibration import InjectedFault
from core.model.comparison import CompareSpec
from core.model.evaluation import ConstructCoverage, EvaluationReport
from core.model.frozen import Frozen, digest
from core.model.judged import JudgedRow
from core.model.published import PublishedCampaign
from core.model.record import FewShotRecord, RunRecord, SuiteRecord
from core.model.sample import GoldenQuestion
from core.model.specs import (
    BandSpec,
    EmbedderSpec,
    FewShotSpec,
    GateSpec,
    IndexSpec,
    LanguageSpec,
    ModelSpec,
    Positive,
    RehearsalSpec,
    RetrievalSpec,
)
from core.ports import Clock, Parser, Ports
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


class SuiteSpec(Frozen):
    """One system under evaluation."""

    name: SuiteName
    language: LanguageSpec = LanguageSpec()
    index: IndexSpec
    retrieval: RetrievalSpec = RetrievalSpec()
    few_shot: FewShotSpec = FewShotSpec()
    generator: ModelSpec
    judge: ModelSpec
    judge_repeats: Positive = 1
    """How often the judge scores each answer. More than once splits variance into question, run and judge; the score
    of an answer is that of the first time, so that repeating changes no other number."""
    relevancy_embedder: EmbedderSpec | None = None
    """Measures answer relevancy; None is that of the index. Suites with several indices need one for all of them to be
    compared on answer relevancy and the global score: two models' cosines have no common scale."""
    rehearsal: RehearsalSpec | None = None
    """How the rehearsal model behaves, where generator or judge is one."""


class MsvlConfig(ExperimentConfig):
    """The evaluation as configured."""

    runs: Positive = 5
    """Repetitions of every suite; fewer than 5 are not binding."""
    golden: str
    """The golden set, relative to the configs root."""
    questions: Positive | None = None
    """Only the first so many questions of the golden set; None is all of them."""
    bands: tuple[BandSpec, ...] = ()
    gates: tuple[GateSpec, ...] = ()
    compare: CompareSpec | None = None
    """Compares the suites of the run with each other, in its report; None does not."""
    published: PublishedCampaign | None = None
    """A published campaign that this run repeats: its scores stand beside the new ones in the report."""
    suites: tuple[SuiteSpec, ...]


class Msvl:
    """The evaluation behind the syntactic gate, as core.lab.experiment.Experiment."""

    name = "msvl"
    config_type = MsvlConfig

    def data_files(self, config: MsvlConfig, configs: Path) -> Sequence[Path]:
        """Golden set, corpora, few-shot pools, vocabularies."""
        return data_files(config.golden, config.suites, configs)

    def plan(self, config: MsvlConfig, configs: Path) -> Plan:
        """Suites x runs, and what they will ask of the models."""
        from core.measure.gates import require_known
        from experiments.contenders import require_comparable
        from experiments.history import require_published_suites

        require_known(config.gates)
        require_comparable(config)
        require_published_suites(config)
        expected = len(_questions(config, configs))
        return Plan(
            cells=tuple(
                Cell(id=cell_id(suite.name, run), suite=suite.name, run=run, expected=expected)
                for suite in config.suites
                for run in range(1, config.runs + 1)
            ),
            calls=tuple(e for suite in config.suites for e in _estimates(suite, expected, config.runs, configs)),
        )

    @contextlib.asynccontextmanager
    async def open(self, config: MsvlConfig, workspace: Workspace, clock: Clock) -> AsyncIterator[MsvlSession]:
        """Ask the workshop for everything that the suites need."""
        loading = asyncio.create_task(asyncio.to_thread(_load, config))
        try:
            suites = await _opened(config, workspace, clock)
        finally:
            await loading  # a thread is not stopped
        questions = await asyncio.to_thread(_questions, config, workspace.configs)
        yield MsvlSession(config, questions, suites)


def _load(config: MsvlConfig) -> None:
    """Get ready what the record and the report will need: seconds that pass while others open what is asked for."""
    from core.adapters.llm import describe
    from core.lab import report as rendering
    from core.measure.run_statistics import foresee

    for suite in config.suites:
        describe(suite.generator, "generator")
        describe(suite.judge, "judge")
    for module in ("core.measure.summary", "experiments.contenders", "experiments.history", "scipy.stats"):
        importlib.import_module(module)
    rendering.template()
    foresee(runs=config.runs, seed=config.seed)


async def _opened(config: MsvlConfig, workspace: Workspace, clock: Clock) -> dict[str, OpenSuite]:
    shop, suites = workspace.shop, {}
    covered: dict[str, tuple[ConstructCoverage, ...]] = {}
    for suite in config.suites:
        parser = await shop.parser(suite.language)
        generator = await shop.llm(suite.generator, "generator", suite.rehearsal)
        judge = await shop.llm(suite.judge, "judge", suite.rehearsal)
        pool = await shop.few_shots(suite.few_shot, workspace.configs / config.golden, suite.index.embedder)
        ports = Ports(
            parser=parser,
            generator=generator,
            judge=judge,
            embedder=await shop.embedder(suite.relevancy_embedder or suite.index.embedder),
            index=await shop.index(suite.index, suite.retrieval),
            examples=pool.index,
            clock=clock,
        )
        texts = digest([suite.language, suite.index.corpus, suite.index.pipelines, suite.index.chunking,
                        suite.few_shot.pool if suite.few_shot.k else None])  # fmt: skip
        if texts not in covered:
            covered[texts] = await _coverage(suite, parser, workspace.configs)
        suites[suite.name] = OpenSuite(
            spec=suite,
            ports=ports,
            few_shot=pool.record,
            coverage=covered[texts],
            truth=shop.truth(suite.rehearsal) if suite.rehearsal else None,
        )
    return suites


@dataclass(frozen=True)
class OpenSuite:
    """A suite with its dependencies open."""

    spec: SuiteSpec
    ports: Ports
    few_shot: FewShotRecord
    coverage: tuple[ConstructCoverage, ...]
    """How often corpus and few-shot pool show each construct."""
    truth: Path | None
    """Where the rehearsal model notes what it spoiled; None without one."""


@dataclass(frozen=True)
class MsvlSession:
    """core.lab.experiment.Session of the evaluation."""

    config: MsvlConfig
    questions: Sequence[GoldenQuestion]
    """What is asked, as it was when the run was opened."""
    suites: Mapping[str, OpenSuite]

    async def record(self, identity: RunIdentity) -> RunRecord:
        """What every suite stands on, asked of the open dependencies."""
        from core.flows.evaluate import metric_versions
        from core.flows.prompts import prompt_digests

        return RunRecord(
            **dict(identity),
            runs=self.config.runs,
            prompts=prompt_digests(),
            metrics=metric_versions(),
            suites=tuple([await _suite_record(suite) for suite in self.suites.values()]),
        )

    async def rows(self, cell: Cell, finished: frozenset[str]) -> AsyncIterator[Frozen]:
        """The judged rows of one run of one suite."""
        from core.flows.evaluate import evaluate

        suite = self.suites[cell.suite]
        rows = evaluate(
            self.questions,
            finished,
            run=cell.run,
            settings=_settings(suite.spec),
            ports=suite.ports,
            # Every cell may use all of the calls: those in flight are bounded where they are made, for all cells
            # together, and no place stays empty while one cell ends and the next begins.
            in_flight=self.config.runtime.concurrency,
        )
        async with contextlib.aclosing(rows):
            async for row in rows:
                yield row

    def read(self, cell: Cell, stored: Sequence[str]) -> Sequence[JudgedRow]:
        """Judged rows."""
        return read_rows(JudgedRow, stored, cell, self.questions, lambda row: cell_id(row.suite, row.run))

    async def conclude(
        self,
        record: RunRecord,
        rows: Mapping[str, Sequence[JudgedRow]],
        coverage: Coverage,  # noqa: ARG002  the report counts its rows itself
    ) -> Conclusion:
        """The report."""
        with _uncollected():
            return await asyncio.to_thread(self._concluded, record, rows)

    def _concluded(self, record: RunRecord, rows: Mapping[str, Sequence[JudgedRow]]) -> Conclusion:
        from core.lab import report as rendering
        from core.lab.report import history
        from core.measure.summary import Background, summarise
        from experiments.contenders import compared_suites
        from experiments.history import with_history

        judged = [row for stored in rows.values() for row in stored]
        background = Background(
            record=record,
            questions=self.questions,
            gates=self.config.gates,
            bands=self.config.bands,
            truth=self._truth(),
            coverage={name: suite.coverage for name, suite in self.suites.items()},
        )
        report = compared_suites(summarise(judged, background), self.config, record, judged)
        report = with_history(report, self.config, record)
        return Conclusion(
            files=rendering.files(report, judged),
            usable=report.n_usable,
            gates_failed=tuple(rendering.gate_line(gate) for gate in report.gates if not gate.passed),
            summary=(*rendering.summary(report), *_compared(report), *history.summary(report)),
            binding_faults=report.binding_faults,
        )

    def _truth(self) -> Mapping[str, InjectedFault] | None:
        from core.adapters.rehearsal import read_truth

        # A rehearsal server of the user's own (runtime.generator_url) keeps its truth elsewhere, if at all.
        files = {suite.truth for suite in self.suites.values() if suite.truth is not None and suite.truth.exists()}
        if not files:
            return None
        return {message: fault for file in sorted(files) for message, fault in read_truth(file).items()}


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Without the collector of cycles, which would look again and again at rows that have none."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _compared(report: EvaluationReport) -> tuple[str, ...]:
    from core.lab.report import comparison

    return () if report.comparison is None else comparison.summary(report.comparison)


def cell_id(suite: str, run: int) -> str:
    """The cell of one run of one suite."""
    return f"{suite}.run-{run:02}"


def _questions(config: MsvlConfig, configs: Path) -> tuple[GoldenQuestion, ...]:
    return questions_of(config.golden, configs, config.questions)


def _settings(suite: SuiteSpec) -> EvaluationSettings:
    return EvaluationSettings(
        suite=suite.name,
        generator=suite.generator,
        judge=suite.judge,
        retrieval=suite.retrieval,
        few_shot=suite.few_shot,
        judge_repeats=suite.judge_repeats,
    )


async def _suite_record(suite: OpenSuite) -> SuiteRecord:
    from core.adapters.llm import describe

    spec = suite.spec
    return SuiteRecord(
        suite=spec.name,
        retrieval_mode=spec.retrieval.mode.value,
        index=suite.ports.index.manifest,
        generator=describe(spec.generator, "generator"),
        judge=describe(spec.judge, "judge"),
        few_shot=suite.few_shot,
        parser=parser_record(await suite.ports.parser.info(), spec.language),
    )


async def _coverage(suite: SuiteSpec, parser: Parser, configs: Path) -> tuple[ConstructCoverage, ...]:
    from core.adapters.domain import load_examples
    from core.adapters.ingest import read_corpus
    from core.flows.coverage import construct_coverage

    index = suite.index
    corpus = await asyncio.to_thread(read_corpus, configs / index.corpus, index.pipelines, index.chunking)
    examples = load_examples(configs / suite.few_shot.pool) if suite.few_shot.k else ()
    return await construct_coverage(parser, corpus.passages, examples)


GENERATOR_CALLS, JUDGE_CALLS = 2, 5
"""Per row: reformulate and answer; statements, support, questions, attribution, usefulness."""


def _estimates(suite: SuiteSpec, questions: int, runs: int, configs: Path) -> Iterator[CallEstimate]:
    """What one suite will ask. Reference answers are taken apart once per suite, not once per run."""
    rows = questions * runs
    context = suite.retrieval.k * suite.index.chunking.max_words * 0.6
    asked = context + suite.few_shot.k * EXAMPLE_WORDS + 2 * INSTRUCTION_WORDS
    times = suite.judge_repeats
    judged = 3 * context + JUDGE_CALLS * (INSTRUCTION_WORDS + ANSWER_WORDS)
    for role, spec, calls, words_in, words_out in (
        ("generator", suite.generator, GENERATOR_CALLS * rows, asked, ANSWER_WORDS + 20),
        ("judge", suite.judge, times * JUDGE_CALLS * rows + questions, times * judged, times * 2 * ANSWER_WORDS),
    ):
        yield estimated(role, spec, calls=calls, words_in=rows * words_in, words_out=rows * words_out, configs=configs)
