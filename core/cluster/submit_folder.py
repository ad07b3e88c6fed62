"""The folder that travels with a job: the code, the configurations, the composed run, and what is said of the code.

Only what is named here is sent, and never what looks like a secret: whoever may read the cluster may read it.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from core.disk import store_error
from core.errors import ConfigError
from core.lab.handover import PACKAGES, Handover
from core.model.record import Provenance

CONFIGS = "configs"
CONFIG = "submission/config.yaml"
PROVENANCE = "submission/provenance.json"
PROJECT = ("pyproject.toml", "constraints.txt", "scripts")
"""What an environment is built from, present in a checkout only."""
LEFT_OUT = ("__pycache__", "_configs", "*.pyc", "*.egg-info", "*~")
SECRET = (
    "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.kdbx", "*.token", "id_rsa*", "id_ed25519*", "id_ecdsa*",
    "credentials*", "*secret*", "kubeconfig*",
)  # fmt: skip
LIMIT_BYTES = 32 << 20
LARGEST_SHOWN = 5


@dataclass(frozen=True)
class Sources:
    """Where the things to send are on this machine."""

    code: Path
    """The folder that holds the packages."""
    configs: Path

    @property
    def is_checkout(self) -> bool:
        """Whether an environment can be built from what is here; an installed package has not the files for it."""
        return (self.code / "pyproject.toml").is_file() and (self.code / "constraints.txt").is_file()


@dataclass(frozen=True)
class Staged:
    """The folder as it will be sent."""

    folder: Path
    files: int
    size: int
    """Bytes, before compression."""


def stage(into: Path, sources: Sources, config: str, data: Mapping[str, str], provenance: Provenance) -> Staged:
    """Make the folder `into`, from which the run of `config` (YAML) with the pinned `data` can be started elsewhere.

    `data` is as core.lab.prepare pins it: path below the configs root -> sha256. Raises ConfigError when a pinned file
    would not be there or the whole is too large, StoreError when it cannot be written.
    """
    copies = dict(_copies(sources))
    _within_limit(copies)
    try:
        for name, file in copies.items():
            _copy(file, into / name)
        _check_pins(into, sources, data)
        (into / CONFIG).parent.mkdir()
        (into / CONFIG).write_text(config, encoding="utf-8")
        handover = Handover.of(provenance, into)
        (into / PROVENANCE).write_text(handover.model_dump_json(indent=2), encoding="utf-8")
    except OSError as error:
        raise store_error(error, Path(error.filename or into)) from error
    sent = [file for file in into.rglob("*") if file.is_file()]
    return Staged(into, len(sent), sum(file.stat().st_size for file in sent))


def is_sent(path: PurePosixPath) -> bool:
    """Whether the file at `path`, relative to a folder that is sent, goes along."""
    if any(part.startswith(".") or any(fnmatch(part, pattern) for pattern in LEFT_OUT) for part in path.parts):
        return False
    return path.suffix == ".py" or not any(fnmatch(path.name.lower(), pattern) for pattern in SECRET)


def _copies(sources: Sources) -> Iterator[tuple[str, Path]]:
    """Name in the folder -> file here."""
    named = PACKAGES + (PROJECT if sources.is_checkout else ())
    for name in named:
        yield from _below(sources.code / name, name)
    yield from _below(sources.configs, CONFIGS)


def _below(source: Path, name: str) -> Iterator[tuple[str, Path]]:
    if source.is_file():
        yield name, source
    for file in sorted(source.rglob("*")):
        path = PurePosixPath(file.relative_to(source))
        if file.is_file() and is_sent(path):
            yield f"{name}/{path}", file


def _copy(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)


def _within_limit(copies: Mapping[str, Path]) -> None:
    sizes = {name: file.stat().st_size for name, file in copies.items()}
    total = sum(sizes.values())
    if total > LIMIT_BYTES:
        largest = sorted(sizes, key=lambda name: -sizes[name])[:LARGEST_SHOWN]
        named = ", ".join(f"{name} ({_mib(sizes[name])})" for name in largest)
        raise ConfigError(
            f"what would be sent is {_mib(total)}, and {_mib(LIMIT_BYTES)} is the limit. The largest: {named}",
            file=str(copies[largest[0]]),
            remedy="keep large files off the configs folder: results, caches and models belong to the cluster's disks",
        )


def _check_pins(into: Path, sources: Sources, data: Mapping[str, str]) -> None:
    """What was fingerprinted here must be what arrives."""
    for name, pin in data.items():
        sent = into / CONFIGS / name
        if Path(name).is_absolute() or not sent.is_file():
            raise ConfigError(
                f"the data file {name} would not be sent with the job",
                file=str(sources.configs / name),
                remedy=f"keep it below {sources.configs}, under a name that is neither hidden nor that of a secret",
            )
        if hashlib.sha256(sent.read_bytes()).hexdigest() != pin:
            raise ConfigError(f"the data file {name} changed while it was copied", file=str(sources.configs / name),
                              remedy="submit again")  # fmt: skip


def _mib(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"
