"""Embedding with sentence-transformers. Imports torch only when a vector is first needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from core.adapters.embed.source import Origin, Source
from core.errors import ConfigError, EmbedderUnavailable
from core.model.retrieval import TextKind
from core.model.specs import EmbedderSpec

if TYPE_CHECKING:
    from core.ports import Matrix


SMALL = 100_000_000
"""Parameters below which a model computes on one thread of the processor.

Waiting for each other costs its threads more than they gain: a query to MiniLM on two busy cores took 300 to 700 ms
with two threads and 33 ms with one. And its vectors are then the same at any number of cores.
"""


class SentenceEncoder:
    """Encoder over one loaded model, in single precision whatever its files hold.

    A query is one forward pass of its own, so that its vector is bit-identical whatever is embedded beside it.
    Documents go through in batches of `batch_size`, sorted by length and text: the company a document is embedded in
    can change its last bits (about 1e-7), which `batch_size: 1` rules out.
    """

    def __init__(self, spec: EmbedderSpec, source: Source, *, device: str | None) -> None:
        self._spec = spec
        self._source = source
        self._device = device
        self._loaded: Any = None

    @property
    def dimensions(self) -> int:
        """Length of a vector, after truncation."""
        return self._spec.dimensions or int(self._model().get_embedding_dimension())

    def encode(self, texts: Sequence[str], kind: TextKind) -> Iterator[tuple[Sequence[int], Matrix]]:
        """Batches of vectors, the shortest texts first; of length 1 when the spec says `normalize`."""
        size = 1 if kind is TextKind.QUERY else self._spec.batch_size
        prompt = self._spec.query_prompt if kind is TextKind.QUERY else self._spec.document_prompt
        order = sorted(range(len(texts)), key=lambda place: (len(texts[place]), texts[place], place))
        for start in range(0, len(order), size):
            places = order[start : start + size]
            yield places, self._forward([texts[place] for place in places], prompt)

    def _forward(self, batch: list[str], prompt: str) -> Matrix:
        model = self._model()
        try:
            with _threads(model):
                vectors: Matrix = model.encode(
                    batch,
                    prompt=prompt,
                    batch_size=len(batch),
                    show_progress_bar=False,
                    normalize_embeddings=self._spec.normalize,
                    truncate_dim=self._spec.dimensions,
                )
        except Exception as error:
            raise self._unavailable(error, "embed", "try a smaller batch_size or max_tokens") from error
        return vectors

    def _model(self) -> Any:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def _load(self) -> Any:
        try:
            with _quiet():
                model = self._construct()
        except ImportError as error:
            raise self._unavailable(error, "load", "pip install 'assay-lab[embed]'") from error
        except Exception as error:
            raise self._unavailable(error, "load", self._remedy()) from error
        self._fit(model)
        return model

    def _construct(self) -> Any:
        from sentence_transformers import SentenceTransformer  # 4 s and 1 GB

        return SentenceTransformer(
            self._source.location,
            device=self._device,
            revision=self._spec.revision or None,
            local_files_only=self._source.origin is not Origin.HUB,
            model_kwargs={"dtype": "float32"},
        )

    def _fit(self, model: Any) -> None:
        """Apply the spec's lengths. Raises ConfigError for more than the model has."""
        widest = int(model.get_embedding_dimension())
        longest = getattr(getattr(model[0], "config", None), "max_position_embeddings", None)
        for field, asked, most in (
            ("dimensions", self._spec.dimensions, widest),
            ("max_tokens", self._spec.max_tokens, longest),
        ):
            if asked is not None and most is not None and asked > most:
                raise ConfigError(
                    f"{self._spec.model} has {field} up to {most}, not {asked}",
                    path=f"index.embedder.{field}",
                    remedy=f"ask for at most {most}",
                )
        if self._spec.max_tokens is not None:
            model.max_seq_length = self._spec.max_tokens

    def _remedy(self) -> str:
        if self._source.origin is Origin.HUB:
            return "check the id, the revision and the connection, or name a folder that holds the model"
        return f"check the model's files in {self._source.location}"

    def _unavailable(self, error: Exception, verb: str, remedy: str) -> EmbedderUnavailable:
        return EmbedderUnavailable(
            f"{self._spec.model} could not {verb}: {type(error).__name__}: {error}",
            endpoint=self._spec.model,
            remedy=remedy,
        )


@contextmanager
def _threads(model: Any) -> Iterator[None]:
    """One thread for a small model, as many as torch likes for others."""
    import torch

    before = torch.get_num_threads()
    if sum(weights.numel() for weights in model.parameters()) < SMALL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the progress bars and advice of the libraries below, whose settings are put back."""
    logging: Any = import_module("transformers.utils.logging")
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
