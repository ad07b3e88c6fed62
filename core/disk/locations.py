"""Where things can be kept: a folder of a mounted file system, or a prefix of a bucket on an object store."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from core.errors import ConfigError

EXTRAS = {"s3": "s3", "gs": "gcs", "gcs": "gcs"}
"""Scheme -> the extra that brings its client. Both clients can create an object only where there is none."""


def location(text: str) -> Path:
    """The place that `text` names: a path, or a URL as `s3://bucket/prefix`. Asks no server. Raises ConfigError.

    A place on an object store is a UPath. It answers to what a Path answers to as far as names go, and to reading whole
    files; it is no os.PathLike, so that nothing can open it as a local file by mistake. Endpoint and credentials come
    from the environment, as every client of that store takes them.
    """
    scheme, mark, rest = text.partition("://")
    if not mark:
        return Path(text)
    if scheme == "file":
        return Path(rest)
    if scheme not in EXTRAS or not rest.strip("/"):
        remedy = "give a folder, s3://BUCKET/PREFIX or gs://BUCKET/PREFIX"
        raise ConfigError(f"{text!r} is no place where results can be kept", path="ASSAY_RESULTS", remedy=remedy)
    return _on_a_store(text, EXTRAS[scheme])


def is_object(place: object) -> bool:
    """Whether `place`, a location, is on an object store."""
    return not isinstance(place, Path)


def _on_a_store(url: str, extra: str) -> Path:
    try:
        from upath import UPath

        # Another process may write below the same prefix, so that a remembered listing would be wrong.
        place = UPath(url.rstrip("/"), use_listings_cache=False)
        _ = place.fs
    except ImportError as error:
        remedy = f"pip install 'assay-lab[{extra}]'"
        raise ConfigError(f"{url} needs the package {error.name}", path="ASSAY_RESULTS", remedy=remedy) from error
    return cast("Path", place)
