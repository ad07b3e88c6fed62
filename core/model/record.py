"""The record of a run, written before its first call, and the reasons why its result may not be cited."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from core.model.deviation import RerunOf
from core.model.frozen import Frozen
from core.model.retrieval import IndexManifest
from core.model.specs import Provider


class SamplingStatus(StrEnum):
    """What became of a sampling parameter that the config asked for."""

    NOT_ASKED = "not_asked"
    SENT = "sent"
    REFUSED_BY_API = "refused_by_api"
    """Asked for, known to be refused, therefore never sent."""


class ModelRecord(Frozen):
    """A language model as it was really called."""

    role: str
    """`generator` or `judge`."""
    provider: Provider
    model: str
    sdk: str
    api_version: str
    temperature_asked: float | None = None
    temperature: SamplingStatus = SamplingStatus.NOT_ASKED
    seed: SamplingStatus = SamplingStatus.NOT_ASKED


class ParserRecord(Frozen):
    """The gate as it was at the start; a run whose parser changes underway is refused."""

    version: str
    vocabulary: str
    vocabulary_sha256: str
    dialect: str
    trace_templates_sha256: str
    validating: bool = True


class FewShotStatus(StrEnum):
    """Whether examples were injected as configured."""

    OFF = "off"
    OK = "ok"
    DEGRADED = "degraded"


class FewShotRecord(Frozen):
    """Few-shot injection as it really was."""

    status: FewShotStatus
    k_configured: int
    pool_size: int = 0
    pool_sha256: str = ""
    excluded: tuple[str, ...] = ()
    """Pool items left out because they are golden answers."""
    reason: str = ""


class Provenance(Frozen):
    """The code and the machine."""

    commit: str
    """Empty when there is no git checkout."""
    dirty: bool
    assay_version: str
    python: str
    platform: str
    packages: Mapping[str, str]
    argv: tuple[str, ...]
    notebook: bool
    container_image_digest: str
    """From ASSAY_IMAGE_DIGEST; empty outside the official image."""
    eval_seed: int | None
    """The EVAL_SEED environment variable; None when unset."""


class SuiteRecord(Frozen):
    """What one suite stood on."""

    suite: str
    retrieval_mode: str
    index: IndexManifest
    generator: ModelRecord
    judge: ModelRecord | None
    """None where nothing is judged, as in a leakage audit."""
    few_shot: FewShotRecord
    parser: ParserRecord

    @property
    def models(self) -> tuple[ModelRecord, ...]:
        """The generator, and the judge where there is one."""
        return (self.generator,) if self.judge is None else (self.generator, self.judge)


class RunRecord(Frozen):
    """Everything a reader needs to know about a run before its numbers."""

    schema_version: int = 1
    experiment: str
    name: str
    fingerprint: str
    created_at: str
    seed: int
    runs: int
    provenance: Provenance
    data: Mapping[str, str]
    """Data file, relative to the configs root -> sha256 of its content."""
    prompts: Mapping[str, str]
    """Prompt name with version -> sha256 of its text."""
    metrics: tuple[str, ...]
    """Versioned metric names, as `faithfulness@1`."""
    suites: tuple[SuiteRecord, ...]
    resumed_under: tuple[Provenance, ...] = ()
    """Later drivers whose code, packages or interpreter were not those of `provenance`."""
    notes: Mapping[str, Any] = {}
    rerun_of: RerunOf | None = None
    """What the run repeats, where it was started as a rerun."""


_DATED = re.compile(r"(20\d{2}-?[01]\d-?[0-3]\d)|(:[\w.\-]+)|(@[\w.\-]+)")


def is_pinned(model: str) -> bool:
    """Whether a model name carries a date, a tag or a revision, and is not a moving alias."""
    return bool(_DATED.search(model)) and not model.endswith("latest")


def binding_faults(record: RunRecord) -> tuple[str, ...]:
    """Every reason why this run's result may not be cited in a decision; empty means binding (ADR-0007, section 4)."""
    faults: list[str] = []
    p = record.provenance
    if p.notebook:
        faults.append("executed from a notebook")
    if not p.container_image_digest:
        faults.append("container image digest not recorded (ASSAY_IMAGE_DIGEST)")
    if p.eval_seed is None:
        faults.append("EVAL_SEED is not set")
    elif p.eval_seed != record.seed:
        faults.append(f"EVAL_SEED={p.eval_seed} differs from the configured seed {record.seed}")
    if not p.commit:
        faults.append("code commit unknown (not a git checkout)")
    elif p.dirty:
        faults.append("code has uncommitted changes")
    commits = (later.commit[:12] or "unknown" for later in record.resumed_under)
    faults.extend(f"resumed under other code or packages (commit {commit})" for commit in commits)
    if record.runs < 5:
        faults.append(f"{record.runs} runs per suite; at least 5 are required")
    for suite in record.suites:
        faults.extend(f"suite {suite.suite}: {fault}" for fault in _suite_faults(suite))
    if len({s.parser.model_dump_json() for s in record.suites}) > 1:
        faults.append("parser or vocabulary differs between suites")
    return tuple(faults)


def _suite_faults(suite: SuiteRecord) -> list[str]:
    faults = [f"{model.role} {fault}" for model in suite.models for fault in _model_faults(model)]
    if suite.judge is not None and suite.generator.model == suite.judge.model:
        faults.append("the judge is the generator: not independent")
    if not suite.index.version or not suite.index.pipeline:
        faults.append("index version or ingestion pipeline not registered")
    if suite.few_shot.status is FewShotStatus.DEGRADED:
        faults.append(f"few_shot_injection: degraded ({suite.few_shot.reason})")
    if not suite.parser.validating:
        faults.append("the parser backend executes but does not validate")
    return faults


def _model_faults(model: ModelRecord) -> list[str]:
    faults = []
    if model.provider is Provider.REHEARSAL:
        faults.append("is the rehearsal model")
    elif not is_pinned(model.model):
        faults.append(f"model {model.model!r} is not pinned to a dated version")
    return faults
