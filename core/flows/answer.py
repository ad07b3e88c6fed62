"""One question through the assistant under test: reformulate, retrieve, choose examples, generate."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from core.checks.judge import call_of, concerns_one_sample
from core.errors import EmbedderUnavailable, IndexUnavailable, LlmRefused
from core.flows.prompts import answer_prompt, reformulate_prompt, unaided_prompt
from core.model.frozen import Frozen
from core.model.judged import Call, FewShots
from core.model.prompt import Completion, Prompt, StopReason
from core.model.record import FewShotStatus
from core.model.retrieval import Query, RetrievalMode
from core.model.sample import GoldenQuestion, Passage
from core.model.specs import FewShotSpec, ModelSpec, Positive, RetrievalSpec
from core.ports import Index, Llm


class Documents(StrEnum):
    """Whether the assistant is shown what was found."""

    SHOWN = "shown"
    WITHHELD = "withheld"
    """Nothing is searched, and the prompt says so: the control of a leakage audit."""


class AssistantSettings(Frozen):
    """The assistant under test."""

    suite: str
    generator: ModelSpec
    retrieval: RetrievalSpec = RetrievalSpec()
    few_shot: FewShotSpec = FewShotSpec()
    documents: Documents = Documents.SHOWN


class EvaluationSettings(AssistantSettings):
    """What one suite runs: the assistant under test and its judge."""

    judge: ModelSpec
    judge_repeats: Positive = 1
    """How often the judge scores each answer; only the first time makes its score."""


class AssistantPorts(Protocol):
    """What an assistant reaches: the part of core.ports.Ports that answering needs."""

    @property
    def generator(self) -> Llm:
        """The model that answers."""

    @property
    def index(self) -> Index:
        """The documentation."""

    @property
    def examples(self) -> Index | None:
        """The few-shot pool; None when it is unavailable."""


@dataclass(frozen=True)
class Answer:
    """An answer and all that it stood on. `fault` is the provider's word when it refused to give one."""

    query: str
    passages: tuple[Passage, ...]
    few_shots: FewShots
    examples: tuple[Passage, ...]
    """The few-shot examples themselves, nearest first."""
    prompt: Prompt
    """The request for the answer."""
    text: str
    stop: StopReason
    message_id: str
    calls: tuple[Call, ...]
    fault: str = ""


async def answer(question: GoldenQuestion, *, run: int, settings: AssistantSettings, ports: AssistantPorts) -> Answer:
    """Answer `question` as in run number `run`; runs never share a reply.

    A refusal of this one request is an empty answer with a fault. Raises DependencyDown, BudgetExhausted, and
    LlmRefused where every request would be refused.
    """
    asked = await _complete(ports.generator, reformulate_prompt(question, settings.generator, repeat=run))
    query = _query(asked, question)
    few_shots, examples = await nearest_examples(query, settings.few_shot, ports.examples)
    if settings.documents is Documents.SHOWN:
        retrieval = settings.retrieval
        passages = await ports.index.search(Query(text=query, mode=retrieval.mode, k=retrieval.k))
        prompt = answer_prompt(question, passages, examples, settings.generator, repeat=run)
    else:
        passages, prompt = (), unaided_prompt(question, examples, settings.generator, repeat=run)
    reply = await _complete(ports.generator, prompt)
    return Answer(
        query=query,
        passages=passages,
        few_shots=few_shots,
        examples=examples,
        prompt=prompt,
        text=reply.text,
        stop=reply.stop,
        message_id=reply.message_id,
        calls=asked.calls + reply.calls,
        fault=reply.fault,
    )


async def nearest_examples(query: str, spec: FewShotSpec, pool: Index | None) -> tuple[FewShots, tuple[Passage, ...]]:
    """The `spec.k` examples most similar to `query`, nearest first. A pool that fails degrades, it does not raise."""
    if spec.k == 0:
        return FewShots(status=FewShotStatus.OFF, k_configured=0), ()
    if pool is None:
        return _degraded(spec, "the pool is not available"), ()
    try:
        found = await pool.search(Query(text=query, mode=RetrievalMode.KNN_ONLY, k=spec.k))
    except (IndexUnavailable, EmbedderUnavailable) as error:
        return _degraded(spec, f"{type(error).__name__}: {error}"), ()
    few_shots = FewShots(
        status=FewShotStatus.OK,
        k_configured=spec.k,
        ids=tuple(example.id for example in found),
        similarities=tuple(example.score for example in found),
    )
    return few_shots, found


@dataclass(frozen=True)
class _Reply:
    text: str
    stop: StopReason
    message_id: str = ""
    calls: tuple[Call, ...] = ()
    fault: str = ""


async def _complete(llm: Llm, prompt: Prompt) -> _Reply:
    try:
        completion: Completion = await llm.complete(prompt)
    except LlmRefused as error:
        if not concerns_one_sample(error):
            raise
        return _Reply("", StopReason.REFUSAL, fault=str(error) or "refused")
    calls = (call_of(prompt.name, "generator", completion),)
    return _Reply(completion.text, completion.stop, completion.message_id, calls)


def _query(asked: _Reply, question: GoldenQuestion) -> str:
    """The reformulated question on one line; the question itself where the model gave nothing usable."""
    usable = asked.stop is not StopReason.REFUSAL
    return (" ".join(asked.text.split()) if usable else "") or question.question


def _degraded(spec: FewShotSpec, reason: str) -> FewShots:
    return FewShots(status=FewShotStatus.DEGRADED, k_configured=spec.k, reason=reason)
