"""Words, copies, provenance, survival and divergences of a leakage audit, on answers small enough to count by hand."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

import numpy as np
import pytest
from audited_rows import EXAMPLE, OTHER, PROGRAM, asked, audited, said
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from core.measure.leakage.arms import arm_summary
from core.measure.leakage.copies import POOL, REFERENCE, SHOWN, listed, overlaps, sources
from core.measure.leakage.divergence import CONTROL, FULL, bits, divergences
from core.measure.leakage.provenance import provenance
from core.measure.leakage.survival import survival
from core.measure.leakage.table import Table, share_of, table
from core.measure.leakage.words import longest_run, prose, tokens, words
from core.model.leakage import Arm, AuditedRow, AuditSpec, Divergence, Source, TextPart
from core.model.sample import Example
from core.model.syntax import Validity

SPEC = AuditSpec(resamples=999, divergence_resamples=99)
QUESTIONS = [asked(number) for number in range(12)]
POOL_EXAMPLES = [Example(id="FS-1", language="en", description="", code=PROGRAM, constructs=())]
SHORT_TOKENS = st.lists(st.sampled_from("abc"), max_size=12).map(tuple)


def tabled(rows: Iterable[AuditedRow], runs: int = 1) -> Table:
    return table(rows, QUESTIONS, runs)


@given(SHORT_TOKENS, SHORT_TOKENS)
def test_the_longest_run_is_that_of_the_reference_algorithm(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    found = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    assert longest_run(one, other) == longest_run(other, one) == found.size


def test_prose_is_the_answer_without_its_blocks() -> None:
    row = audited(
        QUESTIONS[0], answer=f"Before.\n\n```avap\n{PROGRAM}\n```\n\nAfter, in `addVar`.\n\n```python\nx\n```\nEnd."
    )
    assert words(prose(row)) == ("Before", "After", "in", "addVar", "End")


def test_a_text_is_one_token_of_code_and_comments_are_none() -> None:
    assert tokens('addVar(a, "b // c") // no') == ("addVar", "(", "a", ",", '"b // c"', ")")


def test_a_row_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="answered twice under neither in run 1"):
        tabled([audited(QUESTIONS[0], Arm.NEITHER)] * 2)


def test_arms_without_material_are_held_against_that_of_the_full_prompt() -> None:
    full, bare = audited(QUESTIONS[0]), audited(QUESTIONS[0], Arm.NEITHER)
    assert tabled([full, bare]).material(bare) is full
    assert tabled([bare]).material(bare) is bare, "where the full arm has no answer"


def test_a_copy_is_told_with_its_original_and_whether_it_was_shown() -> None:
    reworded = PROGRAM.replace("shop", "store").replace("total", "sum")
    rows = [
        audited(QUESTIONS[0], answer=said(PROGRAM + "\n// thanks")),
        audited(QUESTIONS[1], Arm.NEITHER, answer=said(PROGRAM)),
        audited(QUESTIONS[2], answer=said(reworded)),
        audited(QUESTIONS[3], answer=said("addResult(total)")),
    ]
    found = listed(sources(tabled(rows), POOL_EXAMPLES, SPEC))
    assert [(c.question, c.arm, c.target_id, c.containment, c.shown) for c in found] == [
        ("Q-00", Arm.BOTH, "FS-1", 1.0, True),
        ("Q-01", Arm.NEITHER, "FS-1", 1.0, False),
    ]
    assert found[0].longest_run == found[0].tokens == len(tokens(PROGRAM))


def test_overlaps_count_references_in_words_and_programs_in_tokens() -> None:
    rows = [audited(q, answer=q.ground_truth) for q in QUESTIONS[:6]]
    rows += [audited(q, answer=said(PROGRAM)) for q in QUESTIONS[6:]]
    lines = {(o.arm, o.target): o for o in overlaps(sources(tabled(rows), POOL_EXAMPLES, SPEC))}
    reference = lines[Arm.BOTH, REFERENCE]
    assert (reference.containment.mean, reference.longest_run, reference.copies) == (0.5, 13, None)
    for target in (SHOWN, POOL):
        copies = lines[Arm.BOTH, target].copies
        assert copies is not None
        assert (copies.mean, copies.n_answers) == (0.5, 12)
    assert lines[Arm.NEITHER, POOL].containment.mean is None, "no answers, no number"


def test_every_word_has_one_source_and_the_nearest_comes_first() -> None:
    answer = said(PROGRAM, prose="A loop begins with startLoop, how gather moo")
    row = audited(QUESTIONS[0], answer=answer)
    code, text = (
        next(line for line in provenance(tabled([row]), {"gather"}) if line.arm is Arm.BOTH and line.part is part)
        for part in (TextPart.CODE, TextPart.PROSE)
    )
    assert code.shares[Source.EXAMPLES].mean == 1.0
    assert {source: text.shares[source].mean for source in Source if text.shares[source].mean} == {
        Source.PASSAGES: 5 / 8, Source.QUESTION: 1 / 8, Source.VOCABULARY: 1 / 8, Source.NONE: 1 / 8,
    }  # fmt: skip


@settings(max_examples=40)
@given(st.lists(st.text("ab c\n`", max_size=40), min_size=1, max_size=4))
def test_shares_of_sources_sum_to_one_whatever_is_said(answers: list[str]) -> None:
    rows = [audited(question, answer=answer) for question, answer in zip(QUESTIONS, answers, strict=False)]
    for line in provenance(tabled(rows), {"a"}):
        means = [share.mean for share in line.shares.values() if share.mean is not None]
        assert not means or sum(means) == pytest.approx(1.0)


def test_what_survives_is_a_share_of_what_there_was() -> None:
    rows = [audited(q, answer=said(PROGRAM)) for q in QUESTIONS[:10]]
    rows += [audited(q, answer=said(OTHER), syntax=Validity.INVALID) for q in QUESTIONS[10:]]
    rows += [audited(q, Arm.EXAMPLES, answer=said(PROGRAM)) for q in QUESTIONS[:5]]
    rows += [audited(q, Arm.EXAMPLES) for q in QUESTIONS[5:]]
    lines = {found.arm: found for found in survival(tabled(rows), SPEC, seed=1)}
    left = lines[Arm.EXAMPLES]
    assert (left.ratio, left.lost, left.gained) == (0.5, 5, 0)
    assert left.difference == pytest.approx(-5 / 12)
    assert left.mcnemar_p == pytest.approx(2 * 0.5**5)
    assert left.interval is not None
    assert left.interval.low < -5 / 12 < left.interval.high < 0
    assert lines[Arm.NEITHER].left.mean is None, "an arm without answers"


distributions = st.lists(st.integers(1, 9), min_size=3, max_size=3).map(lambda counts: np.array(counts) / sum(counts))


@given(distributions, distributions)
def test_the_divergence_is_scipys_and_symmetric(p: np.ndarray, q: np.ndarray) -> None:
    assert bits(p, q) == pytest.approx(jensenshannon(p, q, base=2) ** 2, abs=1e-12)
    assert bits(p, q) == pytest.approx(bits(q, p), abs=1e-15)


def test_no_word_in_common_is_one_bit_and_the_same_words_are_none() -> None:
    assert bits(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 1.0
    assert bits(np.array([0.3, 0.7]), np.array([0.3, 0.7])) == 0.0


def between_full_and_control(control: str, seed: int) -> Divergence:
    """Answers drawn from six letters in the full arm, and from those of `control` without help."""
    generator = np.random.default_rng(seed)
    letters = {Arm.BOTH: "abcdef", Arm.NEITHER: control}
    rows = [
        audited(question, arm, answer=" ".join(generator.choice(list(known), 40)))
        for question in QUESTIONS
        for arm, known in letters.items()
    ]
    found = divergences(tabled(rows), SPEC, seed)
    return next(each for each in found if (each.a, each.b) == (FULL.name, CONTROL.name))


def test_arms_that_speak_differently_are_above_the_floor() -> None:
    found = between_full_and_control("defghi", seed=0)
    assert found == between_full_and_control("defghi", seed=0), "seeded"
    assert found.p == 1 / (SPEC.divergence_resamples + 1)
    assert found.bits is not None
    assert found.floor_high is not None
    assert found.interval is not None
    assert found.floor_high < found.interval.low < found.bits < found.interval.high


def test_arms_that_speak_alike_rarely_are() -> None:
    # 20 draws of p <= .05 give 4 or more in 2 of 100 cases.
    found = [between_full_and_control("abcdef", seed).p for seed in range(20)]
    assert sum(p is not None and p <= 0.05 for p in found) < 4


def test_a_divergence_without_two_questions_is_not_measured() -> None:
    found = divergences(tabled([audited(QUESTIONS[0])]), SPEC, seed=0)
    assert all(d.bits is None and d.p is None for d in found)


def test_a_share_that_never_varies_has_wilsons_interval_over_questions() -> None:
    share = share_of(np.zeros((10, 5)))
    assert (share.mean, share.n_questions, share.n_answers) == (0.0, 10, 50)
    assert share.interval is not None
    assert share.interval.high == pytest.approx(0.2775, abs=1e-4), "ten questions, not fifty answers"
    assert share_of(np.full((3, 2), np.nan)).mean is None


def test_an_arm_in_a_few_numbers() -> None:
    rows = [
        audited(QUESTIONS[0], Arm.EXAMPLES, answer=said(PROGRAM), foreign={"Go": 3}),
        audited(QUESTIONS[1], Arm.EXAMPLES, answer=said(OTHER), syntax=Validity.INVALID, foreign={"Go": 1, "PHP": 9}),
        audited(QUESTIONS[2], Arm.EXAMPLES),
    ]
    found = arm_summary(tabled(rows), Arm.EXAMPLES)
    assert (found.n_expected, found.n_rows, found.code_bearing, found.valid.mean) == (12, 3, 2, 0.5)
    assert found.code_words == len(words(PROGRAM)) + len(words(OTHER))
    assert [(f.language, f.words, f.answers) for f in found.foreign] == [("PHP", 9, 1), ("Go", 4, 2)]
    assert EXAMPLE in rows[0].examples
