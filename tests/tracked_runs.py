"""A finished evaluation as a run folder, made without running one."""

from pathlib import Path

from evaluation_rows import question, record, row, scored

from core.lab.experiment import Conclusion
from core.lab.outcome import concluded
from core.lab.store import RunFolder
from core.measure.summary import Background, summarise
from core.model.evaluation import EvaluationReport
from core.model.judged import JudgedRow, Metric
from core.model.record import RunRecord
from core.model.sample import QueryType
from core.model.specs import GateSpec
from core.model.syntax import Validity

QUESTIONS = (question(1), question(2), question(3, type=QueryType.RETRIEVAL))
RUNS = 3
SUITES = ("alpha", "beta")
DATA = {"golden.yaml": "1" * 64, "pool/a.yaml": "2" * 64, "pool/b.yaml": "3" * 64, "corpus/x.md": "4" * 64}
CONFIG = """\
experiment: msvl
name: test
golden: golden.yaml
suites:
  - {name: alpha, few_shot: {pool: pool, k: 2}}
  - {name: beta, few_shot: {pool: pool, k: 2}}
runtime: {budget: {usd: 1.0}}
"""


def stored_record() -> RunRecord:
    return record(*SUITES, runs=RUNS, data=DATA)


def judged(suite: str, run: int) -> tuple[JudgedRow, ...]:
    """One cell; in every first run the first answer is rejected."""
    lost = {Metric.FAITHFULNESS: scored(0.0, raw=0.9), Metric.GLOBAL: scored(0.2, raw=0.7)}
    value = 0.4 + 0.1 * run
    rows = [row(q, run, suite=suite, value=value) for q in QUESTIONS]
    if run == 1:
        rows[0] = row(QUESTIONS[0], run, suite=suite, value=value, syntax=Validity.INVALID, scores=lost)
    return tuple(rows)


def evaluation() -> EvaluationReport:
    rows = [each for suite in SUITES for run in range(1, RUNS + 1) for each in judged(suite, run)]
    gates = (GateSpec(metric="faithfulness", threshold=0.99),)
    return summarise(rows, Background(record=stored_record(), questions=QUESTIONS, gates=gates))


def write_cell(folder: RunFolder, suite: str, run: int) -> None:
    cell = f"{suite}.run-{run:02}"
    (folder.path / "cells" / cell).mkdir(parents=True)
    lines = "".join(f"{each.model_dump_json()}\n" for each in judged(suite, run))
    (folder.path / "cells" / cell / "samples.jsonl").write_text(lines, "utf-8")
    folder.mark_done(cell)


def begun(results: Path) -> RunFolder:
    """Record and configuration, and no cell yet."""
    found = stored_record()
    folder = RunFolder(results / "msvl" / f"test-{found.fingerprint[:12]}")
    folder.path.mkdir(parents=True)
    folder.write("config.yaml", CONFIG.encode())
    folder.write_model("record.json", found)
    return folder


def conclude(folder: RunFolder) -> None:
    """Report and outcome."""
    report = evaluation()
    rows = [each for suite in SUITES for run in range(1, RUNS + 1) for each in judged(suite, run)]
    files = {
        "report.json": report.model_dump_json(indent=2).encode(),
        "report.md": b"# NON-BINDING\n",
        "report.html": "<!doctype html><p>NON-BINDING ¡no!</p>".encode(),
        "tests.csv": b"leak,p\ncopy,0.25\nnone,\n",
        "shares.svg": b"<svg xmlns='http://www.w3.org/2000/svg'></svg>",
    }
    for name, content in files.items():
        folder.write(name, content)
    done = Conclusion(files, len(rows), binding_faults=report.binding_faults)
    outcome = concluded(done, (), rows=len(rows), expected=len(rows), now="2026-11-21T01:00:00Z")
    folder.write_model("outcome.json", outcome)


def finished(results: Path) -> RunFolder:
    folder = begun(results)
    for suite in SUITES:
        for run in range(1, RUNS + 1):
            write_cell(folder, suite, run)
    conclude(folder)
    return folder
