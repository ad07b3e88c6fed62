"""The connection to Ray: joined where there is an address, else started on this machine and ended with its run."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import ray  # noqa: TID251 - this package is the edge where Ray is known

from core.cluster.environment import worker_runtime_env
from core.errors import ConfigError, DependencyDown
from core.model.specs import RaySpec

OWN = "local"
"""Ray's word for an instance of one's own, whatever $RAY_ADDRESS says."""
LOOPBACK = "127.0.0.1"
CLIENT = "ray://"
KNOCK_DEADLINE_S = 5.0
"""Ray itself tries an address where nobody is for minutes."""


@contextlib.contextmanager
def connected(spec: RaySpec) -> Iterator[None]:
    """Be connected while the context is open. A connection that is there already is used and left as it is.

    Raises DependencyDown when nothing answers at the address, or no Ray can be started here; ConfigError for an
    address of Ray Client, under which workers could not stream their rows, and for a share of this machine that is
    more than all of it.
    """
    if ray.is_initialized():
        yield
        return
    _be_quiet()
    address = address_of(spec)
    if address.startswith(CLIENT):
        raise ConfigError(
            f"{address} is an address of Ray Client, which cannot run this",
            path="runtime.ray.address",
            remedy="`assay submit` runs it there from here; on a node of the cluster, use `auto` or host:port",
        )
    try:
        _knock(address)
        with _own_signals():
            _connect(address, spec)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise DependencyDown(
            f"Ray at {address} cannot be used: {_first_line(error)}",
            endpoint=address,
            remedy="see that the head runs the same versions of ray and Python and can be reached (`ray status`), "
            "or unset RAY_ADDRESS and runtime.ray.address to start one here",
        ) from error
    try:
        if address == OWN:
            _require_room(spec)
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
        # On loopback alone: nobody else is to send work to it. Which processes stand back is theirs to say, not Ray's,
        # which would have all of them do so.
        ray.init(
            OWN, include_dashboard=False, object_store_memory=spec.object_store_mb << 20, _node_ip_address=LOOPBACK,
            _system_config={"worker_niceness": 0}, **quiet,
        )  # fmt: skip
    else:
        ray.init(address, runtime_env=worker_runtime_env(os.environ, Path.cwd()), **quiet)


def _knock(address: str) -> None:
    """Raises OSError when nobody listens at `address`, if it is host:port."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return
    # Ray takes loopback for any address of this machine.
    hosts = {host, ray.util.get_node_ip_address()} if host in (LOOPBACK, "localhost") else {host}
    refusals: list[OSError] = []
    for each in sorted(hosts):
        try:
            socket.create_connection((each.strip("[]"), int(port)), KNOCK_DEADLINE_S).close()
        except OSError as error:
            refusals.append(error)
        else:
            return
    raise refusals[0]


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """SIGTERM stays with whoever handles it: Ray would have the process abort with a trace of its stack."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGTERM, before)


def _require_room(spec: RaySpec) -> None:
    """Raises ConfigError for a process that a Ray of this machine alone can never place."""
    there = ray.cluster_resources()
    for name, kind in (("cpus_per_worker", "CPU"), ("gpus_per_embedder", "GPU")):
        if getattr(spec, name) > there.get(kind, 0.0):
            raise ConfigError(
                f"{getattr(spec, name):g} {kind} for one process are more than the {there.get(kind, 0.0):g} here",
                path=f"runtime.ray.{name}",
                remedy="ask for less, or join a cluster that has it (runtime.ray.address)",
            )


def _be_quiet() -> None:
    """Nothing is reported to Ray's makers, and no token is written to the user's home unless one is asked for."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
