"""The connection to Ray: an address where nobody is, one that cannot be used, room that is not there, SIGTERM."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import pytest
import ray  # noqa: TID251 - what is tested is the edge where it is known
from main_job import DEADLINE_S, MainJob, counted_model

from core.cluster.session import connected
from core.errors import ConfigError, DependencyDown
from core.model.specs import RaySpec

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]


@pytest.fixture
def unconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever other tests of this process are connected to."""
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray.util, "get_node_ip_address", lambda: "127.0.0.1")


@pytest.mark.usefixtures("unconnected")
def test_an_address_where_nobody_listens_is_told_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can take it
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(DependencyDown, match="Connection refused") as caught, connected(RaySpec(address=address)):
            pass
    assert caught.value.endpoint == address
    assert "RAY_ADDRESS" in caught.value.remedy


@pytest.mark.usefixtures("unconnected")
def test_ray_client_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "ray://127.0.0.1:10001")
    with pytest.raises(ConfigError, match="Ray Client"), connected(RaySpec()):
        pass


@pytest.mark.parametrize("share", ["cpus_per_worker", "gpus_per_embedder"])
def test_more_than_this_machine_has_is_refused(share: str, tmp_path: Path) -> None:
    code, output = MainJob(tmp_path, {"runtime.pool": "ray", f"runtime.ray.{share}": 1000}).run()
    assert code == 2, output
    assert "1000" in output
    assert "join a cluster" in output


def test_sigterm_ends_a_run_on_ray_as_it_ends_any(tmp_path: Path) -> None:
    with counted_model(latency_ms=200) as (model, url):
        settings = {"pool": "ray", "generator_url": url, "judge_url": url, "concurrency": 2, "ray.object_store_mb": 100}
        driver = MainJob(tmp_path, {f"runtime.{key}": value for key, value in settings.items()}).start()
        model.wait_for(6)
        driver.send_signal(signal.SIGTERM)
        output, _ = driver.communicate(timeout=DEADLINE_S)
    assert driver.returncode == 130, output
    assert "stopped. Every finished row is safe" in output
    assert "SIGTERM" not in output
    assert "Traceback" not in output
