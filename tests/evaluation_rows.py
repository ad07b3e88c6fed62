"""Judged rows and a record to go with them, for tests of what is counted over rows."""

from typing import Any

from evaluation_fakes import PASSAGES, invalid, manifest, valid

from core.model.judged import (
    Block,
    BlockKind,
    Call,
    FewShots,
    JudgedRow,
    Metric,
    Score,
    Scores,
    UnscoredReason,
)
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
from core.model.sample import GoldenQuestion, QueryType
from core.model.specs import Provider
from core.model.syntax import Category, Validity

FEW_SHOTS = FewShots(status=FewShotStatus.OK, k_configured=2, ids=("ex-1", "ex-2"), similarities=(0.9, 0.8))


def question(number: int, **changed: Any) -> GoldenQuestion:
    """GD-C-00N asks for code about startLoop, and is answered by reference/loops#range."""
    fields: dict[str, Any] = {
        "id": f"GD-C-{number:03}",
        "type": QueryType.CODE_GENERATION,
        "language": "en",
        "question": f"question {number}",
        "ground_truth": "reference",
        "gold_passages": ("reference/loops#range", "reference/loops#nesting"),
        "constructs": ("startLoop",),
    }
    return GoldenQuestion(**{**fields, **changed})


def scored(final: float, raw: float | None = None) -> Score:
    return Score(raw=final if raw is None else raw, final=final)


def unscored(reason: UnscoredReason = UnscoredReason.MALFORMED) -> Score:
    return Score(raw=None, final=None, reason=reason, detail="why")


def row(
    asked: GoldenQuestion,
    run: int = 1,
    *,
    value: float = 0.5,
    syntax: Validity | None = Validity.VALID,
    category: Category = Category.FOREIGN_KEYWORD,
    scores: dict[Metric, Score] | None = None,
    **changed: Any,
) -> JudgedRow:
    """A row that scores `value` everywhere, save what `scores` and `changed` replace."""
    result = {Validity.VALID: valid("startLoop"), Validity.INVALID: invalid(category), None: None}[syntax]
    blocks = (Block(kind=BlockKind.CODE, label="avap", line=1, closed=True, code="x", result=result),) if result else ()
    every = {metric.value: (scores or {}).get(metric, scored(value)) for metric in Metric}
    fields: dict[str, Any] = {
        "id": asked.id,
        "suite": "main",
        "run": run,
        "type": asked.type,
        "language": asked.language,
        "answerable": asked.answerable,
        "question": asked.question,
        "reference": asked.ground_truth,
        "gold_passages": asked.gold_passages,
        "constructs": asked.constructs,
        "query": "query",
        "passages": PASSAGES,
        "few_shots": FEW_SHOTS,
        "answer": "answer",
        "answer_stop": StopReason.END,
        "message_id": f"msg-{asked.id}-{run}",
        "blocks": blocks,
        "syntax": syntax,
        "category": category if syntax is Validity.INVALID else None,
        "scores": Scores(**every),
        "noncommittal": False,
        "calls": (call(f"answer-{asked.id}-{run}", "generator"), call(f"statements-{asked.id}", "judge")),
        "elapsed_s": 1.0,
    }
    return JudgedRow(**{**fields, **changed})


def call(key: str, role: str, usd: float = 0.1) -> Call:
    usage = Usage(input_tokens=100, output_tokens=10)
    return Call(
        prompt="p@1", role=role, model="m", key=key, message_id=key, stop=StopReason.END, usage=usage, cost_usd=usd
    )


def record(*suites: str, runs: int = 2, provider: Provider = Provider.REHEARSAL, **changed: Any) -> RunRecord:
    fields: dict[str, Any] = {
        "experiment": "msvl",
        "name": "test",
        "fingerprint": "f" * 64,
        "created_at": "2026-11-21T00:00:00Z",
        "seed": 7,
        "runs": runs,
        "provenance": Provenance(
            commit="abc",
            dirty=False,
            assay_version="0.1.0",
            python="3.11",
            platform="linux",
            packages={},
            argv=(),
            notebook=False,
            container_image_digest="sha256:1",
            eval_seed=7,
        ),
        "data": {},
        "prompts": {"b@1": "2", "a@1": "1"},
        "metrics": ("faithfulness@1",),
        "suites": tuple(suite_record(suite, provider) for suite in suites or ("main",)),
    }
    return RunRecord(**{**fields, **changed})


def suite_record(suite: str, provider: Provider = Provider.REHEARSAL, **changed: Any) -> SuiteRecord:
    fields: dict[str, Any] = {
        "suite": suite,
        "retrieval_mode": "hybrid",
        "index": manifest(),
        "generator": model_record("generator", provider),
        "judge": model_record("judge", provider),
        "few_shot": FewShotRecord(status=FewShotStatus.OK, k_configured=2, pool_size=60),
        "parser": ParserRecord(
            version="1.0", vocabulary="v", vocabulary_sha256="s", dialect="strict", trace_templates_sha256="t"
        ),
    }
    return SuiteRecord(**{**fields, **changed})


def model_record(role: str, provider: Provider) -> ModelRecord:
    return ModelRecord(role=role, provider=provider, model=f"{role}-20260101", sdk="s", api_version="v")
