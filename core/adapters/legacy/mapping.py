"""The mapping file: which names stand for which field."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import ValidationError

from core.errors import ConfigError
from core.model.legacy import LegacyMapping

MAPPING = Path("legacy.yaml")
"""The one that ships, below the configs root."""


def load_mapping(file: Path) -> LegacyMapping:
    """The mapping in `file`. Raises ConfigError, with the line where the YAML is at fault."""
    try:
        data = yaml.safe_load(file.read_text("utf-8"))
        return LegacyMapping.model_validate(data)
    except OSError as error:
        raise ConfigError(
            f"{file} cannot be read: {error.strerror}", file=str(file), remedy="check --mapping"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 0
        raise ConfigError(f"{file}:{line}: not YAML: {error}", file=str(file), line=line, remedy="mend it") from error
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        said = "; ".join(f"{_place(fault['loc'])}: {fault['msg']}" for fault in faults)
        raise ConfigError(
            f"{file}: {said}",
            file=str(file),
            path=_place(faults[0]["loc"]),
            remedy=f"the keys are: {', '.join(LegacyMapping.model_fields)}",
        ) from error


def _place(steps: tuple[int | str, ...]) -> str:
    return ".".join(str(step) for step in steps if step != "[key]") or "the file"
