"""One question of the leakage audit: answered under one arm, its code put before the gate, nothing judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from core.avap import Vocabulary
from core.avap.foreign import Construct, language_of
from core.avap.vocabulary import BUILTINS
from core.checks.syntax import Examination
from core.flows.answer import Answer, AssistantSettings, Documents, answer
from core.flows.concurrency import bounded
from core.flows.evaluate import gate
from core.measure.leakage.words import words
from core.model.judged import Block, BlockKind
from core.model.leakage import Arm, AuditedRow
from core.model.prompt import Prompt
from core.model.sample import GoldenQuestion, Sample
from core.model.specs import FewShotSpec, ModelSpec, RetrievalSpec
from core.model.syntax import Category, Validity
from core.ports import Clock, Index, Llm, Parser

UNKNOWN_LANGUAGE: Final = "unknown"
_NOTHING_TOLD: Final = Construct("")


@dataclass(frozen=True)
class AuditPorts:
    """What the audit of one model reaches: core.flows.answer.AssistantPorts, and the gate."""

    parser: Parser
    generator: Llm
    index: Index
    examples: Index | None
    clock: Clock


@dataclass(frozen=True)
class Audited:
    """The model under audit."""

    suite: str
    generator: ModelSpec
    retrieval: RetrievalSpec
    few_shot: FewShotSpec
    names: frozenset[str]
    """Names that only AVAP has: see `distinctive`."""
    ports: AuditPorts

    def under(self, arm: Arm) -> AssistantSettings:
        """The assistant as `arm` wants it."""
        return AssistantSettings(
            suite=self.suite,
            generator=self.generator,
            retrieval=self.retrieval,
            few_shot=self.few_shot if arm.has_examples else self.few_shot.model_copy(update={"k": 0}),
            documents=Documents.SHOWN if arm.has_documents else Documents.WITHHELD,
        )


def distinctive(vocabulary: Vocabulary) -> frozenset[str]:
    """The commands and keywords with a capital inside, as `addParam`: no other language has them.

    Plain words such as `go`, `return` or `replace` are left out, since they prove nothing.
    """
    return frozenset(name for name in known_words(vocabulary) if name[1:] != name[1:].lower())


def known_words(vocabulary: Vocabulary) -> frozenset[str]:
    """Every word that AVAP gives a meaning."""
    return frozenset({*vocabulary.spellings, *vocabulary.keywords, *BUILTINS})


def audit_answers(
    questions: Sequence[GoldenQuestion],
    finished: Collection[str],
    *,
    arm: Arm,
    run: int,
    audited: Audited,
    in_flight: int = 4,
) -> AsyncGenerator[AuditedRow, None]:
    """The rows of one run under one arm for the questions not in `finished`, as they are done.

    Only whole rows come out. On EvaluationAbortedError, or any other error of the run, rows underway are cancelled.
    """

    async def body(question: GoldenQuestion) -> AuditedRow:
        return await audit_answer(question, arm=arm, run=run, audited=audited)

    return bounded(body, [question for question in questions if question.id not in finished], in_flight=in_flight)


async def audit_answer(question: GoldenQuestion, *, arm: Arm, run: int, audited: Audited) -> AuditedRow:
    """Answer one question under `arm`. The search query is the same in all arms of a run: it is one recorded reply.

    Raises EvaluationAbortedError when the parser cannot be asked, and whatever core.flows.answer.answer raises.
    """
    ports = audited.ports
    started = ports.clock.monotonic()
    given = await answer(question, run=run, settings=audited.under(arm), ports=ports)
    sample = Sample(id=question.id, question=question.question, answer=given.text, route=question.type)
    examination = await gate(sample, ports.parser)
    return AuditedRow(
        id=question.id,
        suite=audited.suite,
        arm=arm,
        run=run,
        type=question.type,
        language=question.language,
        question=question.question,
        reference=question.ground_truth,
        query=given.query,
        passages=given.passages,
        examples=given.examples,
        few_shots=given.few_shots,
        answer=given.text,
        answer_stop=given.stop,
        answer_fault=given.fault,
        message_id=given.message_id,
        blocks=examination.blocks,
        syntax=examination.validity,
        category=examination.category,
        unprompted=_unprompted(examination, given, audited.names),
        foreign=foreign_words(examination.blocks),
        calls=given.calls,
        elapsed_s=ports.clock.monotonic() - started,
    )


def _unprompted(examination: Examination, given: Answer, names: frozenset[str]) -> tuple[str, ...]:
    """The distinctive names in VALID code that the prompt does not hold, sorted; none unless all code is VALID."""
    if examination.validity is not Validity.VALID:
        return ()
    used = {word for block in examination.blocks if block.kind is BlockKind.CODE for word in words(block.code)}
    return tuple(sorted((used & names) - _prompted(given.prompt)))


def _prompted(prompt: Prompt) -> frozenset[str]:
    return frozenset(word for text in (prompt.system, *(turn.text for turn in prompt.turns)) for word in words(text))


def foreign_words(blocks: Iterable[Block]) -> dict[str, int]:
    """Language -> words of code that are not AVAP but look like it.

    Counted are all words of blocks that are labelled as another language, and in AVAP blocks those on the lines where
    the parser found a construct of another language: a lower bound, since what such a line leads in is not counted.
    """
    counts: Counter[str] = Counter()
    for block in blocks:
        if block.kind is BlockKind.FOREIGN:
            counts[block.label or UNKNOWN_LANGUAGE] += len(words(block.code))
        elif block.result is not None:
            _count_lines(block, counts)
    return dict(sorted(counts.items()))


def _count_lines(block: Block, counts: Counter[str]) -> None:
    assert block.result is not None
    lines = block.code.split("\n")
    faulty = {found.line for found in block.result.diagnostics if found.category is Category.FOREIGN_KEYWORD}
    before: str | None = None
    for number in sorted(number for number in faulty if 1 <= number <= len(lines)):
        before = language_of(lines[number - 1], _NOTHING_TOLD, before)
        counts[before or UNKNOWN_LANGUAGE] += len(words(lines[number - 1]))
