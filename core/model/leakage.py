"""The leakage audit: what one answer was made under, and what the report says of where answers come from."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from core.model.evaluation import IndexFacts, Spend, Timing
from core.model.frozen import Frozen
from core.model.interval import Interval
from core.model.judged import Block, Call, FewShots
from core.model.prompt import StopReason
from core.model.record import FewShotRecord, ModelRecord, ParserRecord
from core.model.sample import Passage, QueryType
from core.model.specs import IsNumber, Positive, Share
from core.model.syntax import Category, Validity


class Arm(StrEnum):
    """What the prompts of an answer held: documents on or off x few-shot examples on or off."""

    BOTH = "documents+examples"
    """The assistant as it is."""
    DOCUMENTS = "documents"
    EXAMPLES = "examples"
    NEITHER = "neither"
    """The no-context control: whatever is right here, the model brought along."""

    @property
    def has_documents(self) -> bool:
        """Whether the retrieved passages are shown."""
        return self in (Arm.BOTH, Arm.DOCUMENTS)

    @property
    def has_examples(self) -> bool:
        """Whether few-shot examples are shown."""
        return self in (Arm.BOTH, Arm.EXAMPLES)


class AuditSpec(Frozen):
    """The decision rule; see docs/audits.md for why these values."""

    alpha: Annotated[float, IsNumber, Field(gt=0.0, lt=0.5)] = 0.05
    """Chance of at least one false alarm on one model without a leak, over its tests together (Holm)."""
    least_effect: Share = 0.05
    """The excess must reach this, however small its p-value: less does not move a score that anyone decides by."""
    lucky: Share = 0.01
    """Share of answers whose correct AVAP without any help is put down to a lucky guess."""
    copied: Share = 0.8
    """Share of a program's token runs that must stand in one other program to call it a near-verbatim copy."""
    run_length: Annotated[int, IsNumber, Field(ge=2)] = 8
    """Tokens in a run, when overlaps are counted."""
    shortest_program: Annotated[int, IsNumber, Field(ge=2)] = 16
    """Tokens below which two programs are alike by necessity, so that none of them is called a copy."""
    fewest_questions: Positive = 10
    """Questions below which no verdict is given."""
    resamples: Positive = 9999
    """Sign flips of the permutation tests."""
    divergence_resamples: Positive = 999
    """Exchanges behind each floor of a divergence."""


class AuditedRow(Frozen):
    """One question answered in one run under one arm; `id` is the question's, unique within its cell."""

    id: str
    suite: str
    arm: Arm
    run: int
    type: QueryType
    language: str
    question: str
    reference: str
    query: str
    passages: tuple[Passage, ...]
    """As shown, best first; none where documents are withheld."""
    examples: tuple[Passage, ...]
    """As shown, nearest first; none where examples are withheld."""
    few_shots: FewShots
    answer: str
    answer_stop: StopReason
    answer_fault: str = ""
    """What the provider said when it refused the request for an answer."""
    message_id: str
    blocks: tuple[Block, ...]
    syntax: Validity | None
    """INVALID if one block is; None when the answer bears no code."""
    category: Category | None = None
    unprompted: tuple[str, ...] = ()
    """Names that only AVAP has, used by VALID code and found nowhere in the prompt."""
    foreign: Mapping[str, int] = {}
    """Language -> words of code on lines that are not AVAP but look like it; `unknown` where none is told."""
    calls: tuple[Call, ...]
    elapsed_s: float


class ShareOf(Frozen):
    """A share with its uncertainty over questions."""

    mean: float | None
    """None when there was nothing to count."""
    interval: Interval | None
    """Clustered by question; Wilson's over questions where the share is 0 or 1 everywhere."""
    n_questions: int
    n_answers: int


class Leak(StrEnum):
    """The ways in which an answer can be right for the wrong reason."""

    FEW_SHOT_COPY = "few_shot_copy"
    """Programs are near-verbatim copies of the examples in the prompt."""
    MEMORISED_SYNTAX = "memorised_syntax"
    """Correct AVAP appears when neither documents nor examples are shown: it comes from training."""
    MEMORISED_ANSWERS = "memorised_answers"
    """Answers repeat the golden reference where nothing in the prompt could have told them: the test set leaked."""


class Verdict(StrEnum):
    """What a test, or the audit of a model, concludes."""

    FOUND = "leak_found"
    NOT_FOUND = "no_leak_found"
    NOT_ASSESSABLE = "not_assessable"


class LeakTest(Frozen):
    """One way of leaking, put to the test."""

    leak: Leak
    observed: ShareOf
    """What the leak would raise."""
    baseline: float | None
    """What it is held against: the same measure where this leak cannot be at work, or the tolerance."""
    excess: float | None
    """Observed minus baseline, over the questions that have both."""
    interval: Interval | None
    """Of the excess, clustered by question."""
    p: float | None
    """One-sided, before adjustment."""
    p_adjusted: float | None
    """By Holm over the tests of this model."""
    verdict: Verdict
    sentence: str
    """The reason, in one sentence."""


class Source(StrEnum):
    """Where a word of an answer stands besides; the first that applies."""

    PASSAGES_AND_EXAMPLES = "passages and examples"
    PASSAGES = "passages"
    EXAMPLES = "examples"
    QUESTION = "question"
    VOCABULARY = "AVAP vocabulary"
    """A word of AVAP that nothing above explains."""
    NONE = "nowhere"


class TextPart(StrEnum):
    """The two parts of an answer."""

    CODE = "code"
    PROSE = "prose"


class ProvenanceLine(Frozen):
    """Where the words of one arm's answers come from; the shares sum to 1."""

    arm: Arm
    part: TextPart
    words: int
    shares: Mapping[Source, ShareOf]


class Divergence(Frozen):
    """The Jensen-Shannon divergence of two word distributions, each question weighing the same; in bits, 0 to 1."""

    a: str
    b: str
    n_questions: int
    bits: float | None
    """As observed; finite samples make it larger than the truth, so it is read against the floor. None where fewer
    than two questions have both sides."""
    interval: Interval | None
    """Of `bits` at this number of questions and words, by the jackknife over questions."""
    floor: float | None
    """Mean divergence when the two sides of random questions are exchanged: what chance alone shows at this size."""
    above_floor: float | None
    """Bits minus floor."""
    floor_high: float | None
    """95th percentile of the same: divergences below it cannot be told from none."""
    p: float | None


class Overlap(Frozen):
    """How much of one arm's answers stands word for word in something else."""

    arm: Arm
    target: str
    """`reference`, `shown examples` or `pool`."""
    containment: ShareOf
    """Share of an answer's runs that the target has too: runs of words against the reference, of code against
    examples."""
    longest_run: int
    """Words or tokens of the longest common run; 0 where none is as long as a run."""
    copies: ShareOf | None
    """Answers with a near-verbatim copy of one of the target's programs, over answers to questions that call for
    code; None for references, which are not programs."""


class Copy(Frozen):
    """One near-verbatim copy."""

    question: str
    run: int
    arm: Arm
    target: str
    target_id: str
    containment: float
    longest_run: int
    tokens: int
    """Of the copied program."""
    shown: bool
    """Whether the original stood in the prompt."""


class Survival(Frozen):
    """Correct syntax with documents and examples, against the same questions with less."""

    arm: Arm
    """What was left."""
    full: ShareOf
    """Answers with VALID code, with documents and examples, over all answers to questions that call for code."""
    left: ShareOf
    ratio: float | None
    """Left over full: the share of correct syntax that survives. None where there was nothing to survive."""
    difference: float | None
    """Left minus full."""
    interval: Interval | None
    p: float | None
    """Paired sign-flip test over questions, two-sided."""
    lost: int
    """Questions whose answers are mostly correct in full, and mostly not with less."""
    gained: int
    mcnemar_p: float
    """Exact, over these questions."""


class ForeignShare(Frozen):
    """Words of one language among the code of an arm's answers."""

    language: str
    words: int
    share: float
    answers: int
    """Answers in which it occurs."""


class ArmSummary(Frozen):
    """One arm of one model."""

    arm: Arm
    n_expected: int
    n_rows: int
    code_bearing: int
    valid: ShareOf
    """VALID answers over answers that bear code."""
    unprompted: ShareOf
    """Answers whose VALID code uses AVAP names that the prompt does not hold, over answers to questions that call for
    code."""
    code_words: int
    foreign: tuple[ForeignShare, ...]
    """Most words first."""
    degraded: int
    """Rows whose examples could not be had although this arm shows them."""


class ModelAudit(Frozen):
    """The audit of one model."""

    suite: str
    generator: ModelRecord
    parser: ParserRecord
    retrieval_mode: str
    index: IndexFacts
    few_shot: FewShotRecord
    verdict: Verdict
    sentence: str
    tests: tuple[LeakTest, ...]
    arms: tuple[ArmSummary, ...]
    survival: tuple[Survival, ...]
    provenance: tuple[ProvenanceLine, ...]
    divergences: tuple[Divergence, ...]
    overlaps: tuple[Overlap, ...]
    copies: tuple[Copy, ...]
    """By question, then run, arm and target."""


class LeakageReport(Frozen):
    """All that the JSON report of a leakage audit holds. Equal rows and records give equal bytes."""

    schema_version: int = 1
    experiment: str
    name: str
    fingerprint: str
    seed: int
    runs: int
    binding: bool
    binding_faults: tuple[str, ...]
    partial: bool
    n_expected: int
    n_rows: int
    audit: AuditSpec
    tokenizer: str
    """What a word and a token of code are, in words."""
    models: tuple[ModelAudit, ...]
    spend: Spend
    caveats: tuple[str, ...] = ()
    timing: Timing = Timing()
