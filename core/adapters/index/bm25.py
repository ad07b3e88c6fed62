"""BM25 over passages, by tantivy (k1 = 1.2, b = 0.75)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tantivy

from core.adapters.index.terms import terms
from core.model.sample import Passage

BOOSTS = {"content": 2.0, "text": 2.0}
"""Field -> weight. `content` is the whole passage, `text` its titles; a passage scores as its better field."""

LONGEST_QUERY = 1024
"""Terms of a query that count; Elasticsearch's limit too."""

_WRITER_BYTES = 50_000_000
_ROW = "row"


def write_bm25(folder: Path, passages: Sequence[Passage]) -> None:
    """Index `passages`, in one segment in their order, into the new folder `folder`. Raises OSError."""
    folder.mkdir()
    writer = tantivy.Index(_schema(), path=str(folder)).writer(_WRITER_BYTES, num_threads=1)
    for row, passage in enumerate(passages):
        title = passage.metadata.get("title", passage.source)
        writer.add_document(tantivy.Document(row=row, content=_joined(passage.text), text=_joined(title)))
    try:
        writer.commit()
        writer.wait_merging_threads()
    except ValueError as error:
        raise OSError(f"tantivy: {error}") from error


class Bm25:
    """An index written by `write_bm25`. Raises OSError or ValueError when it cannot be opened."""

    def __init__(self, folder: Path) -> None:
        index = tantivy.Index.open(str(folder))
        self._schema = index.schema
        self._searcher = index.searcher()

    def matching(self, text: str, depth: int) -> list[tuple[int, float]]:
        """The best `depth` rows and their scores, best first, equal ones by row; none without a common term."""
        words = terms(text)[:LONGEST_QUERY]
        if not words:
            return []
        hits = self._searcher.search(self._query(words), limit=depth, count=False).hits
        rows = self._searcher.fast_field_values(_ROW, [address for _, address in hits])
        found = [(int(row or 0), float(score)) for row, (score, _) in zip(rows, hits, strict=True)]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))

    def _query(self, words: Sequence[str]) -> Any:
        fields = [
            tantivy.Query.boost_query(
                tantivy.Query.boolean_query(
                    [
                        (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, field, word, "freq"))
                        for word in words
                    ]
                ),
                boost,
            )
            for field, boost in BOOSTS.items()
        ]
        return tantivy.Query.disjunction_max_query(fields)


def _schema() -> Any:
    builder = tantivy.SchemaBuilder()
    for field in BOOSTS:
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="freq")
    builder.add_integer_field(_ROW, fast=True)
    return builder.build()


def _joined(text: str) -> str:
    """`text` as our own terms, which tantivy then only has to take apart at the spaces."""
    return " ".join(terms(text))
