"""What the runs of several experiments stand on: data files, stored rows, the parser's record, planned calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol, Self, TypeVar

from pydantic import ValidationError

from core.errors import StoreError
from core.lab.experiment import CallEstimate, Cell
from core.model.prompt import Usage
from core.model.record import ParserRecord
from core.model.sample import GoldenQuestion
from core.model.specs import FewShotSpec, IndexSpec, LanguageSpec, ModelSpec, Positive
from core.model.syntax import ParserInfo


class AskedRow(Protocol):
    """A stored row of one question: a frozen pydantic model."""

    @property
    def id(self) -> str:
        """The question's."""

    @classmethod
    def model_validate_json(cls, json_data: str) -> Self:
        """The row in `json_data`."""


RowType = TypeVar("RowType", bound=AskedRow)


class AssistantSpec(Protocol):
    """A suite's configuration, as far as it names data."""

    @property
    def index(self) -> IndexSpec:
        """The corpus."""

    @property
    def language(self) -> LanguageSpec:
        """The vocabulary."""

    @property
    def few_shot(self) -> FewShotSpec:
        """The few-shot pool."""


def data_files(golden: str, suites: Iterable[AssistantSpec], configs: Path) -> list[Path]:
    """Golden set, corpora, few-shot pools and vocabularies, sorted."""
    from core.adapters.domain import example_files
    from core.adapters.ingest import corpus_files
    from core.adapters.languages import VOCABULARIES, load_vocabulary

    files = {configs / golden}
    for suite in suites:
        files.update(corpus_files(configs / suite.index.corpus, suite.index.pipelines))
        vocabulary = load_vocabulary(suite.language.vocabulary, configs / VOCABULARIES)
        files.add(configs / VOCABULARIES / f"{vocabulary.id}.yaml")
        if suite.few_shot.k:
            files.update(example_files(configs / suite.few_shot.pool))
    return sorted(files)


def questions_of(golden: str, configs: Path, first: Positive | None) -> tuple[GoldenQuestion, ...]:
    """The golden set, or the `first` so many questions of it."""
    from core.adapters.domain import load_golden

    return load_golden(configs / golden)[:first]


def read_rows(
    kind: type[RowType],
    stored: Sequence[str],
    cell: Cell,
    asked: Sequence[GoldenQuestion],
    cell_of: Callable[[RowType], str],
) -> Sequence[RowType]:
    """The stored rows of `cell`, whose id `cell_of` finds in each, on questions of `asked`.

    Raises StoreError for any other: whoever edits a journal should hear of it.
    """
    known = frozenset(question.id for question in asked)
    rows = [read_row(kind, row, cell.id) for row in stored]
    for row, text in zip(rows, stored, strict=True):
        if cell_of(row) != cell.id or row.id not in known:
            raise _damaged(cell.id, text, f"it is that of {row.id} in {cell_of(row)}")
    return rows


def read_row(kind: type[RowType], stored: str, cell: str) -> RowType:
    """A stored row of the cell with the id `cell`. Raises StoreError where it is none."""
    try:
        return kind.model_validate_json(stored)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise _damaged(cell, stored, f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error


def _damaged(cell: str, stored: str, what: str) -> StoreError:
    return StoreError(
        f"a row of cell {cell} is not as this run wrote it: {what} ({stored[:40]}...)",
        remedy="restore cells/ from a copy, or run again with --fresh (the old run is kept aside)",
    )


def parser_record(info: ParserInfo, language: LanguageSpec) -> ParserRecord:
    """The gate as a record pins it."""
    vocabulary = next(v for v in info.vocabularies if v.id == language.vocabulary)
    return ParserRecord(
        version=info.version,
        vocabulary=vocabulary.id,
        vocabulary_sha256=vocabulary.sha256,
        dialect=language.dialect.value,
        trace_templates_sha256=info.trace_templates_sha256,
        validating=info.validating,
    )


TOKENS_PER_WORD = 1.6
"""Of prose mixed with code; an estimate for planning only."""
EXAMPLE_WORDS, ANSWER_WORDS, INSTRUCTION_WORDS = 60, 180, 120


def estimated(
    role: str, spec: ModelSpec, *, calls: int, words_in: float, words_out: float, configs: Path
) -> CallEstimate:
    """What `calls` calls of one role will ask, with `words_in` and `words_out` words in all."""
    usage = Usage(
        input_tokens=round(words_in * TOKENS_PER_WORD),
        output_tokens=round(words_out * TOKENS_PER_WORD),
    )
    return CallEstimate(
        role=role,
        model=spec.model,
        calls=calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        usd=_usd(spec, usage, configs),
    )


def _usd(spec: ModelSpec, usage: Usage, configs: Path) -> float | None:
    from core.adapters.llm.prices import PRICES, Tariff, load_prices

    table = load_prices(configs / PRICES)
    price = table.price(spec)
    return None if price is None else float(Tariff(price, table.version).cost(usage))
