"""`assay avap pool-stats`: what the few-shot pool covers, and which of its examples may not stand in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from pydantic import ValidationError

from core.errors import ConfigError, ExitCode
from core.model.specs import LanguageSpec

if TYPE_CHECKING:
    from core.measure.pool import PoolStats

_COLUMNS: Final = 3


def pool_stats(
    examples: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Example files; else those of the AVAP domain.")
    ] = None,
    vocabulary: Annotated[
        str, typer.Option(metavar="ID", help="Which commands exist: the name of a file in configs/languages/avap.")
    ] = LanguageSpec().vocabulary,
    run: Annotated[
        str | None, typer.Option(metavar="RUN", help="A run, or its report.json: which constructs it got wrong.")
    ] = None,
    thin_below: Annotated[
        int, typer.Option(metavar="N", min=1, help="With --run: fewer examples than this are few for a construct.")
    ] = 12,
    results: Annotated[
        Path | None, typer.Option(help="Where runs are kept; else $ASSAY_RESULTS, else ./results.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for scripts.")] = False,
) -> None:
    """Say what the few-shot pool covers.

    Every example is parsed, executed on its test inputs, and its
    assertions are tried on mutants of its program. With --run come the
    thin constructs: answers about them were rejected, and the pool shows
    them in few examples.

    Exit code: 0 all examples are valid; 1 some are not; 2 the examples,
    the vocabulary or the run cannot be read.

    Example: assay avap pool-stats --run latest --thin-below 15
    """
    from core.measure.pool import thin_constructs

    rejected = Counter[str]() if run is None else _rejected(_report(run, results))
    stats = _measured(examples, vocabulary)
    stats = stats.model_copy(update={"thin": thin_constructs(stats.constructs, rejected, thin_below)})
    typer.echo(stats.model_dump_json(indent=2) if as_json else "\n".join(_text(stats)))
    if stats.refused:
        raise typer.Exit(ExitCode.GATE_FAILED)


def _measured(folder: Path | None, vocabulary: str) -> PoolStats:
    # Imported here, so that `assay --help` stays quick.
    from core.adapters.domain import load_examples
    from core.adapters.languages import configs_root, load_vocabulary
    from core.flows.pool import assess
    from core.measure.pool import pool_stats as measured

    table = load_vocabulary(vocabulary)
    pool = load_examples(folder or configs_root() / "domains/avap/examples")
    return measured(assess(pool, table), table.node_types)


def _report(run: str, results: Path | None) -> Path:
    from core.lab.store import find_run
    from experiments.places import results_root

    named = Path(run)
    return named if named.is_file() else find_run(results_root(results), run).path / "report.json"


def _rejected(report: Path) -> Counter[str]:
    """Node type -> INVALID answers about it, over all suites. Raises ConfigError for what is no report."""
    from core.model.evaluation import EvaluationReport

    try:
        suites = EvaluationReport.model_validate_json(report.read_bytes()).suites
    except OSError as error:
        raise ConfigError(
            f"cannot read {report} ({error.strerror})", file=str(report), remedy="name a run that has its report"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(
            f"{report} is no report of an evaluation: {first['msg']}",
            file=str(report),
            path=place,
            remedy="name the run of an evaluation",
        ) from error
    rejected: Counter[str] = Counter()
    for suite in suites:
        rejected.update({line.node_type: line.invalid for line in suite.confusion.constructs})
    return rejected


def _text(stats: PoolStats) -> Iterator[str]:
    shared = ", ".join(f"{count} {language}" for language, count in stats.languages.items())
    yield f"examples          {stats.examples}, {stats.valid} valid ({shared}; {stats.endpoints} whole endpoints)"
    yield f"pairs             {stats.pairs} of {stats.pairs_possible}"
    yield f"trios             {stats.trios} of {stats.trios_possible}"
    yield f"least shown       {next(iter(stats.constructs))}, in {stats.constructs_min}"
    yield f"least ECS         {stats.ecs_min:.3f}"
    yield f"least test quality {stats.test_quality_min:.2f}"
    yield "constructs, the rarest first:"
    yield from _table(stats)
    yield from _listed("pairs missing", (f"{one} with {other}" for one, other in stats.pairs_missing))
    likes = (f"{pair.second} is like {pair.first} ({pair.similarity:.2f})" for pair in stats.near_duplicates)
    yield from _listed("near-duplicates", likes)
    yield from _listed("refused", (f"{item.id}: {fault}" for item in stats.refused for fault in item.faults))
    if stats.thin:
        wrong = (f"{line.node_type}: {line.rejected} rejected answers, {line.examples} examples" for line in stats.thin)
        yield from _listed("thin constructs", wrong)


def _table(stats: PoolStats) -> Iterator[str]:
    cells = [f"{count:>5} {name:<22}" for name, count in stats.constructs.items()]
    for at in range(0, len(cells), _COLUMNS):
        yield "".join(cells[at : at + _COLUMNS]).rstrip()


def _listed(title: str, lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    yield f"{title}: {len(found) or 'none'}"
    yield from (f"  {line}" for line in found)
