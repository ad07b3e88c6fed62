"""The campaign of April as data: recomputed, judged by what is known of it, put beside a run."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import pytest
from evaluation_rows import question, record, row, suite_record
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from core.adapters.llm.preflight import retirement
from core.lab.config import compose
from core.lab.report import history
from core.measure.published import against_published, miscomputed, published_deviations, reasons, recomputation
from core.measure.summary import Background, summarise
from core.model.conduct import Conduct, IndexHistory, Notebooks, non_binding_reasons
from core.model.deviation import Area
from core.model.evaluation import EvaluationReport
from core.model.judged import JUDGED_METRICS, Metric
from core.model.published import ForensicCount, PublishedCampaign, PublishedSuite
from core.model.specs import BandSpec, Fault, Provider
from core.model.syntax import Validity
from experiments.msvl import MsvlConfig

CODE_BEARING = 31
"""Answers with code in one rehearsed run of the 50 questions; the configuration's comment states it."""


@pytest.fixture(scope="module")
def campaign_config(configs: Path) -> MsvlConfig:
    return compose(configs / "campaigns" / "2026-04-06.yaml", configs=configs).validated(MsvlConfig)


@pytest.fixture(scope="module")
def campaign(campaign_config: MsvlConfig) -> PublishedCampaign:
    assert campaign_config.published is not None
    return campaign_config.published


def test_exactly_one_published_row_is_not_the_mean_of_its_parts(campaign: PublishedCampaign) -> None:
    assert miscomputed(campaign) == ("bge-m3_avap-docs-test-v4",)
    [said] = [reason for reason in reasons(campaign) if "mean of its parts" in reason]
    assert said == "suite bge-m3_avap-docs-test-v4: global score 0.6681 is not the mean of its parts, 0.66735"


def test_the_six_suites_are_those_that_were_published(campaign: PublishedCampaign, campaign_config: MsvlConfig) -> None:
    assert [suite.suite for suite in campaign.suites] == [suite.name for suite in campaign_config.suites]
    assert len(campaign.suites) == 6
    assert {suite.verdict for suite in campaign.suites} == {"ACCEPTABLE"}
    published = {suite.index: (suite.faithfulness, suite.global_score, suite.forensic) for suite in campaign.suites}
    assert published["avap-docs-test-v4-harrier"] == (
        0.6829, 0.7109, ForensicCount(foreign=1, hallucinated=0, invalid=1),
    )  # fmt: skip
    assert published["avap-knowledge-v2-bge"] == (0.5431, 0.6171, ForensicCount(foreign=6, hallucinated=3, invalid=8))
    assert campaign.questions == 50


def test_the_judge_was_retired_on_the_day_that_the_sdk_gives(campaign: PublishedCampaign) -> None:
    end = retirement(campaign.conduct.judge)
    assert end is not None
    assert end.isoformat() == campaign.conduct.judge_retired


def test_every_suite_is_rehearsed_with_the_faults_that_were_counted(
    campaign: PublishedCampaign, campaign_config: MsvlConfig
) -> None:
    for published, suite in zip(campaign.suites, campaign_config.suites, strict=True):
        counted, behaviour = published.forensic, suite.rehearsal
        assert counted is not None
        assert behaviour is not None
        spoiled = counted.invalid / CODE_BEARING
        foreign = spoiled * counted.foreign / (counted.foreign + counted.hallucinated)
        wanted = {
            Fault.FOREIGN_LANGUAGE: foreign / 2,
            Fault.HALLUCINATED_COMMAND: spoiled - foreign,
            Fault.FOREIGN_STRUCTURE: foreign / 2,
        }
        assert behaviour.faults == pytest.approx(wanted, abs=0.0001)


def test_the_production_campaign_names_the_published_models_exactly(configs: Path) -> None:
    file = configs / "campaigns" / "2026-04-06-production.yaml"
    config = compose(file, configs=configs).validated(MsvlConfig)
    assert {suite.index.embedder.model for suite in config.suites} == {
        "Qwen/Qwen3-Embedding-0.6B", "BAAI/bge-m3", "microsoft/harrier-oss-v1-0.6b",
    }  # fmt: skip
    assert {suite.rehearsal for suite in config.suites} == {None}
    assert Provider.REHEARSAL not in {
        model.provider for suite in config.suites for model in (suite.generator, suite.judge)
    }
    assert config.published is not None
    assert {suite.suite for suite in config.published.suites} == {suite.name for suite in config.suites}


SHARES = st.decimals(0, 1, places=12)


@given(parts=st.lists(SHARES, min_size=4, max_size=4), decimals=st.integers(2, 6))
def test_rounding_alone_is_never_called_wrong(parts: list[Decimal], decimals: int) -> None:
    rounded = [_rounded(part, decimals) for part in parts]
    mean = _rounded(sum(parts, Decimal()) / 4, decimals)
    assert recomputation([float(part) for part in rounded], float(mean), decimals).agrees


@given(parts=st.lists(SHARES, min_size=4, max_size=4), decimals=st.integers(2, 6), off=st.integers(2, 50))
def test_what_rounding_cannot_explain_is_called_wrong(parts: list[Decimal], decimals: int, off: int) -> None:
    rounded = [_rounded(part, decimals) for part in parts]
    wrong = _rounded(sum(rounded, Decimal()) / 4, decimals) + off * Decimal(1).scaleb(-decimals)
    assert not recomputation([float(part) for part in rounded], float(wrong), decimals).agrees


def _rounded(value: Decimal, decimals: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN)


WELL_DONE = Conduct(
    gate=True, runs=5, generator="qwen3:1.7b", judge="claude-opus-4-5-20251101", seed=1, temperature=0.0,
    retrieval_mode="knn_only", compares_embeddings=True, index=IndexHistory.REGISTERED, notebooks=Notebooks.NONE,
    container_image_digest="sha256:1", commit="c",
)  # fmt: skip


class TestConduct:
    def test_that_is_known_and_right_gives_no_reason(self) -> None:
        assert non_binding_reasons(WELL_DONE) == ()

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"gate": False}, "no syntactic gate"),
            ({"gate": None}, "no syntactic_validity"),
            ({"runs": 1}, "1 run per suite; at least 5"),
            ({"runs": None}, "number of runs"),
            ({"seed": None}, "seed not recorded"),
            ({"temperature": None}, "temperature not recorded"),
            ({"generator": ""}, "generator model not named"),
            ({"judge": "claude-latest"}, "judge model 'claude-latest' is not pinned"),
            ({"judge_retired": "2026-06-15"}, "was retired on 2026-06-15"),
            ({"judge": "qwen3:1.7b"}, "not independent"),
            ({"index": IndexHistory.REBUILT}, "rebuilt before the evaluation"),
            ({"index": IndexHistory.UNKNOWN}, "not registered"),
            ({"retrieval_mode": "hybrid"}, "BM25 makes up for a weak embedding"),
            ({"notebooks": Notebooks.SOME}, "notebooks were mixed in"),
            ({"notebooks": Notebooks.UNKNOWN}, "from a notebook"),
            ({"container_image_digest": ""}, "container image digest"),
            ({"commit": ""}, "code commit not recorded"),
        ],
    )
    def test_that_is_not_gives_its_reason_alone(self, change: dict[str, object], said: str) -> None:
        [reason] = non_binding_reasons(WELL_DONE.model_copy(update=change))
        assert said in reason

    def test_of_april_breaks_what_the_decision_says_it_broke(self, campaign: PublishedCampaign) -> None:
        text = "\n".join(reasons(campaign))
        for said in ("gate", "1 run", "seed", "notebooks", "rebuilt", "hybrid", "retired on 2026-06-15", "digest"):
            assert said in text


QUESTIONS = (question(1), question(2))
PUBLISHED = PublishedCampaign(
    source="a page",
    date="2026-04-06",
    questions=50,
    conduct=Conduct(gate=False, runs=1, judge="judge-1", judge_retired="2026-06-15", index=IndexHistory.REBUILT),
    suites=tuple(
        PublishedSuite(
            suite=name, embedding="bge-m3", index="old", faithfulness=0.5, answer_relevancy=0.7, context_recall=0.5,
            context_precision=0.7, global_score=0.6, verdict="ACCEPTABLE",
        )
        for name in ("main", "gone")
    ),
)  # fmt: skip


@pytest.fixture
def report() -> EvaluationReport:
    rows = [row(q, run, value=0.8) for q in QUESTIONS for run in (1, 2)]
    rows[0] = row(
        QUESTIONS[0],
        syntax=Validity.INVALID,
        scores={metric: rows[0].scores[metric].model_copy(update={"final": 0.0}) for metric in Metric},
    )
    bands = (BandSpec(name="ACCEPTABLE", floor=0.7), BandSpec(name="INSUFFICIENT", floor=0.0))
    found = summarise(rows, Background(record=record(), questions=QUESTIONS, bands=bands))
    return found.model_copy(update={"published": against_published(PUBLISHED, found, record())})


def test_a_suite_stands_beside_what_was_published_of_it(report: EvaluationReport) -> None:
    assert report.published is not None
    here, gone = report.published.suites
    assert (here.verdict, here.raw_verdict) == ("INSUFFICIENT", "ACCEPTABLE")
    assert here.syntactic_validity == 0.75
    assert (here.invalid_per_run, here.code_bearing_per_run) == (0.5, 2.0)
    assert [each.metric for each in here.metrics] == [*JUDGED_METRICS, Metric.GLOBAL]
    assert here.metrics[0].published == 0.5
    assert here.metrics[0].final == pytest.approx(0.6)
    assert here.metrics[0].raw == pytest.approx(0.8)
    assert not gone.was_run


def test_every_deviation_from_the_publication_is_told(report: EvaluationReport) -> None:
    assert report.published is not None
    found = {each.setting: each for each in report.published.deviations}
    assert (found["runs"].was, found["runs"].now) == ("1", "2")
    assert (found["questions"].was, found["questions"].now) == ("50", "2")
    assert found["judge"].note == "retired on 2026-06-15"
    assert found["judge"].now.endswith("(rehearsal)")
    assert (found["generator"].was, found["parser"].was) == ("not stated", "none")
    assert "rebuilt" in found["suites.main.index"].note
    assert (found["suites.gone"].now, found["suites.gone"].area) == ("not run", Area.CONFIGURATION)


def test_suites_that_differ_are_told_one_by_one() -> None:
    kept = record("main", "gone")
    other = suite_record("gone", Provider.ANTHROPIC)
    kept = kept.model_copy(update={"suites": (kept.suites[0], other)})
    settings = [each.setting for each in published_deviations(PUBLISHED, kept, 50)]
    assert {"suites.main.judge", "suites.gone.judge"} <= set(settings)
    assert "judge" not in settings
    assert "questions" not in settings


def test_the_report_says_all_of_it_in_words(report: EvaluationReport) -> None:
    text = "\n".join(history.sections(report))
    assert "| main | ACCEPTABLE | 0.6000 | ACCEPTABLE 0.8000 | INSUFFICIENT 0.6000 | 75.0 % |" in text
    assert "| gone | ACCEPTABLE | 0.6000 | not run | not run |" in text
    assert "| faithfulness | 0.5000 | 0.8000 | 0.6000 |" in text
    assert "no syntactic gate" in text
    first = history.summary(report)[0]
    assert first.startswith("published 2026-04-06, main: ACCEPTABLE 0.6000; here ACCEPTABLE 0.8000 before the gate")


def test_a_report_that_repeats_nothing_says_nothing(report: EvaluationReport) -> None:
    plain = report.model_copy(update={"published": None})
    assert (list(history.sections(plain)), history.summary(plain)) == ([], ())


def test_a_published_suite_is_named_once() -> None:
    with pytest.raises(ValidationError, match="published twice"):
        PublishedCampaign(**{**dict(PUBLISHED), "suites": (PUBLISHED.suites[0], PUBLISHED.suites[0])})
