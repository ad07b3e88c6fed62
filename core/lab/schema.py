"""Reading pydantic types: which fields stand at a place, and what a suite of an experiment holds."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from core.lab.experiment import ExperimentConfig
from core.lab.source import Place


def suite_fields(config_type: type[ExperimentConfig]) -> tuple[str, ...]:
    """What a suite of `config_type` may hold besides its name; empty for an experiment without suites."""
    field = config_type.model_fields.get("suites")
    models = tuple(_models(field.annotation)) if field else ()
    return tuple(name for model in models for name in model.model_fields if name != "name")


def fields_at(model: type[BaseModel], place: Place) -> tuple[str, ...]:
    """The keys allowed at `place` in `model`, sorted; empty when anything or nothing is."""
    here: list[Any] = [model]
    for step in place:
        here = [inner for annotation in here for inner in _step(annotation, step)]
    return tuple(sorted({name for annotation in here for m in _models(annotation) for name in m.model_fields}))


def _step(annotation: Any, step: str | int) -> Iterator[Any]:
    for model in _models(annotation):
        if step in model.model_fields:
            yield model.model_fields[str(step)].annotation
    origin = typing.get_origin(annotation)
    if origin is not None and not isinstance(step, str):
        yield from typing.get_args(annotation)
    elif origin is dict:
        yield typing.get_args(annotation)[1]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The pydantic models named anywhere in `annotation`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _models(argument)
