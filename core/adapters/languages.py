"""Where configurations are, and the AVAP vocabularies among them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from core.avap import Vocabulary
from core.errors import ConfigError

VOCABULARIES = Path("languages", "avap")
"""Folder of the vocabulary files, relative to the configs root."""

_CORE = Path(__file__).resolve().parent.parent
_YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def configs_root() -> Path:
    """The folder that configurations are read from.

    `$ASSAY_CONFIGS` when set, else `configs` of the working directory, of the source checkout, or the copy that was
    installed with the package: the first that exists.
    Raises ConfigError when `$ASSAY_CONFIGS` is not a folder.
    """
    named = os.environ.get("ASSAY_CONFIGS")
    if named and not Path(named).is_dir():
        raise ConfigError(
            f"ASSAY_CONFIGS is {named!r}, which is not a folder",
            remedy="unset ASSAY_CONFIGS, or set it to a folder of configurations",
        )
    if named:
        return Path(named)
    return next((folder for folder in _roots() if folder.is_dir()), _CORE / "_configs")


def vocabulary_root() -> Path:
    """The folder of vocabulary files: that of the configs root, else of the first other place which has one."""
    places = (configs_root(), *_roots())
    return next((root / VOCABULARIES for root in places if (root / VOCABULARIES).is_dir()), places[0] / VOCABULARIES)


def vocabulary_ids(root: Path | None = None) -> tuple[str, ...]:
    """The ids of the vocabularies in the folder `root`, sorted; by default in `vocabulary_root()`."""
    return tuple(sorted(file.stem for file in (root or vocabulary_root()).glob("*.yaml")))


@dataclass(frozen=True)
class VocabularyFile:
    """A vocabulary, and the content of its file: what another process needs to build the same one."""

    vocabulary: Vocabulary
    content: Mapping[str, Any]


def load_vocabulary(id: str, root: Path | None = None) -> Vocabulary:  # noqa: A002  the word of the contract
    """Read the vocabulary `id` from the folder `root`, by default from `vocabulary_root()`.

    Raises ConfigError, naming the known ids, when there is none of that name, and naming the file and the line
    when it is not a vocabulary.
    """
    return read_vocabulary(id, root).vocabulary


def read_vocabulary(id: str, root: Path | None = None) -> VocabularyFile:  # noqa: A002  the word of the contract
    """As `load_vocabulary`, with the content beside it."""
    folder = root or vocabulary_root()
    known = vocabulary_ids(folder)
    if id not in known:
        raise ConfigError(
            f"unknown vocabulary {id!r}; {folder} has {', '.join(known) or 'none'}",
            path="language.vocabulary",
            remedy=f"use one of: {', '.join(known)}" if known else f"put vocabulary files into {folder}",
        )
    file = folder / f"{id}.yaml"
    content = _mapping(file)
    vocabulary = _vocabulary(content, file)
    if vocabulary.id != id:
        raise ConfigError(
            f"{file} declares the id {vocabulary.id!r}",
            file=str(file),
            path="id",
            remedy=f"name the file {vocabulary.id}.yaml",
        )
    return VocabularyFile(vocabulary, content)


def _roots() -> Iterator[Path]:
    yield Path("configs").absolute()
    yield _CORE.parent / "configs"
    yield _CORE / "_configs"


def _vocabulary(content: Mapping[str, Any], file: Path) -> Vocabulary:
    try:
        return Vocabulary.from_mapping(content)
    except TypeError as error:
        raise ConfigError(
            f"{file} is not a vocabulary: {error}", file=str(file), remedy="use plain text keys"
        ) from error
    except ConfigError as error:
        message = f"{file}: {error.path}: {error}"
        raise ConfigError(message, file=str(file), path=error.path, remedy=error.remedy) from error


def _mapping(file: Path) -> dict[str, Any]:
    try:
        data = yaml.load(file.read_bytes(), Loader=_YAML)  # noqa: S506  a safe loader, the C one where it was built
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}", file=str(file)) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 0
        problem = getattr(error, "problem", None) or error
        raise ConfigError(f"{file}:{line}: not YAML: {problem}", file=str(file), line=line) from error
    if not isinstance(data, dict):
        raise ConfigError(f"{file} holds no mapping", file=str(file), line=1)
    return data
