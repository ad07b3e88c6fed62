"""Which experiments exist: name -> where the class is, imported when it is asked for and not before."""

from __future__ import annotations

import importlib
from typing import Any

from core.errors import ConfigError
from core.lab.experiment import Experiment
from core.lab.nearest import did_you_mean

EXPERIMENTS: dict[str, str] = {
    "leakage": "experiments.leakage:Leakage",
    "msvl": "experiments.msvl:Msvl",
}


def experiment(name: str) -> Experiment[Any]:
    """The experiment called `name`. Raises ConfigError for one that is not registered."""
    try:
        module, _, attribute = EXPERIMENTS[name].partition(":")
    except KeyError:
        raise ConfigError(
            f"there is no experiment {name!r}",
            path="experiment",
            remedy=f"{did_you_mean(name, EXPERIMENTS)}known: {', '.join(sorted(EXPERIMENTS))}",
        ) from None
    made: Experiment[Any] = getattr(importlib.import_module(module), attribute)()
    return made
