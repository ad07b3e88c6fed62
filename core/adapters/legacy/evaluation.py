"""From an old file's JSON to what it says, with everything that it says otherwise, ambiguously or not at all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from core.adapters.legacy.places import ROOT, Finder, joined, leftovers
from core.adapters.legacy.scores import WrittenScore, read_scores, scale_of, written_scores
from core.adapters.legacy.visible import Check, counted, visible_code
from core.errors import ConfigError
from core.model.conduct import Conduct, IndexHistory, non_binding_reasons
from core.model.legacy import (
    EntryFact,
    Fact,
    FoundFact,
    FoundScore,
    LegacyEntry,
    LegacyEvaluation,
    LegacyMapping,
    LegacyMetric,
    ScaleRead,
)
from core.model.published import Recomputation
from core.model.sample import QueryType
from core.model.specs import LanguageSpec

NO_RECORD = "it was not written by Assay: nothing that it says of itself can be checked"
Recompute = Callable[[tuple[float, ...], float, int], Recomputation]
PARTS = (
    LegacyMetric.FAITHFULNESS,
    LegacyMetric.ANSWER_RELEVANCY,
    LegacyMetric.CONTEXT_RECALL,
    LegacyMetric.CONTEXT_PRECISION,
)
MOST_DECIMALS = 9
"""Beyond these a number is the whole float and not a rounded one."""


@dataclass(frozen=True)
class Source:
    """The file that is taken in."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Instruments:
    """What an old file is read with."""

    mapping: LegacyMapping
    language: LanguageSpec
    check: Check
    """The parser for `language`."""
    retired: Callable[[str], date | None]
    """The day a model stops answering."""
    recompute: Recompute
    """Global score from its parts: parts, score, decimals."""
    today: str
    scale: ScaleRead | None = None
    """What the scores range over; None leaves it to the file."""


@dataclass
class _Entry:
    """An entry on its way."""

    position: int
    finder: Finder
    id: str
    scores: dict[LegacyMetric, WrittenScore] = field(default_factory=dict)


def evaluation(data: Any, source: Source, tools: Instruments) -> LegacyEvaluation:
    """What `data`, the JSON of `source`, says. Raises ConfigError when no name of the mapping finds anything in it."""
    finder, complaints = Finder(data), list[str]()
    entries = _entries(finder, tools.mapping, complaints)
    facts = _facts(finder, tools.mapping, complaints)
    written = written_scores(finder, tools.mapping, complaints)
    for entry in entries:
        entry.scores = written_scores(entry.finder, tools.mapping, complaints)
    if not (facts or written or complaints or any(_says_something(entry, tools.mapping) for entry in entries)):
        raise ConfigError(
            f"{source.name}: no name of the mapping {tools.mapping.version} finds anything in it",
            file=source.name,
            remedy="add the names that it uses to configs/legacy.yaml, or give another file with --mapping",
        )
    scale = scale_of([*written.values(), *(s for entry in entries for s in entry.scores.values())], tools.scale)
    if scale is ScaleRead.UNDECIDED:
        complaints.append("some scores are above 1 and some below: say --scale share or --scale percent")
    scores = read_scores(written, scale, complaints)
    read = tuple(_entry(entry, scale, tools, complaints) for entry in entries)
    complaints.extend(_repeated(read))
    conduct = _conduct(facts, scores, tools)
    return LegacyEvaluation(
        source=source.name,
        sha256=source.sha256,
        size=source.size,
        mapping=tools.mapping.version,
        vocabulary=tools.language.vocabulary,
        dialect=tools.language.dialect,
        facts=facts,
        scale=scale,
        scores=scores,
        recomputed=_recomputed(scores, tools.recompute),
        entries=read,
        code=counted(read, sum(_answer(entry, tools.mapping) is not None for entry in entries)),
        conduct=conduct,
        non_binding=(NO_RECORD, *non_binding_reasons(conduct)),
        unknown=leftovers(data, finder.taken),
        complaints=tuple(complaints),
    )


def _entries(finder: Finder, mapping: LegacyMapping, complaints: list[str]) -> list[_Entry]:
    """The entries, from a list or from an object by id; a second place with entries is left and told."""
    lists = [
        (place, value) for place, value in finder.hits(mapping.entries) if _holds_entries(finder, place, value, mapping)
    ]
    if not lists:
        return []
    place, value = lists[0]
    complaints.extend(f"{other}: entries are taken from {place}, these are left out" for other, _ in lists[1:])
    at = "" if place == ROOT else place
    named = value.items() if isinstance(value, dict) else ((index, item) for index, item in enumerate(value))
    entries = []
    for position, (key, item) in enumerate(named):
        if isinstance(item, dict):
            entries.append(_Entry(position, finder.inside(joined(at, key), item), key if isinstance(key, str) else ""))
        else:
            complaints.append(f"{joined(at, key)}: an entry that is no object")
    return entries


def _holds_entries(finder: Finder, place: str, value: Any, mapping: LegacyMapping) -> bool:
    """Whether `value` is a list of objects, or an object of entries by id: not one of statistics by metric."""
    if isinstance(value, list):
        return any(isinstance(item, dict) for item in value)
    if not isinstance(value, dict) or place == ROOT:
        return False
    names = [name for aliases in mapping.entry.values() for name in aliases]
    return any(isinstance(item, dict) and finder.inside(place, item).hits(names) for item in value.values())


def _facts(finder: Finder, mapping: LegacyMapping, complaints: list[str]) -> dict[Fact, FoundFact]:
    found = {}
    for fact, names in mapping.facts.items():
        hits = [(place, value) for place, value in finder.hits(names) if not isinstance(value, dict | list)]
        for place, _ in hits:
            finder.take(place)
        if len({(type(value), value) for _, value in hits}) > 1:
            shown = ", ".join(f"{place} = {value!r}" for place, value in hits)
            complaints.append(f"{fact.value} stands there with different values, none is taken: {shown}")
        elif hits:
            found[fact] = FoundFact(place=hits[0][0], value=hits[0][1])
    return found


def _says_something(entry: _Entry, mapping: LegacyMapping) -> bool:
    return bool(entry.scores) or any(entry.finder.hits(names) for names in mapping.entry.values())


def _entry(entry: _Entry, scale: ScaleRead, tools: Instruments, complaints: list[str]) -> LegacyEntry:
    answer = _answer(entry, tools.mapping)
    kind = _text(entry, EntryFact.TYPE, tools.mapping)
    known = {each.value for each in QueryType}
    route = QueryType(kind.upper()) if kind.upper() in known else QueryType.RETRIEVAL
    is_preview = answer is not None and answer[0] is EntryFact.ANSWER_PREVIEW
    return LegacyEntry(
        position=entry.position,
        id=_text(entry, EntryFact.ID, tools.mapping) or entry.id,
        type=kind,
        question=_text(entry, EntryFact.QUESTION, tools.mapping),
        scores=read_scores(entry.scores, scale, complaints),
        is_preview=is_preview,
        code=None if answer is None else visible_code(answer[1], route, tools.check, is_preview=is_preview),
    )


def _answer(entry: _Entry, mapping: LegacyMapping) -> tuple[EntryFact, str] | None:
    """The answer, whole where it is there."""
    for kind in (EntryFact.ANSWER, EntryFact.ANSWER_PREVIEW):
        text = _text(entry, kind, mapping)
        if text:
            return kind, text
    return None


def _text(entry: _Entry, kind: EntryFact, mapping: LegacyMapping) -> str:
    for place, value in entry.finder.hits(mapping.entry.get(kind, ())):
        if isinstance(value, str | int) and not isinstance(value, bool):
            entry.finder.take(place)
            return str(value)
    return ""


def _repeated(entries: tuple[LegacyEntry, ...]) -> Iterator[str]:
    for name, times in Counter(entry.id for entry in entries if entry.id).items():
        if times > 1:
            yield f"the entry {name} is there {times} times"


def _conduct(facts: Mapping[Fact, FoundFact], scores: Mapping[LegacyMetric, FoundScore], tools: Instruments) -> Conduct:
    """What the file itself says of how it came about."""
    judge = _said(facts, Fact.JUDGE)
    end = tools.retired(judge) if judge else None
    registered = Fact.INDEX_VERSION in facts and Fact.PIPELINE in facts
    return Conduct(
        gate=True if LegacyMetric.SYNTACTIC_VALIDITY in scores else None,
        runs=_count(facts, Fact.RUNS, least=1),
        generator=_said(facts, Fact.GENERATOR),
        judge=judge,
        judge_retired=end.isoformat() if end is not None and end.isoformat() <= tools.today[:10] else "",
        seed=_count(facts, Fact.SEED),
        temperature=_real(facts, Fact.TEMPERATURE),
        few_shot_k=_count(facts, Fact.FEW_SHOT_K, least=0),
        retrieval_mode=_said(facts, Fact.RETRIEVAL_MODE),
        index=IndexHistory.REGISTERED if registered else IndexHistory.UNKNOWN,
        environment=_said(facts, Fact.ENVIRONMENT),
        container_image_digest=_said(facts, Fact.IMAGE_DIGEST),
        commit=_said(facts, Fact.COMMIT),
    )


def _said(facts: Mapping[Fact, FoundFact], fact: Fact) -> str:
    return str(facts[fact].value) if fact in facts else ""


def _count(facts: Mapping[Fact, FoundFact], fact: Fact, least: int | None = None) -> int | None:
    """A whole number; None for anything else, which then counts as not recorded."""
    text = _said(facts, fact)
    if not re.fullmatch(r"-?\d{1,18}", text) or (least is not None and int(text) < least):
        return None
    return int(text)


def _real(facts: Mapping[Fact, FoundFact], fact: Fact) -> float | None:
    value = facts[fact].value if fact in facts else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _recomputed(scores: Mapping[LegacyMetric, FoundScore], recompute: Recompute) -> Recomputation | None:
    wanted = [scores[metric] for metric in (*PARTS, LegacyMetric.GLOBAL) if metric in scores]
    values = [score.score for score in wanted if score.score is not None]
    if len(values) < len(PARTS) + 1:
        return None
    decimals = min(_decimals(value) for value in values)
    return recompute(tuple(values[:-1]), values[-1], decimals)


def _decimals(value: float) -> int:
    """Decimals that were written; a trailing zero cannot be told, so at least four."""
    return min(max(len(repr(value).partition(".")[2]), 4), MOST_DECIMALS)
