"""An S3-compatible server on loopback, for this process and its children."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count
from pathlib import Path
from typing import cast

import httpx
from moto.server import ThreadedMotoServer

from core.disk import location

_serial = count()


@cache
def _server() -> str:
    """The URL of the one server of this test session; its thread ends with the process."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    return f"http://{host}:{port}"


def environment() -> Mapping[str, str]:
    """The variables by which a client finds the server."""
    return {
        "AWS_ENDPOINT_URL": _server(),
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def fresh_prefix() -> str:
    """An URL below which there is nothing, in a bucket of its own."""
    bucket = f"bucket-{next(_serial)}"
    httpx.put(f"{_server()}/{bucket}").raise_for_status()
    return f"s3://{bucket}/some/prefix"


@contextlib.contextmanager
def memory_prefix() -> Iterator[Path]:
    """A place in fsspec's memory file system, cleared afterwards."""
    from upath import UPath

    place = UPath(f"memory://root-{next(_serial)}")
    try:
        yield cast("Path", place)
    finally:
        if place.exists():
            place.fs.rm(place.path, recursive=True)


def s3_prefix() -> Path:
    """`fresh_prefix`, opened; `environment` must be that of this process."""
    return location(fresh_prefix())
