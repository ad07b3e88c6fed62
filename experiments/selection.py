"""Which suites of which runs a comparison is between, from the words on the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import ConfigError
from core.lab.outcome import Status
from core.lab.store import RunFolder, find_run
from core.measure.compare import pairs_of
from core.measure.compare_side import Contender
from experiments.contenders import Evaluation, evaluation
from experiments.places import configs_root
from experiments.view import faults_of

Pairs = tuple[tuple[Contender, Contender], ...]


@dataclass(frozen=True)
class Named:
    """One word: a run, and the suite of it that is meant where the word says so."""

    word: str
    run: Evaluation
    suite: str | None

    @property
    def suites(self) -> tuple[str, ...]:
        """The suites that the word can mean."""
        return self.run.suites if self.suite is None else (self.suite,)


def pairs_named(words: Sequence[str], results: Path, baseline: str | None) -> Pairs:
    """The pairs that `words` (`RUN` or `RUN:SUITE`) mean, all of them or `baseline` (one of the words) with the rest.

    One run is all its suites, and `baseline` is then one of these. Several runs of the same suites are compared suite
    by suite. Raises ConfigError for what cannot be found, is not finished or is not clear.
    """
    named = _named(words, results)
    if len(named) == 1:
        return _within(named[0], baseline)
    if baseline is not None and baseline not in words:
        raise ConfigError(f"--baseline {baseline!r} is not among what is compared", path="baseline",
                          remedy=f"use one of: {', '.join(words)}")  # fmt: skip
    at = None if baseline is None else list(words).index(baseline)
    labels = _labels(named)
    groups = [
        [each.run.contender(suite, f"{label}:{suite}" if len(each.run.suites) > 1 else label)
         for each, label, suite in zip(named, labels, group, strict=True)]
        for group in _groups(named)
    ]  # fmt: skip
    return tuple(pair for group in groups for pair in pairs_of(group, None if at is None else group[at].side.label))


def _named(words: Sequence[str], results: Path) -> list[Named]:
    if len(set(words)) < len(words):
        raise ConfigError(f"{Counter(words).most_common(1)[0][0]!r} is named twice", remedy="name each side once")
    read: dict[Path, Evaluation] = {}
    found = []
    for word in words:
        run, suite = _parts(word)
        folder = find_run(results, run)
        if folder.path not in read:
            read[folder.path] = _finished(folder)
        whole = read[folder.path]
        if suite is not None and suite not in whole.suites:
            raise ConfigError(f"{whole.run} has no suite {suite!r}", remedy=f"suites: {', '.join(whole.suites)}")
        found.append(Named(word, whole, suite))
    return found


def _parts(word: str) -> tuple[str, str | None]:
    """Run and suite. A colon that belongs to a place (`s3://...`) separates nothing: suites hold no slash."""
    run, colon, suite = word.rpartition(":")
    return (run, suite) if colon and run and suite and "/" not in suite else (word, None)


def _finished(folder: RunFolder) -> Evaluation:
    if folder.status in {Status.RUNNING, Status.INTERRUPTED}:
        raise ConfigError(f"{folder.name} is not finished", remedy=f"assay resume {folder.path.name}")
    return evaluation(folder, configs_root(), faults_of(folder) or ())


def _within(named: Named, baseline: str | None) -> Pairs:
    """The suites of one run."""
    if len(named.suites) < 2:
        raise ConfigError(f"{named.word} is one suite, with nothing to compare it with",
                          remedy="name a second run, or RUN:SUITE")  # fmt: skip
    if baseline is not None and baseline not in named.suites:
        raise ConfigError(f"--baseline {baseline!r} is no suite of {named.run.run}", path="baseline",
                          remedy=f"use one of: {', '.join(named.suites)}")  # fmt: skip
    return pairs_of([named.run.contender(suite, suite) for suite in named.suites], baseline)


def _groups(named: Sequence[Named]) -> list[tuple[str, ...]]:
    """The suites to compare with each other, one for each word: one group, or one for each suite that all runs have."""
    if all(len(each.suites) == 1 for each in named):
        return [tuple(each.suites[0] for each in named)]
    first = named[0].suites
    if all(set(each.suites) == set(first) for each in named):
        return [(suite,) * len(named) for suite in first]
    vague = next(each for each in named if len(each.suites) > 1)
    raise ConfigError(f"{vague.word} has several suites ({', '.join(vague.suites)}), and not those of the others",
                      remedy=f"say which: {vague.word}:{vague.suites[0]}")  # fmt: skip


def _labels(named: Sequence[Named]) -> list[str]:
    """The name of each run, with its fingerprint where two runs share a name."""
    names = {each.run.run: each.run.config.name for each in named}
    times = Counter(names.values())
    return [
        names[each.run.run] if times[names[each.run.run]] == 1 else each.run.run.rpartition("/")[2] for each in named
    ]
