"""Whether a run may go on: what stood in its record must stand there still."""

from __future__ import annotations

from collections.abc import Iterator

from core.model.record import Provenance, RunRecord

MAY_DIFFER = frozenset({"created_at", "provenance", "resumed_under", "rerun_of"})
MAY_DIFFER_ANYWHERE = frozenset({"built_at"})


def changes(before: RunRecord, now: RunRecord) -> tuple[str, ...]:
    """What differs between the two, as `path: was X, is Y`, the moment and the code apart."""
    old, new = dict(_leaves(_comparable(before))), dict(_leaves(_comparable(now)))
    paths = [*old, *(path for path in new if path not in old)]
    return tuple(
        f"{path}: was {old.get(path, 'absent')!r}, is {new.get(path, 'absent')!r}"
        for path in paths
        if old.get(path) != new.get(path)
    )


def continued(before: RunRecord, provenance: Provenance) -> RunRecord:
    """`before`, with `provenance` noted when a later driver's code or packages are not the first one's."""
    if any(_same_code(provenance, known) for known in (before.provenance, *before.resumed_under)):
        return before
    return before.model_copy(update={"resumed_under": (*before.resumed_under, provenance)})


def _same_code(one: Provenance, other: Provenance) -> bool:
    fields = {"commit", "dirty", "assay_version", "python", "packages", "container_image_digest"}
    return one.model_dump(include=fields) == other.model_dump(include=fields)


def _comparable(record: RunRecord) -> object:
    return record.model_dump(mode="json", exclude=set(MAY_DIFFER))


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict | list) and value:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if key not in MAY_DIFFER_ANYWHERE:
                yield from _leaves(item, f"{path}.{key}" if path else str(key))
    else:
        yield path, value
