"""What a run stood on and what came out of it, as artifacts: equal content is one version, whichever run names it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.adapters.track.view import Artifact
from core.model.frozen import canonical_json
from core.model.record import RunRecord, SuiteRecord
from core.model.retrieval import IndexManifest

INDEX = "index"
DATASET = "dataset"
NAME_LENGTH = 128
"""What W&B takes."""


def of_suite(record: RunRecord, config: Mapping[str, Any], name: str) -> tuple[Artifact, ...]:
    """Index, golden set and few-shot pool of one suite."""
    own = [suite for suite in record.suites if _is_of(name, suite.suite)]
    pools = [_pool(config, suite) for suite in own]
    return tuple(_distinct([*(_index(suite.index) for suite in own), *_golden(record, config),
                            *_pools(record, pools)]))  # fmt: skip


def of_run(record: RunRecord, config: Mapping[str, Any]) -> tuple[Artifact, ...]:
    """The same of all suites, each once."""
    return tuple(_distinct([a for suite in record.suites for a in of_suite(record, config, suite.suite)]
                           or list(_golden(record, config))))  # fmt: skip


def made(record: RunRecord, report: Mapping[str, bytes], papers: Mapping[str, bytes]) -> tuple[Artifact, ...]:
    """The report, and the record that it rests on."""
    about = {"fingerprint": record.fingerprint, "experiment": record.experiment}
    stem = f"{record.name}-{record.fingerprint[:12]}"
    both = (
        Artifact(artifact_name("record", stem), "record", papers, about),
        Artifact(artifact_name("report", stem), "report", report, about),
    )
    return tuple(artifact for artifact in both if artifact.files)


def suite_config(record: RunRecord, config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What sets this suite apart: its part of the configuration, and what the record says it really was."""
    written = [suite for suite in _suites(config) if _is_of(name, str(suite.get("name")))]
    recorded = [suite for suite in record.suites if _is_of(name, suite.suite)]
    return {
        "suite": name,
        **({"spec": written[0]} if written else {}),
        **({"recorded": recorded[0].model_dump(mode="json", exclude={"suite"})} if recorded else {}),
    }


def artifact_name(kind: str, name: str) -> str:
    """A name that W&B takes: letters, digits, dots, dashes and underscores."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", f"{kind}-{name}")[:NAME_LENGTH]


def _is_of(name: str, suite: str) -> bool:
    """Whether `name` is the suite, or an arm of it."""
    return name == suite or name.startswith(f"{suite}.")


def _index(manifest: IndexManifest) -> Artifact:
    # Without the moment it was built: two builds of one index are one artifact.
    what = manifest.model_dump(mode="json", exclude={"built_at"})
    return Artifact(artifact_name(INDEX, manifest.name), INDEX, {"manifest.json": _json(what)}, what)


def _golden(record: RunRecord, config: Mapping[str, Any]) -> tuple[Artifact, ...]:
    file = config.get("golden")
    return (_dataset("golden", file, [file], record),) if isinstance(file, str) and file in record.data else ()


def _pools(record: RunRecord, folders: Sequence[str]) -> list[Artifact]:
    found = []
    for folder in folders:
        files = [file for file in record.data if folder and file.startswith(f"{folder.rstrip('/')}/")]
        if files:
            found.append(_dataset("pool", folder, files, record))
    return found


def _dataset(kind: str, path: str, files: Sequence[str], record: RunRecord) -> Artifact:
    """Data files by hash. Their content stays where it is: the record pins it, W&B is told which it was."""
    pins = {file: record.data[file] for file in sorted(files)}
    stem = path.removesuffix(".yaml").strip("/").replace("/", ".")
    return Artifact(artifact_name(kind, stem), DATASET, {"pins.json": _json(pins)}, {"path": path, "files": len(pins)})


def _pool(config: Mapping[str, Any], suite: SuiteRecord) -> str:
    written = [found for found in _suites(config) if found.get("name") == suite.suite]
    few_shot = written[0].get("few_shot") if written else None
    folder = few_shot.get("pool") if isinstance(few_shot, Mapping) and few_shot.get("k") else None
    return folder if isinstance(folder, str) else ""


def _suites(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = config.get("suites")
    return [suite for suite in found if isinstance(suite, Mapping)] if isinstance(found, list) else []


def _distinct(artifacts: Sequence[Artifact]) -> list[Artifact]:
    return list({(artifact.name, *artifact.files.values()): artifact for artifact in artifacts}.values())


def _json(value: object) -> bytes:
    return canonical_json(value).encode()
