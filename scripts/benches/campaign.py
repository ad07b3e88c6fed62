"""A whole campaign on Ray: wall time over ideal, replay, two nodes over one, kills, a quota, budget, submission."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from _bare import asked_alone
from _bars import Bar, conclude
from _campaign import QUIET, Campaign, counting_model
from _nodes import scaling

from core.model.specs import Comparator

SIX_SUITES = "{retrieval.mode: [hybrid, knn_only, bm25_only], few_shot.k: [3, 5]}"
LATENCY_S = 0.2
IN_FLIGHT = 64
WIDE = {"runtime.concurrency": IN_FLIGHT, "runtime.cells": 6}
AT_LEAST, AT_MOST = Comparator.AT_LEAST, Comparator.AT_MOST


def whole(root: Path) -> Iterator[Bar]:
    """Bars 1 and 5: six suites of five runs of fifty questions, and its replay."""
    with counting_model(latency_ms=round(LATENCY_S * 1000)) as (model, url):
        campaign = Campaign(root / "whole", url, {"sweep": SIX_SUITES, **WIDE})
        campaign.run()
        ideal = model.requests * LATENCY_S / IN_FLIGHT
        print(f"     {model.requests} requests, {campaign.elapsed_s:.1f} s, ideal {ideal:.1f} s", flush=True)
        repeated, alone = asked_alone(campaign.folder, url, IN_FLIGHT)
        print(f"     {repeated} by the SDK alone: {alone:.1f} s, {campaign.elapsed_s / alone:.2f} x", flush=True)
        yield Bar("6 suites x 5 runs x 50 questions over ideal", campaign.elapsed_s / ideal, AT_MOST, 1.25, "x")
        sent = model.requests
        for workers in (1, 2, 4):
            started = perf_counter()
            output = campaign.run("replay", "latest", "--workers", str(workers), "--json")
            said = json.loads(output[output.index("{") :])
            yield Bar(f"replay on {workers}: wall time", perf_counter() - started, AT_MOST, 60, "s")
            yield Bar(f"replay on {workers}: files that differ", _differing(said), AT_MOST, 0, "files")
        yield Bar("replay: requests sent", model.requests - sent, AT_MOST, 0, "calls")


def _differing(said: dict[str, Any]) -> int:
    return sum(not file["same"] for file in said["files"])


def killed(root: Path) -> Iterator[Bar]:
    """Bar 2: SIGKILL of the driver at 40 % with 8 in flight."""
    small = {"questions": 36, "runs": 2, "runtime.concurrency": 8}
    with counting_model(latency_ms=20) as (model, url):
        undisturbed = Campaign(root / "undisturbed", url, small)
        undisturbed.run()
        calls = model.requests
    with counting_model(latency_ms=20) as (model, url):
        campaign = Campaign(root / "killed", url, small)
        driver = campaign.start()
        model.wait_for(round(0.4 * calls))
        driver.send_signal(signal.SIGKILL)
        driver.communicate()
        campaign.run()
        print(f"     {calls} calls undisturbed, {model.requests} with a kill", flush=True)
        yield Bar("kill -9 of the driver: calls repeated", model.requests - calls, AT_MOST, 8, "calls")
    same = campaign.report_sha256() == undisturbed.report_sha256()
    yield Bar("kill -9 of the driver: reports that differ", not same, AT_MOST, 0, "reports")


def quota(root: Path) -> Iterator[Bar]:
    """Bar 3: two nodes against 50 requests a second, and a server that asks to wait for an hour."""
    from _nodes import two_nodes

    limited = {"questions": 50, "runs": 4, **WIDE}
    with two_nodes() as address, counting_model(latency_ms=100, quota=50.0) as (model, url):
        Campaign(root / "quota", url, {**limited, "runtime.ray.address": address}).run()
        sent = model.replies.total()
        used = model.replies[200] / (model.seconds * 50)
        print(f"     {sent} requests in {model.seconds:.1f} s, {model.replies[429]} told to slow down", flush=True)
        yield Bar("share of a quota of 50/s used", 100 * used, AT_LEAST, 90, "%")
        yield Bar("requests told to slow down", 100 * model.replies[429] / sent, AT_MOST, 5, "%")
    with counting_model(trouble={"429": 1.0}, retry_after_s=3600) as (model, url):
        campaign = Campaign(root / "hour", url, {"questions": 4, "runs": 1, "runtime.llm_deadline_s": 5})
        started = perf_counter()
        output = campaign.run(expected=5)
        yield Bar("Retry-After of an hour: seconds to the end", perf_counter() - started, AT_MOST, 60, "s")
        if "3600" not in output:
            sys.exit(f"bench: the end does not say what the server asked for:\n{output}")


def nodes(root: Path) -> Iterator[Bar]:  # noqa: ARG001  needs no folder of its own
    """Bar 1, second half: parsing and embedding on two nodes of one core over one such node."""
    ratio = scaling()
    yield Bar("two nodes of one core over one, CPU-bound", ratio, AT_LEAST, 1.7, "x")


def held(root: Path) -> Iterator[Bar]:  # noqa: ARG001  the tests have folders of their own
    """Bars 4 and 6, which are tests: twenty runs killed under a cap, and a submitted main job."""
    for name, file in (
        ("20 killed runs under a cap: tests that fail", "tests/experiments/test_budget_kills.py"),
        ("assay submit, same report as here: tests that fail", "tests/cluster/test_submit_cluster.py"),
    ):
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", file], capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout, flush=True)
        yield Bar(name, done.returncode, AT_MOST, 0, "")


PARTS: dict[str, Callable[[Path], Iterator[Bar]]] = {
    "whole": whole, "nodes": nodes, "killed": killed, "quota": quota, "held": held,
}  # fmt: skip


def main() -> None:
    """Measure the parts asked for, all of them otherwise; leave with 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}")
    asked = parser.parse_args().parts or list(PARTS)
    os.environ.update(QUIET)
    with TemporaryDirectory(prefix="assay-bench-") as root:
        conclude(bar for part in asked for bar in PARTS[part](Path(root)))


if __name__ == "__main__":
    main()
