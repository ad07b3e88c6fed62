"""The connection to Ray: joined where there is an address, else started on this machine and ended with its run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import ray  # noqa: TID251 - this package is the edge where Ray is known

from core.cluster.environment import worker_runtime_env
from core.errors import DependencyDown
from core.model.specs import RaySpec

OWN = "local"
"""Ray's word for an instance of one's own, whatever $RAY_ADDRESS says."""
LOOPBACK = "127.0.0.1"


@contextlib.contextmanager
def connected(spec: RaySpec) -> Iterator[None]:
    """Be connected while the context is open. A connection that is there already is used and left as it is.

    Raises DependencyDown when nothing answers at the address, or no Ray can be started here.
    """
    if ray.is_initialized():
        yield
        return
    _be_quiet()
    address = address_of(spec)
    try:
        _connect(address, spec)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise DependencyDown(
            f"Ray at {address} cannot be used: {_first_line(error)}",
            endpoint=address,
            remedy="see that the head runs the same versions of ray and Python and can be reached (`ray status`), "
            "or unset RAY_ADDRESS and runtime.ray.address to start one here",
        ) from error
    try:
        yield
    finally:
        ray.shutdown()


def address_of(spec: RaySpec) -> str:
    """Where Ray is: as configured, else $RAY_ADDRESS, else one of our own."""
    return spec.address or os.environ.get("RAY_ADDRESS") or OWN


def is_own(spec: RaySpec) -> bool:
    """Whether Ray is started for this run alone, on this machine."""
    return address_of(spec) == OWN


def _connect(address: str, spec: RaySpec) -> None:
    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    if address == OWN:
        # On loopback alone: nobody else is to send work to it.
        ray.init(
            OWN, include_dashboard=False, object_store_memory=spec.object_store_mb << 20, _node_ip_address=LOOPBACK,
            **quiet,
        )  # fmt: skip
    else:
        ray.init(address, runtime_env=worker_runtime_env(os.environ, Path.cwd()), **quiet)


def _be_quiet() -> None:
    """Nothing is reported to Ray's makers, and no token is written to the user's home unless one is asked for."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
