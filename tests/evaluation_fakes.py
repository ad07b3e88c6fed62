"""Ports that answer from a script, and remember in which order they were asked."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from manual_clock import ManualClock

from core.errors import ParserUnavailable
from core.model.frozen import digest
from core.model.prompt import Completion, Prompt, StopReason, Usage
from core.model.retrieval import IndexManifest, Query, TextKind
from core.model.sample import Passage
from core.model.syntax import Category, Diagnostic, Dialect, ParseResult, ParserInfo, Validity
from core.ports import Ports

Reply = str | Exception | Completion
Script = Callable[[Prompt], Reply]


def completion(prompt: Prompt, text: str, stop: StopReason = StopReason.END) -> Completion:
    key = digest(prompt)
    usage = Usage(input_tokens=10, output_tokens=5)
    return Completion(
        text=text, stop=stop, usage=usage, model=prompt.model, message_id=f"msg_{key[:8]}", key=key, cost_usd=0.25
    )


def task_of(prompt: Prompt) -> str:
    return prompt.name.partition("@")[0]


def ids_in(prompt: Prompt, tag: str) -> list[str]:
    return re.findall(rf'<{tag} id="([^"]+)"', prompt.turns[0].text)


def verdicts(prompt: Prompt, tag: str, name: str, value: int = 1, *, numbers: bool = True) -> str:
    ids = ids_in(prompt, tag)
    items = [{"id": int(i) if numbers else i, name: value, "reason": "because"} for i in ids]
    return json.dumps({"verdicts": items})


def statements(*texts: str) -> str:
    return json.dumps({"statements": [{"id": i, "text": text} for i, text in enumerate(texts, start=1)]})


def questions(*flags: int) -> str:
    items = [{"id": i, "question": f"what is {i}?", "noncommittal": flag} for i, flag in enumerate(flags, start=1)]
    return json.dumps({"questions": items})


CLEAN_JUDGE: dict[str, Script] = {
    "judge.statements": lambda _: statements("one claim", "another claim"),
    "judge.support": lambda prompt: verdicts(prompt, "statement", "supported"),
    "judge.questions": lambda _: questions(0, 0, 0),
    "judge.attribution": lambda prompt: verdicts(prompt, "statement", "attributed"),
    "judge.usefulness": lambda prompt: verdicts(prompt, "passage", "useful", numbers=False),
}


@dataclass
class ScriptedLlm:
    """core.ports.Llm: one script a task; every prompt is kept, and `log` is shared with the other ports."""

    scripts: dict[str, Script]
    log: list[str] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)

    async def complete(self, prompt: Prompt) -> Completion:
        self.log.append(task_of(prompt))
        self.prompts.append(prompt)
        reply = self.scripts[task_of(prompt)](prompt)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Completion) else completion(prompt, reply)


@dataclass
class ScriptedParser:
    """core.ports.Parser: INVALID for code that holds `BAD`; down when `down` is set."""

    down: bool = False
    log: list[str] = field(default_factory=list)
    parsed: list[str] = field(default_factory=list)

    async def parse(self, code: str) -> ParseResult:
        self.log.append("parse")
        self.parsed.append(code)
        if self.down:
            raise ParserUnavailable("no answer within 2 s", endpoint="127.0.0.1:1")
        return invalid() if "BAD" in code else valid("addVar")

    async def info(self) -> ParserInfo:
        return ParserInfo(
            version="1.0",
            vocabularies=(),
            dialects=(Dialect.STRICT,),
            trace_templates_sha256="",
            max_bytes=1,
            max_depth=1,
        )


def valid(*node_types: str) -> ParseResult:
    return ParseResult(verdict=Validity.VALID, node_types=dict.fromkeys(node_types, 1), parser_version="1.0")


def invalid(category: Category = Category.FOREIGN_KEYWORD) -> ParseResult:
    fault = Diagnostic(line=1, column=1, category=category, message="not AVAP")
    return ParseResult(
        verdict=Validity.INVALID, category=category, diagnostics=(fault,), trace=("line 1",), parser_version="1.0"
    )


class CountingEmbedder:
    """core.ports.Embedder: a text's vector is the counts of its letters."""

    dimensions = 26

    async def embed(self, texts: Sequence[str], *, kind: TextKind) -> Any:
        counts = [[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts]
        vectors = np.array(counts, dtype=np.float32).reshape(len(texts), 26)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


@dataclass
class FixedIndex:
    """core.ports.Index: the first k of the same passages, or an error."""

    passages: tuple[Passage, ...]
    error: Exception | None = None
    queries: list[Query] = field(default_factory=list)

    @property
    def manifest(self) -> IndexManifest:
        return manifest()

    async def search(self, query: Query) -> tuple[Passage, ...]:
        self.queries.append(query)
        if self.error is not None:
            raise self.error
        return self.passages[: query.k]


def manifest() -> IndexManifest:
    return IndexManifest(
        name="docs",
        version="1",
        engine="embedded@1",
        pipeline="avap_markdown@1",
        chunking="{}",
        embedder="e",
        embedder_name="letters",
        dimensions=26,
        corpus_sha256="c",
        count=3,
        built_at="2026-11-21T00:00:00Z",
    )


PASSAGES = tuple(
    Passage(id=f"reference/loops#{name}", text=f"text about {name}", source=f"loops > {name}", score=1.0 / rank)
    for rank, name in enumerate(("range", "nesting~2", "closing"), start=1)
)
EXAMPLES = tuple(
    Passage(id=f"ex-{i}", text=f"description {i}", code=f"addVar(x, {i})", score=0.9 - i / 10) for i in range(4)
)


def ports(
    generator: ScriptedLlm, judge: ScriptedLlm, parser: ScriptedParser, examples: FixedIndex | None = None
) -> Ports:
    return Ports(
        parser=parser,
        generator=generator,
        judge=judge,
        embedder=CountingEmbedder(),
        index=FixedIndex(PASSAGES),
        examples=examples,
        clock=ManualClock(),
    )
