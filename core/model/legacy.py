"""An evaluation file from before Assay: how its fields are found, and what was found in it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from core.model.conduct import Conduct
from core.model.frozen import Frozen
from core.model.published import Recomputation
from core.model.syntax import Category, Dialect

JsonValue = str | int | float | bool


class Fact(StrEnum):
    """What a file may say of its evaluation as a whole."""

    GENERATOR = "generator"
    EMBEDDING = "embedding"
    INDEX = "index"
    INDEX_VERSION = "index_version"
    PIPELINE = "pipeline"
    JUDGE = "judge"
    DATE = "date"
    QUESTIONS = "questions"
    RUNS = "runs"
    VERDICT = "verdict"
    SEED = "seed"
    TEMPERATURE = "temperature"
    FEW_SHOT_K = "few_shot_k"
    RETRIEVAL_MODE = "retrieval_mode"
    ENVIRONMENT = "environment"
    IMAGE_DIGEST = "image_digest"
    COMMIT = "commit"


class LegacyMetric(StrEnum):
    """The scores that are looked for, of the whole and of each entry."""

    FAITHFULNESS = "faithfulness"
    ANSWER_RELEVANCY = "answer_relevancy"
    CONTEXT_RECALL = "context_recall"
    CONTEXT_PRECISION = "context_precision"
    GLOBAL = "global_score"
    SYNTACTIC_VALIDITY = "syntactic_validity"


class EntryFact(StrEnum):
    """What a file may say of one entry, its scores apart."""

    ID = "id"
    TYPE = "type"
    QUESTION = "question"
    ANSWER = "answer"
    """The whole answer."""
    ANSWER_PREVIEW = "answer_preview"
    """Its beginning."""


class LegacyMapping(Frozen):
    """The accepted names of every field: dotted places, compared by letters and digits alone, `.` being the file."""

    version: str
    """As `legacy@1`; whoever changes what a mapping finds raises it."""
    facts: Mapping[Fact, tuple[str, ...]]
    metrics: Mapping[LegacyMetric, tuple[str, ...]]
    containers: tuple[str, ...]
    """Places below which scores may stand."""
    statistics: tuple[str, ...]
    """Keys below a metric's name that hold its mean."""
    entries: tuple[str, ...]
    """Places of the list of entries."""
    entry: Mapping[EntryFact, tuple[str, ...]]


class ScaleRead(StrEnum):
    """What the numbers of a file range over."""

    SHARE = "share"
    """0 to 1."""
    PERCENT = "percent"
    """0 to 100."""
    UNDECIDED = "undecided"
    """Some scores lie above 1 and some below it: no scale is taken for granted, and no score is read."""


class FoundFact(Frozen):
    """A value with the place where it stands."""

    place: str
    value: JsonValue


class FoundScore(Frozen):
    """A score with the place where it stands."""

    place: str
    written: JsonValue | None
    """As the file has it."""
    score: float | None
    """From 0 to 1 (a cosine down to -1); None where it could not be read or none was given."""


class Visible(StrEnum):
    """What the parser can say of the code in an answer of which not all may be there."""

    INVALID = "invalid"
    """Whatever follows."""
    SUSPECTED = "suspected"
    """Unknown names in a block that is cut: what was cut off may define them."""
    UNDECIDED = "undecided"
    """A block that is cut, without a fault so far."""
    CLEAN = "clean"
    """Every block is whole and valid, as far as the text goes."""


class VisibleCode(Frozen):
    """The code blocks of one entry, as far as they can be seen."""

    blocks: int
    cut: bool
    """Whether a block ends with the text instead of its fence."""
    verdict: Visible
    category: Category | None = None
    """Of the first fault that counts."""
    message: str = ""


class LegacyEntry(Frozen):
    """One question of a file."""

    position: int
    """From 0."""
    id: str = ""
    """Empty where none is given."""
    type: str = ""
    question: str = ""
    scores: Mapping[LegacyMetric, FoundScore] = {}
    is_preview: bool = False
    """Whether only the beginning of the answer is there."""
    code: VisibleCode | None = None
    """None for an answer that shows no code, or no answer."""


class CodeCounts(Frozen):
    """What the parser could see in all entries together. From previews, all of these are lower bounds."""

    answers: int
    """Entries with an answer or a preview."""
    previews: int
    code_bearing: int
    verdicts: Mapping[Visible, int]


class LegacyEvaluation(Frozen):
    """One imported file. It is never binding."""

    schema_version: int = 1
    source: str
    """The file's name when it was imported."""
    sha256: str
    size: int
    mapping: str
    vocabulary: str
    dialect: Dialect
    facts: Mapping[Fact, FoundFact]
    scale: ScaleRead
    scores: Mapping[LegacyMetric, FoundScore]
    recomputed: Recomputation | None
    """Of the global score, where it and its four parts are there."""
    entries: tuple[LegacyEntry, ...]
    code: CodeCounts
    conduct: Conduct
    non_binding: tuple[str, ...] = Field(min_length=1)
    unknown: Mapping[str, int]
    """Places that no name of the mapping stands for, with `*` for a position -> how often they occur."""
    complaints: tuple[str, ...]
    """What was there and could not be taken: ambiguous, unreadable, twice."""
