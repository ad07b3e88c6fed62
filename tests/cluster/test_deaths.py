"""Real kills under a campaign on Ray: whatever dies, no row is lost or doubled and the report is the same."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from main_job import DEADLINE_S, CountedModel, MainJob, counted_model, start_parser

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]
IN_FLIGHT = 8
LATENCY_MS = 20


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one core each, whose death is noticed quickly."""
    from ray.cluster_utils import Cluster  # noqa: TID251 - the real thing, with nodes to kill

    quick = {
        "health_check_initial_delay_ms": 0,
        "health_check_period_ms": 500,
        "health_check_timeout_ms": 500,
        "health_check_failure_threshold": 4,
    }
    head = {"num_cpus": 1, "object_store_memory": 100 << 20, "include_dashboard": False, "_system_config": quick}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    nodes.add_node(num_cpus=1, object_store_memory=100 << 20)
    yield nodes
    nodes.shutdown()


@pytest.fixture(scope="module")
def whole(cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], int]:
    """The report of an inline run that nothing disturbed, and how many requests it took."""
    with counted_model() as (model, url):
        job = on(cluster, tmp_path_factory.mktemp("whole"), url, pool="inline")
        code, output = job.run()
        assert code == 0, output
        return job.report(), model.requests


def on(cluster: Any, results: Path, url: str, **runtime: Any) -> MainJob:
    settings = {"generator_url": url, "judge_url": url, "concurrency": IN_FLIGHT, "pool": "ray", "cells": 2}
    settings |= {"ray.address": cluster.address, "ray.workers": 2} | runtime
    return MainJob(results, {f"runtime.{key}": value for key, value in settings.items()})


def processes(cluster: Any, actor: str) -> list[psutil.Process]:
    """The processes of `actor` on the nodes of this cluster, and on no other of the machine."""
    raylets = [node.all_processes["raylet"][0].process.pid for node in cluster.list_all_nodes()]
    children = [child for raylet in raylets for child in psutil.Process(raylet).children(recursive=True)]
    return [child for child in children if " ".join(child.cmdline()).startswith(f"ray::{actor}")]


def is_the_same(job: MainJob, whole: dict[str, Any]) -> None:
    assert job.report() == whole
    rows = Counter((row["suite"], row["run"], row["id"]) for row in job.rows())
    assert len(rows) == whole["n_expected"]
    assert set(rows.values()) == {1}


def test_an_undisturbed_run_is_byte_for_byte_that_of_one_process(
    cluster: Any, tmp_path: Path, whole: tuple[dict[str, Any], int]
) -> None:
    with counted_model() as (model, url):
        job = on(cluster, tmp_path, url)
        code, output = job.run()
        assert code == 0, output
        assert model.requests == whole[1]
    is_the_same(job, whole[0])


def test_every_node_has_a_parser_and_a_model_of_its_own_before_the_first_call(cluster: Any, tmp_path: Path) -> None:
    with counted_model(latency_ms=LATENCY_MS) as (model, url):
        driver = on(cluster, tmp_path, url).start()
        model.wait_for(1)
        places = {
            actor: [each.ppid() for each in processes(cluster, actor)] for actor in ("ParserActor", "EmbedderActor")
        }
        driver.kill()
        driver.communicate(timeout=DEADLINE_S)
    raylets = sorted(node.all_processes["raylet"][0].process.pid for node in cluster.list_all_nodes())
    assert {actor: sorted(found) for actor, found in places.items()} == dict.fromkeys(places, raylets)


@pytest.mark.parametrize("actor", ["CellWorker", "LlmActor", "ParserActor", "EmbedderActor"])
def test_a_killed_actor_is_made_up_for_unaided(
    actor: str, cluster: Any, tmp_path: Path, whole: tuple[dict[str, Any], int]
) -> None:
    report, requests = whole
    with counted_model(latency_ms=LATENCY_MS) as (model, url):
        job = on(cluster, tmp_path, url)
        driver = job.start()
        model.wait_for(int(0.4 * requests))
        victims = processes(cluster, actor)
        assert victims
        victims[0].kill()
        output, _ = driver.communicate(timeout=DEADLINE_S)
        assert driver.returncode == 0, output
        assert model.requests <= requests + IN_FLIGHT
    is_the_same(job, report)


def test_a_killed_driver_repeats_only_what_was_in_flight(
    cluster: Any, tmp_path: Path, whole: tuple[dict[str, Any], int]
) -> None:
    report, requests = whole
    with counted_model(latency_ms=LATENCY_MS) as (model, url):
        job = on(cluster, tmp_path, url)
        driver = job.start()
        model.wait_for(int(0.4 * requests))
        driver.kill()
        driver.communicate(timeout=DEADLINE_S)
        code, output = job.run()
        assert code == 0, output
        assert model.requests <= requests + IN_FLIGHT
    is_the_same(job, report)


def test_a_lost_node_is_made_up_for_unaided(cluster: Any, tmp_path: Path, whole: tuple[dict[str, Any], int]) -> None:
    report, requests = whole
    with counted_model(latency_ms=LATENCY_MS) as (model, url):
        job = on(cluster, tmp_path, url, **{"ray.workers": 3, "cells": 2})
        lost = cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        driver = job.start()
        model.wait_for(int(0.4 * requests))
        cluster.remove_node(lost, allow_graceful=False)
        output, _ = driver.communicate(timeout=DEADLINE_S)
        assert driver.returncode == 0, output
        assert model.requests <= requests + IN_FLIGHT
    is_the_same(job, report)


def test_a_dead_parser_server_stops_the_run_and_resume_completes_it(
    cluster: Any, tmp_path: Path, whole: tuple[dict[str, Any], int]
) -> None:
    report, requests = whole
    parser, port = start_parser()
    with counted_model(latency_ms=LATENCY_MS) as (model, url):
        job = on(cluster, tmp_path, url, parser_url=f"127.0.0.1:{port}")
        driver = job.start()
        model.wait_for(requests // 3)
        ended(parser)
        output, _ = driver.communicate(timeout=DEADLINE_S)
        assert driver.returncode == 5, output
        assert "AVAP Parser unreachable. MSVL cannot be bypassed." in output
        revived, _ = start_parser(port)
        code, output = job.run("resume", "latest")
        ended(revived)
        assert code == 0, output
    is_the_same(job, report)


def test_a_dead_model_server_stops_the_run_and_another_completes_it(
    cluster: Any, tmp_path: Path, whole: tuple[dict[str, Any], int]
) -> None:
    report, requests = whole
    with counted_model(latency_ms=LATENCY_MS) as (model, url):
        job = on(cluster, tmp_path, url, llm_deadline_s=3)
        driver = job.start()
        half(model, requests)
    output, _ = driver.communicate(timeout=DEADLINE_S)
    assert driver.returncode == 5, output
    with counted_model() as (_, url):
        job = on(cluster, tmp_path, url)
        code, output = job.run()
        assert code == 0, output
    is_the_same(job, report)


def half(model: CountedModel, requests: int) -> None:
    model.wait_for(requests // 2)


def ended(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()
