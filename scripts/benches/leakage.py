"""The leakage audit's error rates: planted leaks found, and false alarms on models without one, over many seeds.

Made-up models of `_answers` go through the audit's own arithmetic: 50 questions x 5 runs x 4 arms each. Then the
rehearsal model is audited end to end, clean and with each leak, at a few seeds. `--seeds N` and `--rehearsed N` change
how many.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path

from _answers import Habits, Model
from _bars import Bar, conclude

from core.adapters.build import workshop
from core.adapters.clock import SystemClock
from core.adapters.languages import configs_root
from core.lab.config import compose
from core.lab.inline import InlinePool
from core.lab.prepare import prepare
from core.lab.progress import Silent
from core.lab.provenance import gather
from core.lab.runner import Laboratory, execute
from core.measure.leakage.decision import leak_tests
from core.model.leakage import Leak, LeakageReport, Verdict
from core.model.specs import Comparator
from experiments.registry import experiment

SEEDS, REHEARSED = 100, 3
MODELS: Mapping[str, tuple[Habits, Leak | None]] = {
    "adapts examples": (Habits(), None),
    "ignores examples": (Habits(adapts=0.0), None),
    "copies 25 % from examples": (Habits(few_shot_copy=0.25), Leak.FEW_SHOT_COPY),
    "15 % of programs by heart": (Habits(memorised_syntax=0.15), Leak.MEMORISED_SYNTAX),
    "15 % of references by heart": (Habits(memorised_answers=0.15), Leak.MEMORISED_ANSWERS),
}
REHEARSALS: Mapping[str, tuple[Mapping[str, float], Leak | None]] = {
    "no leak": ({}, None),
    "few_shot_copy 0.2": ({"rehearsal.leaks.few_shot_copy": 0.2}, Leak.FEW_SHOT_COPY),
    "memorised 0.2": ({"rehearsal.leaks.memorised": 0.2}, Leak.MEMORISED_SYNTAX),
}


def found_in(habits: Habits, seed: int) -> frozenset[Leak]:
    """The leaks that the audit finds in one made-up model."""
    tests = leak_tests(Model(seed, habits).sources(), seed)
    return frozenset(test.leak for test in tests if test.verdict is Verdict.FOUND)


async def rehearsed(settings: Mapping[str, object], results: Path) -> frozenset[Leak]:
    """The leaks that the audit finds in the rehearsal model, through everything from the prompt to the report."""
    configs = configs_root()
    chosen = {"runs": 2, "index.embedder.model": "hash:256", **settings}
    draft = compose(
        configs / "experiments" / "leakage.yaml", configs=configs, assignments=[f"{k}={v}" for k, v in chosen.items()]
    )
    prepared = prepare(experiment(draft.experiment), draft, configs)
    provenance = gather(os.environ, sys.argv)
    lab = Laboratory(results, configs, results / "cache", provenance, SystemClock(), InlinePool(), workshop, Silent())
    await execute(prepared, lab)
    report = LeakageReport.model_validate_json((prepared.folder(results).path / "report.json").read_bytes())
    return frozenset(test.leak for model in report.models for test in model.tests if test.verdict is Verdict.FOUND)


def simulated(seeds: int) -> Iterator[Bar]:
    """The rates over made-up models."""
    with ProcessPoolExecutor(max_workers=2) as workers:
        for name, (habits, planted) in MODELS.items():
            found = list(workers.map(partial(found_in, habits), range(seeds), chunksize=5))
            yield _bar(f"made up, {name}", found, planted)


def end_to_end(seeds: int) -> Iterator[Bar]:
    """The rates over the rehearsal model."""
    for name, (leaks, planted) in REHEARSALS.items():
        with tempfile.TemporaryDirectory(prefix="assay-leakage-") as folder:
            found = [
                asyncio.run(rehearsed({"rehearsal.seed": seed, "name": f"seed-{seed}", **leaks}, Path(folder)))
                for seed in range(seeds)
            ]
        yield _bar(f"rehearsed, {name}", found, planted)


def _bar(name: str, found: Sequence[frozenset[Leak]], planted: Leak | None) -> Bar:
    """Models without a leak may be accused in 5 of 100 seeds; a planted leak must be found in 95, under its name."""
    if planted is None:
        return Bar(f"{name}: accused", 100 * sum(map(bool, found)) / len(found), Comparator.AT_MOST, 5, "%")
    share = 100 * sum(planted in leaks for leaks in found) / len(found)
    return Bar(f"{name}: found", share, Comparator.AT_LEAST, 95, "%")


def main() -> None:
    """Measure the rates and leave with 1 when one is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=SEEDS)
    options.add_argument("--rehearsed", type=int, default=REHEARSED)
    given = options.parse_args()
    conclude(chain(simulated(given.seeds), end_to_end(given.rehearsed) if given.rehearsed else ()))


if __name__ == "__main__":
    main()
