"""A campaign as large as April's, made up rather than run: six suites, five runs, the shipped golden set and corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from core.adapters.domain import load_golden
from core.adapters.ingest import read_corpus
from core.adapters.languages import configs_root
from core.measure.compare import compare, pairs_of
from core.measure.compare_side import Contender, settings_of
from core.measure.summary import Background, summarise
from core.model.comparison import CompareSpec, Side
from core.model.evaluation import EvaluationReport
from core.model.frozen import digest, seed_for
from core.model.judged import Block, BlockKind, Call, FewShots, Finding, JudgedRow, Metric, Score, Scores
from core.model.prompt import StopReason, Usage
from core.model.record import (
    FewShotRecord,
    FewShotStatus,
    ModelRecord,
    ParserRecord,
    Provenance,
    RunRecord,
    SuiteRecord,
)
from core.model.retrieval import IndexManifest
from core.model.sample import GoldenQuestion, Passage
from core.model.specs import BandSpec, ChunkingSpec, Provider
from core.model.syntax import Category, Diagnostic, ParseResult, Validity

SUITES = {
    "qwen3-v2": 0.05,
    "bge-m3-v2": 0.02,
    "harrier-v2": 0.0,
    "qwen3-v4": 0.03,
    "bge-m3-v4": -0.06,
    "harrier-v4": -0.09,
}
"""How much better than its question's difficulty each suite is."""
RUNS, PASSAGES, FINDINGS, SEED = 5, 8, 6, 20260406
REJECTED = 0.09
BANDS = (
    BandSpec(name="EXCELLENT", floor=0.8),
    BandSpec(name="ACCEPTABLE", floor=0.6),
    BandSpec(name="INSUFFICIENT", floor=0.0),
)
PROGRAM = """function total(items){
    sum = 0
    startLoop(i, 0, 9)
        sum = sum + items[i]
    endLoop()
    return(sum)
}
addVar(result, total(values))
addResult(result)
"""


def campaign(questions: int = 50) -> tuple[EvaluationReport, tuple[JudgedRow, ...]]:
    """The report and its rows: 30 for every question."""
    asked = load_golden(configs_root() / "domains/avap/golden.yaml")[:questions]
    corpus = read_corpus(
        configs_root() / "domains/avap/knowledge", ("avap_markdown@1", "avap_samples@1"), ChunkingSpec()
    )
    rows = tuple(row for suite in SUITES for row in _suite(suite, asked, corpus.passages))
    record = _record()
    report = summarise(rows, Background(record=record, questions=asked, bands=BANDS))
    contenders = [_contender(suite, record, rows) for suite in SUITES]
    spec = CompareSpec()
    return report.model_copy(update={"comparison": compare(pairs_of(contenders, None), spec, seed=SEED)}), rows


def _suite(suite: str, asked: Sequence[GoldenQuestion], corpus: Sequence[Passage]) -> Iterator[JudgedRow]:
    for question in asked:
        difficulty = np.random.default_rng(seed_for(SEED, question.id)).uniform(0.45, 0.85)
        for run in range(1, RUNS + 1):
            draw = np.random.default_rng(seed_for(SEED, suite, question.id, run))
            yield _row(question, suite, run, corpus, partial(_judged, draw, difficulty + SUITES[suite]), draw)


def _judged(draw: np.random.Generator, level: float, invalid: bool, metric: Metric) -> Score:
    raw = float(np.clip(level + draw.normal(0.0, 0.08), 0.0, 1.0))
    lost = invalid and metric in {Metric.FAITHFULNESS, Metric.ANSWER_RELEVANCY}
    findings = tuple(
        Finding(
            id=str(number), text=f"A statement numbered {draw.integers(40)} that the judge was asked about.",
            value=int(draw.random() < raw), reason=f"{draw.integers(100)}% of it is in P{number}; 70% are needed",
        )
        for number in range(1, FINDINGS + 1)
    )  # fmt: skip
    return Score(raw=raw, final=0.0 if lost else raw, findings=findings)


def _row(
    question: GoldenQuestion,
    suite: str,
    run: int,
    corpus: Sequence[Passage],
    judged: partial[Score],
    draw: np.random.Generator,
) -> JudgedRow:
    bears_code = question.type.value == "CODE_GENERATION"
    invalid = bears_code and bool(draw.random() < REJECTED)
    category = list(Category)[int(draw.integers(4))] if invalid else None
    scores = {metric: judged(invalid, metric) for metric in Metric if metric is not Metric.GLOBAL}
    raw, final = (float(np.mean([getattr(score, side) for score in scores.values()])) for side in ("raw", "final"))
    first = int(draw.integers(len(corpus)))
    return JudgedRow(
        id=question.id, suite=suite, run=run, type=question.type, language=question.language,
        answerable=question.answerable, question=question.question, reference=question.ground_truth,
        gold_passages=question.gold_passages, constructs=question.constructs, query=question.question,
        passages=tuple(corpus[(first + step) % len(corpus)] for step in range(PASSAGES)),
        few_shots=FewShots(status=FewShotStatus.OK, k_configured=5, ids=("FS-001", "FS-002"), similarities=(0.5, 0.4)),
        answer=f"{question.ground_truth}\n\n```avap\n{PROGRAM}```\nNumber {draw.integers(10_000)}.",
        answer_stop=StopReason.END,
        message_id=digest([suite, question.id, run])[:16], blocks=_blocks(question, category) if bears_code else (),
        syntax=(Validity.INVALID if invalid else Validity.VALID) if bears_code else None, category=category,
        scores=Scores(**{m.value: s for m, s in scores.items()}, global_score=Score(raw=raw, final=final)),
        noncommittal=False, calls=_calls(suite, question.id, run), elapsed_s=1.0,
    )  # fmt: skip


def _blocks(question: GoldenQuestion, category: Category | None) -> tuple[Block, ...]:
    line = question.ground_truth.count("\n") + 3
    verdict = ParseResult(verdict=Validity.VALID, parser_version="1.0")
    if category is not None:
        fault = Diagnostic(line=3, column=5, category=category, message="unknown", text="startLoop")
        said = f"line 3, column 5: {category.value}: startLoop is not what stands here"
        verdict = ParseResult(
            verdict=Validity.INVALID, category=category, diagnostics=(fault,), trace=(said,), parser_version="1.0"
        )
    return (Block(kind=BlockKind.CODE, label="avap", line=line, closed=True, code=PROGRAM, result=verdict),)


def _calls(suite: str, question: str, run: int) -> tuple[Call, ...]:
    usage = Usage(input_tokens=2_000, output_tokens=300)
    return tuple(
        Call(
            prompt=f"{role}@1", role=role, model=f"{role}-2026-01-01", key=digest([suite, question, run, role]),
            message_id="", stop=StopReason.END, usage=usage, cost_usd=0.004,
        )
        for role in ("generator", "judge")
    )  # fmt: skip


def _record() -> RunRecord:
    provenance = Provenance(
        commit="c" * 40, dirty=False, assay_version="0.1.0", python="3.11", platform="linux", packages={},
        argv=(), notebook=False, container_image_digest="", eval_seed=SEED,
    )  # fmt: skip
    return RunRecord(
        experiment="msvl", name="made-up-campaign", fingerprint=digest("made up"), created_at="", seed=SEED, runs=RUNS,
        provenance=provenance, data={}, prompts={}, metrics=("faithfulness@1",),
        suites=tuple(map(_suite_record, SUITES)),
    )  # fmt: skip


def _suite_record(suite: str) -> SuiteRecord:
    embedder, _, corpus = suite.rpartition("-")
    index = IndexManifest(
        name=f"avap-{corpus}", version="v1", engine="embedded@1", pipeline="avap_markdown@1", chunking="{}",
        embedder=embedder, embedder_name=embedder, dimensions=1024, corpus_sha256="a" * 64, count=400, built_at="",
    )  # fmt: skip
    models = {
        role: ModelRecord(
            role=role, provider=Provider.ANTHROPIC, model=f"{role}-2026-01-01", sdk="2.12", api_version="v"
        )
        for role in ("generator", "judge")
    }
    parser = ParserRecord(
        version="1.0", vocabulary="lrm", vocabulary_sha256="b" * 64, dialect="strict", trace_templates_sha256=""
    )
    few_shot = FewShotRecord(status=FewShotStatus.OK, k_configured=5, pool_size=190)
    return SuiteRecord(suite=suite, retrieval_mode="hybrid", index=index, few_shot=few_shot, parser=parser, **models)


def _contender(suite: str, record: RunRecord, rows: Sequence[JudgedRow]) -> Contender:
    own = tuple(row for row in rows if row.suite == suite)
    stood_on = next(each for each in record.suites if each.suite == suite)
    side = Side(label=suite, run="msvl/made-up-campaign", fingerprint=record.fingerprint, suite=suite, rows=len(own))
    return Contender(
        side,
        record,
        own,
        frozenset(row.id for row in own),
        "d" * 64,
        settings_of({"index": suite}, record, stood_on),
        ruler="minilm",
    )
