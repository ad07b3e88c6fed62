"""`--set a.b=c`: one value of a configuration, changed on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from core.errors import ConfigError
from core.lab.source import Origin, Origins, Place, dotted, mapping, walk
from core.lab.suites import merged

COMMAND_LINE = Origin("--set")


@dataclass(frozen=True)
class Assignment:
    """A value for one place; list items are named by index."""

    place: Place
    value: object

    @classmethod
    def parse(cls, text: str) -> Assignment:
        """From `a.0.b=VALUE`, the value read as YAML: `5` is a number, `[a, b]` a list. Raises ConfigError."""
        path, equals, value = text.partition("=")
        steps = path.strip().split(".")
        if not equals or not all(steps):
            raise ConfigError(f"--set {text!r} is not KEY=VALUE", file="--set", remedy="write --set retrieval.k=4")
        try:
            read = mapping(OmegaConf.to_container(OmegaConf.from_dotlist([f"value={value}"]), resolve=False))
        except (yaml.YAMLError, OmegaConfBaseException) as error:
            remedy = "quote it: --set 'a.b=\"text\"'"
            raise ConfigError(f"--set {text!r}: not a YAML value", file="--set", path=path, remedy=remedy) from error
        return cls(tuple(int(step) if step.isdecimal() else step for step in steps), read["value"])

    def applied(self, data: object) -> Any:
        """`data` with the value in its place; missing mappings are made. Raises ConfigError for a missing list item."""
        return self._laid(data, self.place)

    def origins(self, before: Origins) -> Origins:
        """The places that were set or made on the way to them, all written on the command line."""
        made = (self.place[:length] for length in range(1, len(self.place)))
        places = [place for place in made if place not in before.places]
        places += [place for place, _ in walk(self.value, self.place)]
        return Origins(before.root, dict.fromkeys(places, COMMAND_LINE))

    def _laid(self, data: object, place: Place) -> Any:
        if not place:
            return merged(data, self.value)
        step, rest = place[0], place[1:]
        if isinstance(data, list):
            if not isinstance(step, int) or step >= len(data):
                raise self._no_item(len(data), step)
            return [self._laid(item, rest) if index == step else item for index, item in enumerate(data)]
        inner = data if isinstance(data, Mapping) else {}
        return {**inner, str(step): self._laid(inner.get(str(step)), rest)}

    def _no_item(self, length: int, step: str | int) -> ConfigError:
        path = dotted(self.place)
        what = f"--set {path}: the list there has {length} items and {step!r} is not one of them"
        return ConfigError(what, file="--set", path=path, remedy="count items from 0")
