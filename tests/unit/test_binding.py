"""Binding faults: every rule of the protocol, broken one at a time."""

from typing import Any

import pytest

from core.model.record import (
    FewShotRecord,
    FewShotStatus,
    ModelRecord,
    ParserRecord,
    Provenance,
    RunRecord,
    SuiteRecord,
    binding_faults,
    is_pinned,
)
from core.model.retrieval import IndexManifest
from core.model.specs import Provider

INDEX = IndexManifest(
    name="knowledge", version="1", engine="embedded@1", pipeline="avap_markdown@1", chunking="{}", embedder="e",
    embedder_name="m", dimensions=384, corpus_sha256="c", count=10, built_at="2026-04-06T00:00:00Z",
)  # fmt: skip
PARSER = ParserRecord(
    version="1.0.0", vocabulary="lrm-2026.04", vocabulary_sha256="v", dialect="strict", trace_templates_sha256="t"
)


def model(role: str, name: str, provider: Provider = Provider.ANTHROPIC) -> ModelRecord:
    return ModelRecord(role=role, provider=provider, model=name, sdk="anthropic 2.12.0", api_version="2026-10-21")


SUITE = SuiteRecord(
    suite="hybrid", retrieval_mode="hybrid", index=INDEX, parser=PARSER,
    generator=model("generator", "qwen3:1.7b", Provider.OPENAI),
    judge=model("judge", "claude-x-20260901"),
    few_shot=FewShotRecord(status=FewShotStatus.OK, k_configured=5, pool_size=70),
)  # fmt: skip
PROVENANCE = Provenance(
    commit="abc", dirty=False, assay_version="0.1.0", python="3.11.7", platform="linux", packages={}, argv=(),
    notebook=False, container_image_digest="sha256:1", eval_seed=7,
)  # fmt: skip
RECORD = RunRecord(
    experiment="msvl", name="x", fingerprint="f", created_at="2026-04-06T00:00:00Z", seed=7, runs=5,
    provenance=PROVENANCE, data={}, prompts={}, metrics=(), suites=(SUITE,),
)  # fmt: skip


def with_provenance(**changes: Any) -> RunRecord:
    return RECORD.model_copy(update={"provenance": PROVENANCE.model_copy(update=changes)})


def with_suite(**changes: Any) -> RunRecord:
    return RECORD.model_copy(update={"suites": (SUITE.model_copy(update=changes),)})


def test_a_run_by_the_book_is_binding() -> None:
    assert binding_faults(RECORD) == ()


@pytest.mark.parametrize(
    ("record", "word"),
    [
        (with_provenance(notebook=True), "notebook"),
        (with_provenance(container_image_digest=""), "image digest"),
        (with_provenance(eval_seed=None), "EVAL_SEED is not set"),
        (with_provenance(eval_seed=8), "differs"),
        (with_provenance(commit=""), "commit unknown"),
        (with_provenance(dirty=True), "uncommitted"),
        (RECORD.model_copy(update={"runs": 4}), "at least 5"),
        (with_suite(generator=model("generator", "qwen3", Provider.OPENAI)), "not pinned"),
        (with_suite(judge=model("judge", "claude-x-latest")), "not pinned"),
        (with_suite(generator=model("generator", "r-1", Provider.REHEARSAL)), "rehearsal"),
        (with_suite(generator=SUITE.judge), "not independent"),
        (with_suite(index=INDEX.model_copy(update={"version": ""})), "not registered"),
        (with_suite(index=INDEX.model_copy(update={"pipeline": ""})), "not registered"),
        (with_suite(few_shot=FewShotRecord(status=FewShotStatus.DEGRADED, k_configured=5)), "degraded"),
        (with_suite(parser=PARSER.model_copy(update={"validating": False})), "does not validate"),
    ],
)
def test_each_breach_is_named(record: RunRecord, word: str) -> None:
    assert any(word in fault for fault in binding_faults(record))


def test_suites_with_different_parsers_are_a_fault() -> None:
    other = SUITE.model_copy(update={"suite": "b", "parser": PARSER.model_copy(update={"version": "1.1.0"})})
    assert "parser or vocabulary differs between suites" in binding_faults(
        RECORD.model_copy(update={"suites": (SUITE, other)})
    )


@pytest.mark.parametrize(
    ("name", "pinned"),
    [
        ("claude-sonnet-4-20250514", True),
        ("qwen3:1.7b", True),
        ("qwen3:latest", False),
        ("claude-sonnet-latest", False),
        ("gpt", False),
        ("model@0f3a", True),
    ],
)
def test_pinned_names(name: str, pinned: bool) -> None:
    assert is_pinned(name) is pinned


def test_an_index_names_what_differs() -> None:
    wanted = INDEX.model_copy(update={"corpus_sha256": "d", "built_at": "later", "count": 0})
    assert INDEX.faults_against(wanted) == ("corpus_sha256: found 'c', config wants 'd'",)
    assert INDEX.faults_against(INDEX.model_copy(update={"built_at": "later"})) == ()
