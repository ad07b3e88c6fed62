"""Three ways of leaking, each put to a one-sided test over questions, and the verdict on a model.

Each test holds a measure against what it would be without that leak:

    few_shot_copy      share of answers that copy an example of their prompt, against the share that copies the very
                       same example when it is not shown: what documents and custom make alike cancels out
    memorised_syntax   share of answers with correct AVAP that nothing in the prompt teaches, documents and examples
                       withheld, against a tolerance for lucky guesses
    memorised_answers  how much of the golden reference an answer without help repeats, against how much it repeats of
                       the other questions' references: phrases common to the subject cancel out

A leak is found when the adjusted p-value is at most alpha and the excess at least the least effect. The tests of one
model share alpha (Holm), so that a model without a leak is accused with a probability of at most alpha.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from core.measure.clusters import Floats, question_means
from core.measure.leakage.arms import unprompted
from core.measure.leakage.copies import Sources
from core.measure.leakage.table import share_of
from core.measure.leakage.words import words
from core.measure.multiplicity import holm
from core.measure.paired import paired_interval, paired_permutation
from core.model.frozen import seed_for
from core.model.interval import Interval
from core.model.leakage import Arm, AuditedRow, AuditSpec, Leak, LeakTest, Verdict


@dataclass(frozen=True)
class Evidence:
    """One measure of one leak, `observed[question, run]`, and what it is held against in the same shape."""

    leak: Leak
    observed: Floats
    baseline: Floats
    p: float | None
    """One-sided; None where nothing could be tested."""

    @property
    def questions(self) -> int:
        """Questions that have both."""
        return len(self._differences)

    @property
    def excess(self) -> float | None:
        """Observed minus baseline, the mean over the questions that have both."""
        return float(self._differences.mean()) if len(self._differences) else None

    @property
    def _differences(self) -> Floats:
        found = question_means(self.observed) - question_means(self.baseline)
        return np.asarray(found[~np.isnan(found)])


def leak_tests(sources: Sources, seed: int) -> tuple[LeakTest, ...]:
    """Every leak, tested and adjusted for the others."""
    found = (_few_shot_copy(sources, seed), _memorised_syntax(sources), _memorised_answers(sources, seed))
    assessable = [e.p if e.questions >= sources.spec.fewest_questions else None for e in found]
    return tuple(_test(e, p, sources.spec) for e, p in zip(found, holm(assessable), strict=True))


def verdict_of(tests: Sequence[LeakTest]) -> tuple[Verdict, str]:
    """The verdict on a model, and its reason in words."""
    leaking = [test.sentence for test in tests if test.verdict is Verdict.FOUND]
    if leaking:
        return Verdict.FOUND, " ".join(leaking)
    missing = [test.sentence for test in tests if test.verdict is Verdict.NOT_ASSESSABLE]
    if missing:
        return Verdict.NOT_ASSESSABLE, " ".join(missing)
    return Verdict.NOT_FOUND, " ".join(test.sentence for test in tests)


def _few_shot_copy(sources: Sources, seed: int) -> Evidence:
    table = sources.table
    shown = table.matrix(Arm.BOTH, sources.copies_an_example, table.after_code)
    hidden = table.matrix(Arm.DOCUMENTS, sources.copies_an_example, table.after_code)
    return Evidence(Leak.FEW_SHOT_COPY, shown, hidden, _greater(shown, hidden, sources.spec, seed))


def _memorised_syntax(sources: Sources) -> Evidence:
    table, tolerated = sources.table, sources.spec.lucky
    observed = table.matrix(Arm.NEITHER, unprompted, table.after_code)
    return Evidence(
        Leak.MEMORISED_SYNTAX, observed, np.full_like(observed, tolerated), _above(question_means(observed), tolerated)
    )


def _memorised_answers(sources: Sources, seed: int) -> Evidence:
    table = sources.table
    asked = tuple(question.id for question in table.questions)
    own = table.matrix(Arm.NEITHER, lambda row: _repeated(row, sources)[0], asked)
    others = table.matrix(Arm.NEITHER, lambda row: _repeated(row, sources)[1], asked)
    return Evidence(Leak.MEMORISED_ANSWERS, own, others, _greater(own, others, sources.spec, seed))


def _repeated(row: AuditedRow, sources: Sources) -> tuple[float, float | None]:
    """The share of the answer's runs that its own reference holds, and that others hold on average."""
    shares = sources.references.shares(words(row.answer))
    own, others = shares.get(row.id, 0.0), len(sources.references.texts) - 1
    return own, math.fsum([*shares.values(), -own]) / others if others else None


def _greater(observed: Floats, baseline: Floats, spec: AuditSpec, seed: int) -> float | None:
    """One-sided p of the paired sign-flip test: its distribution is symmetric, so half of the two-sided one."""
    found = paired_permutation(baseline, observed, resamples=spec.resamples, seed=seed_for(seed, "leak"))
    if found.p is None or found.difference is None:
        return None
    return found.p / 2 if found.difference > 0 else 1.0


def _above(means: Floats, tolerated: float) -> float | None:
    """One-sided p of Student's t test that the mean over questions is above `tolerated`.

    Few questions with much, among many with nothing, pull mean and spread up together, so that the test errs towards
    silence. Without any spread the mean itself decides.
    """
    values = means[~np.isnan(means)]
    if len(values) < 2:
        return None
    excess = float(values.mean()) - tolerated
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    if error == 0.0:
        return 0.0 if excess > 0 else 1.0
    return float(stdtr(len(values) - 1, -excess / error))


def _test(evidence: Evidence, p_adjusted: float | None, spec: AuditSpec) -> LeakTest:
    observed, baseline = share_of(evidence.observed), share_of(evidence.baseline).mean
    interval = paired_interval(evidence.baseline, evidence.observed)
    excess = None if p_adjusted is None else evidence.excess
    test = LeakTest(
        leak=evidence.leak,
        observed=observed,
        baseline=baseline,
        excess=excess,
        interval=interval if isinstance(interval, Interval) else None,
        p=None if p_adjusted is None else evidence.p,
        p_adjusted=p_adjusted,
        verdict=_verdict(excess, p_adjusted, spec),
        sentence="",
    )
    return test.model_copy(update={"sentence": _sentence(test, evidence.questions, spec)})


def _verdict(excess: float | None, p: float | None, spec: AuditSpec) -> Verdict:
    if excess is None or p is None:
        return Verdict.NOT_ASSESSABLE
    return Verdict.FOUND if p <= spec.alpha and excess >= spec.least_effect else Verdict.NOT_FOUND


_WHAT = {
    Leak.FEW_SHOT_COPY: (
        "{observed:.1%} of the answers that should hold code copy an example of their prompt nearly word for word, "
        "against {baseline:.1%} that match the same examples without being shown them"
    ),
    Leak.MEMORISED_SYNTAX: (
        "without documents and examples, {observed:.1%} of the answers that should hold code are correct AVAP with "
        "names that nothing in the prompt holds; {baseline:.1%} are put down to chance"
    ),
    Leak.MEMORISED_ANSWERS: (
        "without documents and examples, answers repeat {observed:.1%} of their text from the golden reference, "
        "against {baseline:.1%} from the references of other questions"
    ),
}
_NAMES = {
    Leak.FEW_SHOT_COPY: "few-shot copying",
    Leak.MEMORISED_SYNTAX: "memorised syntax",
    Leak.MEMORISED_ANSWERS: "memorised answers",
}


def _sentence(test: LeakTest, questions: int, spec: AuditSpec) -> str:
    name = _NAMES[test.leak]
    if test.verdict is Verdict.NOT_ASSESSABLE:
        return (
            f"{name.capitalize()} cannot be assessed: {questions} questions were answered where it would show, and "
            f"{spec.fewest_questions} are needed."
        )
    said = _WHAT[test.leak].format(observed=test.observed.mean, baseline=test.baseline)
    if test.verdict is Verdict.FOUND:
        return f"Leak by {name}: {said} (adjusted p {test.p_adjusted:.2g})."
    return f"No {name} found: {said} (adjusted p {test.p_adjusted:.2g})."
