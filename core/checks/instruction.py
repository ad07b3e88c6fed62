"""A versioned instruction to a model, and the request it makes of some sections."""

from __future__ import annotations

from dataclasses import dataclass

from core.checks.replies import ReplyShape
from core.model.frozen import digest
from core.model.prompt import Prompt, Role, Turn
from core.model.specs import ModelSpec


@dataclass(frozen=True)
class Instruction:
    """One task. A changed text, shape or layout is another version."""

    task: str
    version: int
    text: str
    shape: ReplyShape | None = None
    """Of a structured reply; None for free text."""

    @property
    def name(self) -> str:
        """As written in records: `judge.support@1`."""
        return f"{self.task}@{self.version}"

    @property
    def system(self) -> str:
        """The system text: a line that names the task, then what to do."""
        return f"<task>{self.task}</task>\n{self.text}"

    @property
    def sha256(self) -> str:
        """Digest of everything that this instruction sends whatever the sample."""
        return digest({"system": self.system, "schema": self.shape.schema() if self.shape else None})

    def prompt(self, model: ModelSpec, *sections: str, repeat: int) -> Prompt:
        """The request: `sections` in one user turn."""
        return Prompt(
            name=self.name,
            model=model.model,
            system=self.system,
            turns=(Turn(role=Role.USER, text="\n".join(sections)),),
            max_tokens=model.max_tokens,
            output_schema=self.shape.schema() if self.shape else None,
            effort=model.effort,
            temperature=model.temperature,
            repeat=repeat,
        )
