"""Suites compared on the same questions, as one family of tests: which is better, and whether that may be said.

Metrics are tested by sign flips of the questions' paired differences, syntactic validity by McNemar's exact test, and
Holm's correction runs over all tests of all pairs. A difference is claimed only when the adjusted p-value is at most
1 - level and the interval leaves zero out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeVar

from core.measure.compare_eligibility import differences, incomparable
from core.measure.compare_sentences import Terms, sentence
from core.measure.compare_side import Contender
from core.measure.compare_tests import Key, Tested, tested
from core.measure.multiplicity import holm
from core.measure.power import minimum_detectable_effect, questions_needed
from core.model.comparison import Claim, CompareSpec, Comparison, MetricComparison, PairComparison, PairedTest
from core.model.degenerate import Degenerate
from core.model.sample import QueryType

Value = TypeVar("Value", int, float)
Pair = tuple[Contender, Contender]


def pairs_of(contenders: Sequence[Contender], baseline: str | None) -> tuple[Pair, ...]:
    """All pairs in the order given, or the contender labelled `baseline` with each of the others.

    Raises KeyError for a baseline that is not among them.
    """
    if baseline is None:
        return tuple(combinations(contenders, 2))
    by_label = {contender.side.label: contender for contender in contenders}
    first = by_label[baseline]
    return tuple((first, other) for other in contenders if other is not first)


def compare(pairs: Sequence[Pair], spec: CompareSpec, *, seed: int, query_type: QueryType | None = None) -> Comparison:
    """Every pair under every metric of `spec`. Incomparable pairs come back with their reasons and without numbers.

    The same input and seed give the same bytes. `query_type` looks at the questions of one type alone.
    """
    reasons = [incomparable(a, b, spec.factor) for a, b in pairs]
    sound = {
        place: (a.of_type(query_type), b.of_type(query_type))
        for place, (a, b) in enumerate(pairs)
        if not reasons[place]
    }
    results, tables = tested(sound, spec, seed=seed)
    citable = not any(contender.side.binding_faults for pair in pairs for contender in pair)
    family = _Family(results, spec, citable)
    return Comparison(
        sides=tuple(dict.fromkeys(contender.side for pair in pairs for contender in pair)),
        baseline=spec.baseline,
        factor=spec.factor,
        level=spec.level,
        resamples=spec.resamples,
        query_type=query_type,
        family=family.size,
        citable=citable,
        pairs=tuple(
            PairComparison(
                a=a.side.label,
                b=b.side.label,
                differences=differences(a, b),
                incomparable=reasons[place],
                metrics=family.metrics(place, (a.side.label, b.side.label)),
                validity=tables.get(place),
            )
            for place, (a, b) in enumerate(pairs)
        ),
    )


class _Family:
    """The tests of all pairs, and what Holm's correction makes of them."""

    def __init__(self, results: Mapping[Key, Tested], spec: CompareSpec, citable: bool) -> None:
        self._results = results
        self._adjusted = dict(zip(results, holm([each.p for each in results.values()]), strict=True))
        self._spec = spec
        self._error_rate = 1.0 - spec.level
        self._citable = citable
        self.size = sum(each.p is not None for each in results.values())

    def metrics(self, place: int, labels: tuple[str, str]) -> tuple[MetricComparison, ...]:
        """The tests of one pair as they are reported; none for a pair that was not tested."""
        keys = [(place, metric) for metric in self._spec.metrics]
        return tuple(self._metric(key, labels) for key in keys if key in self._results)

    def _metric(self, key: Key, labels: tuple[str, str]) -> MetricComparison:
        found, adjusted = self._results[key], self._adjusted[key]
        hindrance = self._hindrance(found)
        detectable, needed = (None, None) if hindrance else self._sensitivity(found)
        unsaid = MetricComparison(
            metric=found.metric,
            n_questions=found.n_questions,
            left_out=found.left_out,
            a_mean=found.a_mean,
            b_mean=found.b_mean,
            difference=found.difference,
            interval=found.interval,
            test=found.test,
            p=found.p,
            p_adjusted=adjusted,
            minimum_detectable=detectable,
            questions_needed=needed,
            claim=self._claim(found, adjusted),
            sentence="",
            why_not=found.why_not,
        )
        terms = Terms(*labels, citable=self._citable, hindrance=hindrance)
        return unsaid.model_copy(update={"sentence": sentence(unsaid, terms)})

    def _hindrance(self, found: Tested) -> str:
        if found.p is None or found.smallest_p * self.size <= self._error_rate:
            return ""
        sampled = found.test is PairedTest.PERMUTATION
        what = f"{self._spec.resamples} resamples" if sampled else f"{found.n_questions} questions"
        return f"with {what} and a family of {self.size} tests"

    def _sensitivity(self, found: Tested) -> tuple[float | None, int | None]:
        """The least detectable difference, and the questions needed for the one observed, at Holm's strictest step."""
        if found.p is None or found.sd is None or found.difference is None:
            return None, None
        alpha = self._error_rate / self.size
        return (
            _value(minimum_detectable_effect(found.sd, found.n_questions, alpha=alpha)),
            _value(questions_needed(found.difference, found.sd, alpha=alpha)),
        )

    def _claim(self, found: Tested, adjusted: float | None) -> Claim:
        if adjusted is None or found.interval is None:
            return Claim.NOT_TESTED
        if adjusted > self._error_rate or found.interval.low <= 0.0 <= found.interval.high:
            return Claim.UNDECIDED
        return Claim.B_BETTER if found.interval.low > 0.0 else Claim.A_BETTER


def _value(found: Value | Degenerate) -> Value | None:
    return None if isinstance(found, Degenerate) else found
