"""Finished evaluations in a results root, rows and report and all, made without running one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluation_rows import question, record, row, scored

from core.lab import report as rendering
from core.lab.experiment import Conclusion
from core.lab.outcome import concluded
from core.lab.store import RunFolder
from core.measure.summary import Background, summarise
from core.model.judged import JudgedRow, Metric
from core.model.specs import Provider
from core.model.syntax import Validity

QUESTIONS = tuple(question(number, question=f"what is {number}?") for number in range(1, 9))
RUNS = 2
GOLDEN = "domains/avap/golden.yaml"


def judged(suite: str, lift: float = 0.0, *, rejected: int = 1) -> tuple[JudgedRow, ...]:
    """A row per question and run; the first `rejected` answers of run 1 are not valid."""
    rows = []
    for place, asked in enumerate(QUESTIONS):
        for run in range(1, RUNS + 1):
            value = 0.3 + 0.05 * place + 0.01 * run + lift
            lost = {Metric.FAITHFULNESS: scored(0.0, raw=value), Metric.GLOBAL: scored(value / 2, raw=value)}
            bad = run == 1 and place < rejected
            syntax, scores = (Validity.INVALID, lost) if bad else (Validity.VALID, None)
            rows.append(row(asked, run, value=value, suite=suite, syntax=syntax, scores=scores))
    return tuple(rows)


def stored(
    results: Path,
    name: str,
    *,
    lift: float = 0.0,
    rejected: int = 1,
    suites: tuple[str, ...] = ("main",),
    **changed: Any,
) -> RunFolder:
    """A finished run called `name`; `changed` goes into its record."""
    folder = RunFolder(results / "msvl" / f"{name}-{sum(map(ord, name)):012x}")
    folder.path.mkdir(parents=True)
    entries = "".join(f"  - name: {suite}\n" for suite in suites)
    folder.write("config.yaml", f"extends: experiments/msvl\nname: {name}\nruns: {RUNS}\nsuites:\n{entries}".encode())
    known = {"runs": RUNS, "provider": Provider.ANTHROPIC, "name": name, "data": {GOLDEN: "d" * 64}, **changed}
    kept = record(*suites, **known)
    folder.write_model("record.json", kept)
    rows = tuple(each for suite in suites for each in judged(suite, lift, rejected=rejected))
    for suite in suites:
        for run in range(1, RUNS + 1):
            cell = folder.path / "cells" / f"{suite}.run-{run:02}"
            cell.mkdir(parents=True)
            own = [each for each in rows if (each.suite, each.run) == (suite, run)]
            (cell / "samples.jsonl").write_text("".join(f"{each.model_dump_json()}\n" for each in own), "utf-8")
    report = summarise(rows, Background(record=kept, questions=QUESTIONS))
    files = rendering.files(report, rows)
    for file, content in files.items():
        folder.write(file, content)
    ended = concluded(
        Conclusion(files=files, usable=len(rows), binding_faults=report.binding_faults), (), rows=len(rows),
        expected=len(rows), now="2026-11-22T00:00:00Z",
    )  # fmt: skip
    folder.write_model("outcome.json", ended)
    return folder


def begun(results: Path, name: str) -> RunFolder:
    """A run that was killed before it came to anything but a record."""
    folder = RunFolder(results / "msvl" / f"{name}-{sum(map(ord, name)):012x}")
    folder.path.mkdir(parents=True)
    folder.write("config.yaml", f"extends: experiments/msvl\nname: {name}\n".encode())
    folder.write_model("record.json", record("main", runs=RUNS, name=name))
    return folder
