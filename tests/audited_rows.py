"""Rows of a leakage audit, for tests of what is counted over them."""

from __future__ import annotations

from typing import Any

from evaluation_fakes import invalid, valid

from core.checks.blocks import code_blocks
from core.model.judged import BlockKind, FewShots
from core.model.leakage import Arm, AuditedRow
from core.model.prompt import StopReason
from core.model.record import FewShotStatus
from core.model.sample import GoldenQuestion, Passage, QueryType
from core.model.syntax import Validity

PROGRAM = 'addParam("shop", shop)\nstartLoop(i, 1, 3)\n    addVar(total, total + i)\nendLoop()\naddResult(total)'
OTHER = 'getDateTime("%Y", 0, "UTC", year)\nif(year, 2026, "==")\n    addVar(message, "now")\nend()\naddResult(message)'
MANUAL = Passage(id="manual#loops", text="A loop begins with startLoop and runs to its upper bound.", code="")
EXAMPLE = Passage(id="FS-1", text="Sum up.", code=PROGRAM)


def asked(number: int, **changed: Any) -> GoldenQuestion:
    fields: dict[str, Any] = {
        "id": f"Q-{number:02}",
        "type": QueryType.CODE_GENERATION,
        "language": "en",
        "question": f"how is thing number {number} done",
        "ground_truth": f"thing number {number} is done by writing seven more words about {number} here",
    }
    return GoldenQuestion(**{**fields, **changed})


def said(code: str, prose: str = "So it is done.") -> str:
    return f"{prose}\n\n```avap\n{code}\n```" if code else prose


def audited(
    question: GoldenQuestion,
    arm: Arm = Arm.BOTH,
    run: int = 1,
    *,
    answer: str = "I do not know.",
    syntax: Validity = Validity.VALID,
    **changed: Any,
) -> AuditedRow:
    """A row whose code blocks, if `answer` has any, the parser called `syntax`."""
    result = valid("addVar") if syntax is Validity.VALID else invalid()
    blocks = tuple(
        block.model_copy(update={"result": result}) if block.kind is BlockKind.CODE else block
        for block in code_blocks(answer, question.type)
    )
    bears = any(block.kind is BlockKind.CODE for block in blocks)
    fields: dict[str, Any] = {
        "id": question.id,
        "suite": "main",
        "arm": arm,
        "run": run,
        "type": question.type,
        "language": question.language,
        "question": question.question,
        "reference": question.ground_truth,
        "query": question.question,
        "passages": (MANUAL,) if arm.has_documents else (),
        "examples": (EXAMPLE,) if arm.has_examples else (),
        "few_shots": FewShots(status=FewShotStatus.OK, k_configured=1),
        "answer": answer,
        "answer_stop": StopReason.END,
        "message_id": "",
        "blocks": blocks,
        "syntax": syntax if bears else None,
        "category": result.category if bears else None,
        "calls": (),
        "elapsed_s": 1.0,
    }
    return AuditedRow(**{**fields, **changed})
