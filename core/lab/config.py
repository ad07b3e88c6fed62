"""Configurations: found by name, composed from YAML with OmegaConf, validated by pydantic.

Precedence, lowest first: the files of `extends` in order, the file itself, `--set`. Interpolations are resolved on the
composed whole, before suites are written out. `${oc.env:...}` and other resolvers work under `runtime:` only, and
nothing else may refer into `runtime:`, so that no environment can reach what identifies a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import ValidationError

from core.errors import ConfigError
from core.lab.assign import Assignment
from core.lab.complaints import explain
from core.lab.experiment import ExperimentConfig
from core.lab.nearest import did_you_mean
from core.lab.schema import suite_fields
from core.lab.source import Origins, Source, mapping, read, walk
from core.lab.suites import merged, pushed_down

ConfigT = TypeVar("ConfigT", bound=ExperimentConfig)
FOLDERS = ("", "experiments", "campaigns")
_RESOLVER = re.compile(r"\$\{\s*[\w.]+\s*:")


@dataclass(frozen=True)
class Draft:
    """A composed configuration that is not validated yet."""

    file: Path
    data: Mapping[str, Any]
    """Resolved, but for `runtime`."""
    runtime: Mapping[str, Any]
    """Unresolved: what is stored with a run names environment variables, not their values."""
    origins: Origins

    @property
    def experiment(self) -> str:
        """Which experiment is meant. Raises ConfigError when the configuration does not say."""
        name = self.data.get("experiment")
        if not isinstance(name, str):
            file = str(self.file)
            raise ConfigError(f"{file} does not say which experiment it is for", file=file, path="experiment",
                              remedy="add `experiment: msvl`, or extend a file that has it")  # fmt: skip
        return name

    def placed(self, error: ConfigError) -> ConfigError:
        """`error` with file and line of what it complains of, where it knows nothing but the path in here."""
        if not error.path or error.file:
            return error
        at = self.origins.of(tuple(int(step) if step.isdecimal() else step for step in error.path.split(".")))
        error.args, error.file, error.line = (f"{at}: {error}",), at.file, at.line
        return error

    def validated(self, config_type: type[ConfigT]) -> ConfigT:
        """The configuration. Raises ConfigError telling all faults, each with its file, path and what is allowed."""
        data, origins = dict(self.data), self.origins
        fields = suite_fields(config_type)
        if fields:
            common = [field for field in fields if field not in config_type.model_fields]
            data, origins = pushed_down(data, origins, common)
        elif "sweep" in data:
            raise origins.fault("this experiment has no suites to sweep over", ("sweep",), remedy="remove `sweep:`")
        data["runtime"] = _resolved({"runtime": self.runtime}, origins)["runtime"]
        try:
            return config_type.model_validate(data)
        except ValidationError as error:
            raise explain(error, config_type, origins) from error


def find(name: str, configs: Path) -> Path:
    """The file that `name` means: a path, or a name below `configs`. Raises ConfigError with the nearest names."""
    literal_path = Path(name)
    if literal_path.suffix in {".yaml", ".yml"} and _is_file(literal_path):
        return literal_path
    candidates = [configs / folder / f"{name}.yaml" for folder in FOLDERS] + [configs / name]
    found = next((file for file in candidates if _is_file(file)), None)
    if found is not None:
        return found
    known = known_names(configs)
    raise ConfigError(
        f"no configuration is called {name!r} (looked in {', '.join(str(configs / f) for f in FOLDERS)})",
        file=name,
        remedy=f"{did_you_mean(name, known)}known: {', '.join(known) or 'none'}; or give the path of a YAML file",
    )


def known_names(configs: Path) -> tuple[str, ...]:
    """The names that `find` knows, sorted."""
    return tuple(sorted({file.stem for folder in FOLDERS for file in (configs / folder).glob("*.yaml")}))


def compose(file: Path, *, configs: Path, assignments: Sequence[str] = ()) -> Draft:
    """The configuration in `file` with what it extends and `assignments` (`a.b=c`) applied. Raises ConfigError."""
    source = _extended(file, configs, ())
    data, origins = dict(source.data), source.origins
    for assignment in map(Assignment.parse, assignments):
        data = mapping(assignment.applied(data))
        origins = origins.under(assignment.origins(origins)).within(data)
    runtime = data.pop("runtime", None) or {}
    if not isinstance(runtime, dict):
        raise origins.fault("must be a mapping", ("runtime",), remedy="write keys below `runtime:`")
    for place, value in walk(data):
        if isinstance(value, str) and _RESOLVER.search(value):
            raise origins.fault(f"{value!r} reads the environment, which only `runtime:` may do", place,
                         remedy="write the value itself: literals are the identity of a run")  # fmt: skip
    return Draft(file, _resolved(data, origins), runtime, origins)


def stored(config: ExperimentConfig, runtime: Mapping[str, Any]) -> str:
    """`config` as YAML from which the same configuration composes again, with `runtime` as it was written."""
    data = {**config.model_dump(mode="json"), "runtime": dict(runtime)}
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    # PyYAML leaves some line breaks of Unicode (U+0085) as they are and reads them back as spaces.
    return text if yaml.safe_load(text) == data else yaml.safe_dump(data, sort_keys=False)


def _extended(file: Path, configs: Path, chain: tuple[Path, ...]) -> Source:
    resolved = file.resolve()
    if resolved in chain:
        loop = " -> ".join(str(link) for link in (*chain[chain.index(resolved) :], resolved))
        raise ConfigError(f"`extends` goes in a circle: {loop}", file=str(file), path="extends",
                          remedy="remove one of the links")  # fmt: skip
    own = read(file)
    data: dict[str, Any] = {}
    origins = own.origins
    for base in _bases(own, file, configs):
        source = _extended(base, configs, (*chain, resolved))
        data, origins = merged(data, source.data), origins.under(source.origins)
    mine = {key: value for key, value in own.data.items() if key != "extends"}
    whole = merged(data, mine)
    return Source(whole, origins.under(own.origins).within(whole))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no file system would take, as one too long
        return False


def _bases(source: Source, file: Path, configs: Path) -> Iterator[Path]:
    wanted = source.data.get("extends") or []
    names = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        remedy = "write `extends: experiments/msvl`, or a list of such names"
        raise source.origins.fault("must be a name or a list of names", ("extends",), remedy=remedy)
    for name in names:
        options = [root / f"{name}{suffix}" for root in (file.parent, configs) for suffix in ("", ".yaml")]
        found = next((option for option in options if _is_file(option)), None)
        if found is None:
            near = [str(f.relative_to(configs).with_suffix("")) for f in configs.rglob("*.yaml")]
            remedy = f"{did_you_mean(name, near)}looked in {file.parent} and {configs}"
            raise source.origins.fault(f"{name!r} is not a file", ("extends",), remedy=remedy)
        yield found


def _resolved(data: Mapping[str, Any], origins: Origins) -> dict[str, Any]:
    try:
        plain = OmegaConf.to_container(OmegaConf.create(dict(data)), resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        path = str(getattr(error, "full_key", None) or "")
        place = tuple(int(s) if s.isdecimal() else s for s in re.split(r"[.\[\]]+", path) if s)
        what = str(error).splitlines()[0]
        raise origins.fault(what, place, remedy="set the variable or write the value") from error
    return mapping(plain)
