"""A domain's questions and examples, read from YAML; every fault names the file, the item and the field."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from core.errors import ConfigError
from core.model.frozen import Frozen
from core.model.sample import Example, GoldenQuestion

Item = TypeVar("Item", bound=Frozen)

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WRITTEN = {"id", "question", "ground_truth", "description", "code"}
_FENCE = re.compile(r"^```avap\s*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)


def load_golden(path: Path) -> tuple[GoldenQuestion, ...]:
    """The questions below `questions:` of the file, in its order.

    Raises ConfigError for a file that cannot be read, an item that is not a question, and an id used twice.
    """
    questions = _items(path, "questions", GoldenQuestion)
    _refuse_duplicates((path, question.id) for question in questions)
    return tuple(questions)


def load_examples(folder: Path) -> tuple[Example, ...]:
    """The examples below `examples:` of every `*.yaml` in the folder, by file name, then in the file's order.

    Raises ConfigError for an empty or absent folder, an item that is not an example, and an id used twice.
    """
    found = [(file, example) for file in example_files(folder) for example in _items(file, "examples", Example)]
    _refuse_duplicates((file, example.id) for file, example in found)
    return tuple(example for _, example in found)


def example_files(folder: Path) -> tuple[Path, ...]:
    """The files that `load_examples` reads, sorted. Raises ConfigError for an empty or absent folder."""
    files = tuple(sorted(folder.glob("*.yaml")))
    if not files:
        raise ConfigError(
            f"{folder} holds no *.yaml", file=str(folder), path="few_shot.pool", remedy="name a folder of example files"
        )
    return files


def leaked(examples: Iterable[Example], golden: Iterable[GoldenQuestion]) -> frozenset[str]:
    """Ids of the examples whose code is also the code of a golden answer, comments and spacing apart."""
    answers = {_essence(code) for question in golden for code in _FENCE.findall(question.ground_truth)}
    return frozenset(example.id for example in examples if _essence(example.code) in answers)


def _essence(code: str) -> str:
    lines = (re.sub(r"\s+", "", line) for line in code.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _refuse_duplicates(found: Iterable[tuple[Path, str]]) -> None:
    first: dict[str, Path] = {}
    for file, name in found:
        if name in first:
            raise ConfigError(
                f"{file}: the id {name!r} is already used in {first[name]}",
                file=str(file),
                path="id",
                remedy="give each item an id of its own",
            )
        first[name] = file


def _items(file: Path, key: str, kind: type[Item]) -> list[Item]:
    data = _yaml(file)
    if not isinstance(data, dict) or set(data) != {key} or not isinstance(data[key], list) or not data[key]:
        raise ConfigError(
            f"{file} must hold one key, `{key}:`, with a list of at least one item", file=str(file), path=key
        )
    return [_item(file, f"{key}.{number}", entry, kind) for number, entry in enumerate(data[key])]


def _item(file: Path, place: str, entry: Any, kind: type[Item]) -> Item:
    try:
        item = kind.model_validate(entry)
    except ValidationError as error:
        raise _fault(file, place, entry, kind, error) from error
    for field in sorted(_WRITTEN.intersection(kind.model_fields)):
        if not getattr(item, field).strip():
            raise ConfigError(
                f"{file}: {_called(entry, place)}: {field} is empty", file=str(file), path=f"{place}.{field}"
            )
    return item


def _fault(file: Path, place: str, entry: Any, kind: type[Frozen], error: ValidationError) -> ConfigError:
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return ConfigError(
        f"{file}: {_called(entry, place)}: {field or 'item'}: {first['msg']}",
        file=str(file),
        path=f"{place}.{field}" if field else place,
        remedy=f"the fields are: {', '.join(kind.model_fields)}",
    )


def _called(entry: Any, place: str) -> str:
    return f"{entry['id']} ({place})" if isinstance(entry, dict) and entry.get("id") else place


def _yaml(file: Path) -> Any:
    try:
        return yaml.load(file.read_text("utf-8"), Loader=_LOADER)  # noqa: S506  a safe loader, the C one if built
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}", file=str(file)) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8: {error}", file=str(file)) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 0
        raise ConfigError(f"{file}:{line}: not YAML: {error}", file=str(file), line=line) from error
