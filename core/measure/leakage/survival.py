"""How much correct syntax is left when documents, examples or both are withheld."""

from __future__ import annotations

import numpy as np

from core.measure.clusters import Floats, question_means
from core.measure.leakage.table import Table, share_of
from core.measure.paired import paired_interval, paired_permutation
from core.measure.rates import mcnemar_exact
from core.model.frozen import seed_for
from core.model.interval import Interval
from core.model.leakage import Arm, AuditedRow, AuditSpec, Survival
from core.model.syntax import Validity


def survival(table: Table, spec: AuditSpec, seed: int) -> tuple[Survival, ...]:
    """Every arm that withholds something against the full one, over the questions that call for code."""
    return tuple(_survival(table, arm, spec, seed) for arm in Arm if arm is not Arm.BOTH)


def correct(row: AuditedRow) -> float:
    """1 for an answer with code, all of it VALID; 0 for any other."""
    return float(row.syntax is Validity.VALID)


def _survival(table: Table, arm: Arm, spec: AuditSpec, seed: int) -> Survival:
    full = table.matrix(Arm.BOTH, correct, table.after_code)
    left = table.matrix(arm, correct, table.after_code)
    tested = paired_permutation(full, left, resamples=spec.resamples, seed=seed_for(seed, "survival", arm))
    interval = paired_interval(full, left)
    lost, gained = _changes(full, left)
    before, after = share_of(full), share_of(left)
    return Survival(
        arm=arm,
        full=before,
        left=after,
        ratio=after.mean / before.mean if before.mean and after.mean is not None else None,
        difference=tested.difference,
        interval=interval if isinstance(interval, Interval) else None,
        p=tested.p,
        lost=lost,
        gained=gained,
        mcnemar_p=mcnemar_exact(lost, gained),
    )


def _changes(full: Floats, left: Floats) -> tuple[int, int]:
    """Questions that were mostly correct in full alone, and with less alone: runs are no independent evidence."""
    before, after = question_means(full), question_means(left)
    both = ~(np.isnan(before) | np.isnan(after))
    was, still = before[both] > 0.5, after[both] > 0.5
    return int((was & ~still).sum()), int((still & ~was).sum())
