"""`assay compare`: is B better than A, and may it be said?"""

from __future__ import annotations

from typing import Annotated

import typer
from pydantic import ValidationError

from core.errors import ConfigError, ExitCode, Incomparable
from core.measure.compare import compare as compared
from core.measure.compare_gates import gate_results, parse_gate
from core.model.comparison import COMPARABLE, COMPARED, CompareSpec, Comparison, DifferenceGate, Factor, GateOn
from core.model.frozen import seed_for
from core.model.sample import QueryType
from experiments.commands.show import AsJson, Results
from experiments.comparison_view import draw
from experiments.contenders import SEED_PATH
from experiments.places import results_root
from experiments.selection import Pairs, pairs_named
from experiments.view import emit_json, terminal

REASONS_SHOWN = 3


def compare(  # noqa: PLR0913, PLR0917  each is one word a user may type
    sides: Annotated[
        list[str],
        typer.Argument(metavar="RUN[:SUITE]", help="Two or more runs, or one run with several suites."),
    ],
    baseline: Annotated[
        str | None, typer.Option(metavar="SIDE", help="Compare all others with this one; else all pairs.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help=f"Only this one; repeatable. Of: {', '.join(COMPARABLE)}.")
    ] = None,
    query_type: Annotated[QueryType | None, typer.Option("--type", help="Only questions of this type.")] = None,
    factor: Annotated[
        Factor | None, typer.Option(help="State that the comparison is about this, so that it may differ.")
    ] = None,
    level: Annotated[float, typer.Option(help="Of the intervals; the rest is the error rate of the claims.")] = 0.95,
    resamples: Annotated[int, typer.Option(help="Sign flips of the permutation test.")] = 9999,
    seed: Annotated[int, typer.Option(help="Of the sign flips.")] = 0,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EXPR", help='A bar for B minus A, as "faithfulness > -0.02"; repeatable, exit 1 if missed.'
        ),
    ] = None,
    gate_on: Annotated[
        GateOn, typer.Option(help="Hold the worse end of the interval against the bar, or the estimate.")
    ] = GateOn.BOUND,
    allow_non_binding: Annotated[
        bool,
        typer.Option("--allow-non-binding", help="Compare runs that may not be cited; every line then says so."),
    ] = False,
    results: Results = None,
    as_json: AsJson = False,
) -> None:
    """Compare runs on the same questions: which is better, how sure that is, and whether it may be said.

    Paired by question, with intervals, p-values adjusted over all pairs and
    metrics, and what could have been seen at all. Exit codes: 0 compared,
    1 a gate was missed, 2 the runs may not be compared, or a word is wrong.

    Example: assay compare april november --gate "faithfulness > -0.02"
    """
    spec = _spec(baseline, metric, factor, level, resamples)
    gates = tuple(parse_gate(text, spec.metrics) for text in gate or ())
    pairs = pairs_named(sides, results_root(results), baseline)
    if not allow_non_binding:
        _require_binding(pairs)
    _require_direction(gates, pairs)
    found = compared(pairs, spec, seed=seed_for(seed, SEED_PATH), query_type=query_type)
    _require_comparable(found)
    found = gate_results(gates, found, gate_on)
    if as_json:
        emit_json(found)
    else:
        draw(terminal(), found)
    if not found.gates_passed:
        raise typer.Exit(ExitCode.GATE_FAILED)


def _spec(
    baseline: str | None, metrics: list[str] | None, factor: Factor | None, level: float, resamples: int
) -> CompareSpec:
    try:
        return CompareSpec(
            baseline=baseline, metrics=tuple(metrics or COMPARED), factor=factor, level=level, resamples=resamples
        )
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        name = "--" + "".join(str(step) for step in fault["loc"] or ("metric",))
        raise ConfigError(f"{name}: {fault['msg']}", path=name, remedy="assay compare --help") from error


def _require_binding(pairs: Pairs) -> None:
    """Refuse runs that may not be cited."""
    sides = {side.run: side for pair in pairs for side in (pair[0].side, pair[1].side)}
    for side in sides.values():
        if side.binding_faults:
            shown = "; ".join(side.binding_faults[:REASONS_SHOWN])
            more = len(side.binding_faults) - REASONS_SHOWN
            raise Incomparable(
                f"{side.run} is not binding: {shown}{f'; and {more} more' if more > 0 else ''}",
                remedy="--allow-non-binding compares it, and says on every line that it may not be cited",
            )


def _require_direction(gates: tuple[DifferenceGate, ...], pairs: Pairs) -> None:
    """Refuse gates on B minus A where one side is A here and B there."""
    both = {first.side.label for first, _ in pairs} & {second.side.label for _, second in pairs}
    if gates and both:
        raise ConfigError(
            f"a gate is on B minus A, and among several sides nothing says which is A ({', '.join(sorted(both))}?)",
            path="gate",
            remedy="state it with --baseline",
        )


def _require_comparable(found: Comparison) -> None:
    refused = [f"{pair.a} and {pair.b} may not be compared: {'; '.join(pair.incomparable)}" for pair in found.pairs
               if pair.incomparable]  # fmt: skip
    if refused:
        factors = " or ".join(f"--factor {factor.value}" for factor in Factor)
        raise Incomparable(
            "\n".join(refused), remedy=f"compare runs that agree in it; what is not stated as the factor: {factors}"
        )
