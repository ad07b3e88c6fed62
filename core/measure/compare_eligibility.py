"""Whether two suites may be compared at all, metric by metric, and what they differ in where they may."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from core.measure.compare_side import Contender
from core.model.comparison import CompareSpec, Difference, Factor
from core.model.judged import Metric
from core.model.record import ModelRecord, ParserRecord

JUDGE_PROMPT = "judge."
"""How the names of the judge's prompts begin."""

MEASURED_BY_EMBEDDING = (Metric.ANSWER_RELEVANCY, Metric.GLOBAL)
"""Metrics whose scale is that of an embedding model: cosines of two models are not on one scale."""


def incomparable(a: Contender, b: Contender, factor: Factor | None) -> tuple[str, ...]:
    """Every reason why the two may not be compared; empty when they may. A stated `factor` may differ."""
    return tuple(_reasons(a, b, factor))


def another_instrument(a: Contender, b: Contender, metric: str) -> str:
    """Why one metric is not the same quantity on both sides; empty when it is."""
    if metric not in MEASURED_BY_EMBEDDING or a.ruler == b.ruler:
        return ""
    return (
        f"answer relevancy was measured with two embedding models ({_versus(a.ruler, b.ruler)}), "
        "which have no common scale (relevancy_embedder gives all suites the same)"
    )


def differences(a: Contender, b: Contender) -> tuple[Difference, ...]:
    """All settings that the two do not share, by name."""
    return _differing(a.settings, b.settings)


def incomparable_settings(suites: Mapping[str, Mapping[str, str]], spec: CompareSpec) -> str:
    """The first fault of suites that are to be compared within one run, as far as their settings tell it.

    `suites` has the settings by suite. Empty when nothing speaks against it.
    """
    for (name, ours), (other, theirs) in combinations(suites.items(), 2):
        if spec.baseline is not None and spec.baseline not in {name, other}:
            continue
        for found in _differing(ours, theirs):
            if _must_agree(found.setting, spec.factor):
                remedy = " (or state it as the factor)" if found.setting == "retrieval.mode" else ""
                return f"{name} and {other} may not be compared: {found.setting} differs ({found.a}, {found.b}){remedy}"
    return ""


def _must_agree(setting: str, factor: Factor | None) -> bool:
    if setting == "retrieval.mode":
        return factor is not Factor.RETRIEVAL_MODE
    return setting.startswith(("judge.", "language."))


def _reasons(a: Contender, b: Contender, factor: Factor | None) -> Iterator[str]:
    if (a.side.run, a.side.suite) == (b.side.run, b.side.suite):
        yield "they are one and the same suite"
        return
    if a.dataset != b.dataset:
        yield f"the golden set differs ({_versus(a.dataset[:12], b.dataset[:12])})"
    modes = a.stood_on.retrieval_mode, b.stood_on.retrieval_mode
    if modes[0] != modes[1] and factor is not Factor.RETRIEVAL_MODE:
        yield f"the retrieval mode differs ({_versus(*modes)}) and is not stated as the factor"
    yield from _versions("metrics", a.record.metrics, b.record.metrics)
    yield from _prompts(a.record.prompts, b.record.prompts, factor)
    yield from _parsers(a.stood_on.parser, b.stood_on.parser)
    yield from _judges(a, b)


def _prompts(a: Mapping[str, str], b: Mapping[str, str], factor: Factor | None) -> Iterator[str]:
    changed = sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))
    judging = [name for name in changed if name.startswith(JUDGE_PROMPT)]
    answering = [name for name in changed if not name.startswith(JUDGE_PROMPT)]
    if judging:
        yield f"the judge's prompts differ ({', '.join(judging)})"
    if answering and factor is not Factor.ANSWER_PROMPTS:
        yield f"the assistant's prompts differ ({', '.join(answering)}) and are not stated as the factor"


def _parsers(a: ParserRecord, b: ParserRecord) -> Iterator[str]:
    if a.version != b.version:
        yield f"the parser's version differs ({_versus(a.version, b.version)})"
    if (a.vocabulary, a.vocabulary_sha256) != (b.vocabulary, b.vocabulary_sha256):
        names = (f"{side.vocabulary} {side.vocabulary_sha256[:12]}" for side in (a, b))
        yield f"the parser's vocabulary differs ({_versus(*names)})"
    if a.dialect != b.dialect:
        yield f"the parser's dialect differs ({_versus(a.dialect, b.dialect)})"
    if a.validating != b.validating:
        yield "one parser validates and the other only executes"


def _judges(a: Contender, b: Contender) -> Iterator[str]:
    ours, theirs = a.stood_on.judge, b.stood_on.judge
    if ours is None or theirs is None:
        yield "at least one of them was not judged"
    elif (ours.provider, ours.model) != (theirs.provider, theirs.model):
        names = (f"{judge.provider.value}/{judge.model}" for judge in (ours, theirs))
        yield f"the judge model differs ({_versus(*names)})"
    elif _asked(ours) != _asked(theirs):
        yield f"the judge was asked in another way ({_versus(_asked(ours), _asked(theirs))})"
    for found in differences(a, b):
        if found.setting in {"judge.effort", "judge.max_tokens"}:
            yield f"{found.setting} differs ({_versus(found.a, found.b)})"


def _asked(model: ModelRecord) -> str:
    return f"API {model.api_version}, temperature {model.temperature_asked} {model.temperature.value}"


def _versions(what: str, a: Sequence[str], b: Sequence[str]) -> Iterator[str]:
    ours, theirs = sorted(set(a) - set(b)), sorted(set(b) - set(a))
    if ours or theirs:
        yield f"the {what} differ in version ({_versus(', '.join(ours), ', '.join(theirs))})"


def _differing(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[Difference, ...]:
    return tuple(
        Difference(setting=setting, a=a.get(setting, "absent"), b=b.get(setting, "absent"))
        for setting in sorted(a.keys() | b.keys())
        if a.get(setting) != b.get(setting)
    )


def _versus(a: str, b: str) -> str:
    return f"{a or 'none'} against {b or 'none'}"
