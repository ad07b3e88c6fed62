"""What makes a run this run: its configuration without `runtime`, and the content of its data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.errors import ConfigError
from core.lab.experiment import ExperimentConfig
from core.model.frozen import digest


def fingerprint(config: ExperimentConfig, data: Mapping[str, str]) -> str:
    """sha256 over experiment, configuration without `runtime`, and data pins. Code is recorded, not hashed."""
    literals = config.model_dump(mode="json", exclude={"runtime"})
    return digest({"experiment": config.experiment, "config": literals, "data": data})


def pinned(files: Sequence[Path], configs: Path) -> dict[str, str]:
    """Each file, relative to `configs` where it is below it -> sha256 of its content. Raises ConfigError."""
    return {_relative(file, configs): _sha256(file) for file in sorted(files)}


def _relative(file: Path, configs: Path) -> str:
    return file.relative_to(configs).as_posix() if file.is_relative_to(configs) else file.as_posix()


def _sha256(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(
            f"data file {file} cannot be read: {error.strerror}",
            file=str(file),
            remedy="check the path in the configuration, and ASSAY_CONFIGS",
        ) from error
