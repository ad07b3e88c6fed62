"""What the page's script is given: the contract between the renderer and `web/scripts/data.js`.

The listing is read when the page opens and is small. Everything else of an answer is in the element of its question,
which is parsed when somebody looks at it, so that a page over thousands of rows opens as quickly as one over fifty.
"""

from __future__ import annotations

from core.model.evaluation import BlockKind, FewShots, Metric, UnscoredReason
from core.model.frozen import Frozen
from core.model.sample import QueryType
from core.model.syntax import Category, Validity

Text = int
"""The number of a text in the pool of its element."""


class ListedQuestion(Frozen):
    """A question as filters and list need it."""

    id: str
    type: QueryType
    language: str
    answerable: bool
    question: str


class ListedAnswer(Frozen):
    """One row. Written without its keys, which `Listing.columns` has once."""

    question: int
    """Position in `Listing.questions`."""
    suite: int
    """Position in `Listing.suites`."""
    run: int
    syntax: Validity | None
    category: Category | None
    raw: float | None
    final: float | None


class Listing(Frozen):
    """Every row in one line, ordered by question, suite and run."""

    suites: tuple[str, ...]
    metrics: tuple[Metric, ...]
    questions: tuple[ListedQuestion, ...]
    columns: tuple[str, ...] = tuple(ListedAnswer.model_fields)
    answers: tuple[tuple[int | float | str | None, ...], ...]
    """Each in the order of `columns`."""


class ShownFault(Frozen):
    """What the parser said of one place of a program."""

    line: int
    column: int
    category: Category
    offending: Text
    said: Text


class ShownBlock(Frozen):
    """A code block, in the place of the answer where it stands."""

    kind: BlockKind
    label: str
    closed: bool
    code: Text
    verdict: Validity | None
    faults: tuple[ShownFault, ...]


class ShownFinding(Frozen):
    """One thing that a judge was asked about, and what it said."""

    id: str
    text: Text
    value: int
    reason: Text


class ShownScore(Frozen):
    """One metric of one answer."""

    metric: Metric
    raw: float | None
    final: float | None
    reason: UnscoredReason | None
    detail: Text
    findings: tuple[ShownFinding, ...]


class ShownPassage(Frozen):
    """A retrieved passage: its number in the passages' own element, and its score in this search."""

    passage: int
    score: float


class ShownAnswer(Frozen):
    """All that the page tells of one row. Nothing the clock decides is in it."""

    suite: int
    run: int
    query: Text
    parts: tuple[Text | ShownBlock, ...]
    """The answer from top to bottom: prose and code."""
    stop: str
    fault: Text
    declined: bool | None
    passages: tuple[ShownPassage, ...]
    few_shots: FewShots
    scores: tuple[ShownScore, ...]
    models: tuple[str, ...]
    """Models that answered or judged."""


class ShownQuestion(Frozen):
    """One question with all its answers, in the order of the listing."""

    reference: Text
    gold_passages: tuple[str, ...]
    constructs: tuple[str, ...]
    answers: tuple[ShownAnswer, ...]
    texts: tuple[str, ...]


class PassageText(Frozen):
    """A passage as it was retrieved, once for all rows."""

    id: str
    section: str
    """What gold passages are named by."""
    source: str
    text: str
    code: str
    """Code that the text does not already show."""


class Passages(Frozen):
    """Every passage that any row retrieved."""

    passages: tuple[PassageText, ...]
