"""Rules for every test: the network ends at loopback, nothing of the user's own folders is read or written, and drawn
examples are the same on every machine (`scripts/bench fuzz` is where new ones are looked for)."""

import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("assay", derandomize=True, deadline=None)
settings.load_profile("assay")

# Where the tests were started in the background of a shell it is ignored, and all they start would ignore it too.
signal.signal(signal.SIGINT, signal.default_int_handler)

_real_connect = socket.socket.connect


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _guarded_connect(self: socket.socket, address: Any) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
        raise AssertionError(f"a test tried to reach {address}: only loopback is allowed")
    _real_connect(self, address)


@pytest.fixture(autouse=True)
def _only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", _guarded_connect)


@pytest.fixture(autouse=True)
def _own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Results go to a folder of the test's own; variables of the caller's shell do not leak in."""
    for name in (
        "EVAL_SEED",
        "ASSAY_IMAGE_DIGEST",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "ASSAY_CONFIGS",
        "RAY_ADDRESS",
        "RAY_API_SERVER_ADDRESS",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("WANDB_API_KEY", "WANDB_BASE_URL", "WANDB_PROJECT", "WANDB_ENTITY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WANDB_MODE", "disabled")
    monkeypatch.setenv("ASSAY_RESULTS", str(tmp_path_factory.mktemp("results")))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # else a token is written to the home folder
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def configs() -> Path:
    """The configs folder of this checkout."""
    return Path(__file__).resolve().parent.parent / "configs"


@pytest.fixture(scope="module")
def own_ray() -> Iterator[None]:
    """A Ray of this test process, for the tests of one module: its processes are children of ours."""
    from core.cluster.session import connected
    from core.model.specs import RaySpec

    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # workers import what tests import
        with connected(RaySpec(object_store_mb=100)):
            yield


@pytest.fixture(scope="module")
def ray_head(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A head as `ray start --head` makes one, with a job server: a ray_heads.RayHead."""
    from ray_heads import running_head

    with running_head(tmp_path_factory.mktemp("head")) as head:
        yield head
