"""Where the words of answers stand besides: in the passages, the examples, the question, the vocabulary, or nowhere.

A word counts as found in a text when it lies in a run of four words that the text has too: single words are in
everything. For the question and for AVAP's vocabulary, which are no running texts, the word itself is enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final

from core.measure.leakage.table import Table, share_of
from core.measure.leakage.words import Run, programs, prose, runs, words
from core.model.leakage import Arm, AuditedRow, ProvenanceLine, Source, TextPart
from core.model.sample import Passage

COVER: Final = 4
"""Words of a run that shows that a text was drawn on. Longer ones miss what was reworded a little, shorter ones find
what any two texts about AVAP share."""


def provenance(table: Table, vocabulary: Collection[str]) -> tuple[ProvenanceLine, ...]:
    """Every arm's code and prose by source. `vocabulary` holds every word that AVAP gives a meaning.

    Arms that withhold documents or examples are held against those of the full prompt: what they share with texts that
    they were never shown is what they would have shared anyway.
    """
    known = frozenset(vocabulary)
    return tuple(_line(table, arm, part, known) for arm in Arm for part in TextPart)


def _line(table: Table, arm: Arm, part: TextPart, vocabulary: frozenset[str]) -> ProvenanceLine:
    counts = {(row.id, row.run): _sources(row, table.material(row), part, vocabulary) for row in table.of(arm)}

    def read(row: AuditedRow, source: Source) -> float | None:
        found = counts[row.id, row.run]
        return found[source] / found.total() if found else None

    asked = tuple(question.id for question in table.questions)
    shares = {s: share_of(table.matrix(arm, lambda row, s=s: read(row, s), asked)) for s in Source}  # type: ignore[misc]
    return ProvenanceLine(arm=arm, part=part, words=sum(found.total() for found in counts.values()), shares=shares)


def _sources(row: AuditedRow, material: AuditedRow, part: TextPart, vocabulary: frozenset[str]) -> Counter[Source]:
    texts = programs(row) if part is TextPart.CODE else (prose(row),)
    passages, examples = _runs(material.passages), _runs(material.examples)
    asked = frozenset(words(row.question))
    counts: Counter[Source] = Counter()
    for text in map(words, texts):
        in_passages, in_examples = _covered(text, passages), _covered(text, examples)
        for at, word in enumerate(text):
            counts[_source(at in in_passages, at in in_examples, word in asked, word in vocabulary)] += 1
    return counts


def _source(in_passages: bool, in_examples: bool, in_question: bool, in_vocabulary: bool) -> Source:
    if in_passages and in_examples:
        return Source.PASSAGES_AND_EXAMPLES
    if in_passages or in_examples:
        return Source.PASSAGES if in_passages else Source.EXAMPLES
    if in_question:
        return Source.QUESTION
    return Source.VOCABULARY if in_vocabulary else Source.NONE


def _runs(shown: Iterable[Passage]) -> frozenset[Run]:
    return frozenset().union(*(runs(words(text), COVER) for passage in shown for text in (passage.text, passage.code)))


def _covered(text: tuple[str, ...], known: frozenset[Run]) -> frozenset[int]:
    """The places of `text` that lie in a run which is `known`."""
    starts = (at for at in range(len(text) - COVER + 1) if text[at : at + COVER] in known)
    return frozenset(place for at in starts for place in range(at, at + COVER))
