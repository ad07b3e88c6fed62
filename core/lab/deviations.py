"""What a repetition does otherwise than the run it repeats: configuration, data, and what each stood on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from core.lab.experiment import ExperimentConfig
from core.model.deviation import ABSENT, Area, Deviation
from core.model.frozen import Frozen
from core.model.record import Provenance, RunRecord, SuiteRecord

STANDS_ON: Mapping[str, tuple[Area, tuple[str, ...]]] = {
    "generator": (Area.MODEL, ("sdk", "api_version", "temperature", "seed")),
    "judge": (Area.MODEL, ("sdk", "api_version", "temperature", "seed")),
    "index": (Area.INDEX, ("engine", "pipeline", "corpus_sha256", "count", "dimensions")),
    "few_shot": (Area.DATA, ("status", "pool_size", "pool_sha256", "excluded")),
    "parser": (Area.GATE, ("version", "vocabulary_sha256", "trace_templates_sha256", "validating")),
}
"""Parts of a suite's record -> what stands there and in no configuration."""
UNCOMPARABLE = "uncommitted changes on either side cannot be compared"
DIGEST_SHOWN = 12


def configuration_deviations(was: ExperimentConfig, now: ExperimentConfig) -> tuple[Deviation, ...]:
    """Every setting in which the two differ, `name` and `runtime` apart: those are no part of what is asked."""
    (before, suites_before), (after, suites_after) = _settings(was), _settings(now)
    common = suites_before.keys() & suites_after.keys()
    by_suite = {
        name: tuple(_differing(Area.CONFIGURATION, suites_before[name], suites_after[name]))
        for name in suites_after
        if name in common
    }
    presence = (dict.fromkeys(suites, "there") for suites in (suites_before, suites_after))
    return (
        *_differing(Area.CONFIGURATION, before, after),
        *_in_suites({"": tuple(_differing(Area.CONFIGURATION, *presence))}),
        *_in_suites(by_suite),
    )


def data_deviations(was: Mapping[str, str], now: Mapping[str, str]) -> tuple[Deviation, ...]:
    """Every data file whose content differs; both are file -> sha256."""
    return tuple(_differing(Area.DATA, _digests(was), _digests(now)))


def code_deviations(was: Provenance, now: Provenance) -> tuple[Deviation, ...]:
    """Commit, interpreter, packages; container, machine, EVAL_SEED."""
    return (
        *_commit(was, now),
        *_differing(Area.CODE, _code(was), _code(now)),
        *_differing(Area.ENVIRONMENT, _environment(was), _environment(now)),
    )


def record_deviations(was: RunRecord, now: RunRecord) -> tuple[Deviation, ...]:
    """What two records differ in and no configuration tells: data, gate, index, measurement, code, environment."""
    known = {suite.suite: suite for suite in was.suites}
    by_suite = {
        suite.suite: tuple(_suite_deviations(known[suite.suite], suite)) for suite in now.suites if suite.suite in known
    }
    return (
        *data_deviations(was.data, now.data),
        *_in_suites(by_suite),
        *_differing(Area.MEASUREMENT, _measurement(was), _measurement(now)),
        *code_deviations(was.provenance, now.provenance),
    )


def _suite_deviations(was: SuiteRecord, now: SuiteRecord) -> Iterator[Deviation]:
    for part, (area, fields) in STANDS_ON.items():
        before, after = (_fields(getattr(suite, part), part, fields) for suite in (was, now))
        yield from _differing(area, before, after)


def _fields(part: Frozen | None, path: str, fields: Iterable[str]) -> dict[str, str]:
    if part is None:
        return {}
    held = part.model_dump(mode="json", include=set(fields))
    return {f"{path}.{name}": _short(name, held[name]) for name in fields}


def _settings(config: ExperimentConfig) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """What the whole run has in common, and what each suite has: dotted setting -> value."""
    data = config.model_dump(mode="json", exclude={"name", "runtime"})
    suites = {suite.pop("name"): dict(_leaves(suite)) for suite in data.pop("suites", ())}
    return dict(_leaves(data)), suites


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Dotted path -> text. A list is one value: its items have no names to be told by."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    else:
        yield path, _text(value)


def _differing(area: Area, was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Deviation]:
    for setting in dict.fromkeys((*was, *now)):
        before, after = was.get(setting, ABSENT), now.get(setting, ABSENT)
        if before != after:
            yield Deviation(area=area, setting=setting, was=before, now=after)


def _in_suites(by_suite: Mapping[str, tuple[Deviation, ...]]) -> Iterator[Deviation]:
    """The deviations of each suite under its name; what all of several suites have in common is told once."""
    times = Counter(each for found in by_suite.values() for each in found)
    shared = {each for each, count in times.items() if 1 < count == len(by_suite)}
    for name, found in by_suite.items():
        for each in found:
            if each not in shared:
                yield _under(name, each)
    yield from (_under("*", each) for each in times if each in shared)


def _under(suite: str, each: Deviation) -> Deviation:
    return each.model_copy(update={"setting": ".".join(filter(None, ("suites", suite, each.setting)))})


def _commit(was: Provenance, now: Provenance) -> Iterator[Deviation]:
    before, after = _code_state(was), _code_state(now)
    unsure = was.dirty or now.dirty or not (was.commit and now.commit)
    if before != after or unsure:
        yield Deviation(area=Area.CODE, setting="commit", was=before, now=after, note=UNCOMPARABLE if unsure else "")


def _code_state(code: Provenance) -> str:
    return f"{code.commit[:DIGEST_SHOWN] or 'unknown'}{' with changes' if code.dirty else ''}"


def _code(code: Provenance) -> dict[str, str]:
    packages = {f"packages.{name}": version for name, version in code.packages.items()}
    return {"assay_version": code.assay_version, "python": code.python, **packages}


def _environment(code: Provenance) -> dict[str, str]:
    return {
        "platform": code.platform,
        "container_image_digest": code.container_image_digest or "none",
        "EVAL_SEED": "unset" if code.eval_seed is None else str(code.eval_seed),
        "notebook": str(code.notebook),
    }


def _measurement(record: RunRecord) -> dict[str, str]:
    metrics = {f"metrics.{name.partition('@')[0]}": name for name in record.metrics}
    prompts = {
        f"prompts.{name.partition('@')[0]}": f"{name} {sha256[:DIGEST_SHOWN]}"
        for name, sha256 in record.prompts.items()
    }
    return {**metrics, **prompts}


def _digests(data: Mapping[str, str]) -> dict[str, str]:
    return {name: sha256[:DIGEST_SHOWN] for name, sha256 in data.items()}


def _short(name: str, value: object) -> str:
    return _text(value)[:DIGEST_SHOWN] if name.endswith("sha256") else _text(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
