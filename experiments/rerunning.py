"""Every deviation of a rerun from its original, before it starts and once its record is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.adapters.llm.preflight import retirement
from core.lab.deviations import code_deviations, configuration_deviations, data_deviations, record_deviations
from core.lab.prepare import Prepared
from core.measure.published import published_deviations
from core.model.deviation import Area, Deviation, RerunOf
from core.model.record import ModelRecord, Provenance, RunRecord
from core.model.specs import Provider
from experiments.originals import Original, Publication, StoredRun

ROLES = (".generator.model", ".judge.model")
"""Settings that name a language model."""


def known_before(original: Original, again: Prepared[Any], provenance: Provenance, today: str) -> tuple[Deviation, ...]:
    """What can be told before anything is opened; nothing for a publication, which kept no record.

    `today` is an ISO 8601 date.
    """
    what = original.what
    if isinstance(what, Publication):
        return ()
    return (
        *_configured(what, again, today),
        *data_deviations(what.record.data, again.data),
        *code_deviations(what.record.provenance, provenance),
    )


def marked(original: Original, again: Prepared[Any], record: RunRecord, today: str) -> RunRecord:
    """`record`, the rerun's, with what it repeats and every deviation."""
    what = original.what
    if isinstance(what, Publication):
        asked = again.plan.expected // max(len(again.plan.cells), 1)
        found = RerunOf(run=what.name, deviations=published_deviations(what.campaign, record, asked))
    else:
        deviations = (*_configured(what, again, today), *record_deviations(what.record, record))
        found = RerunOf(run=what.name, fingerprint=what.record.fingerprint, deviations=deviations)
    return record.model_copy(update={"rerun_of": found})


def _configured(what: StoredRun, again: Prepared[Any], today: str) -> tuple[Deviation, ...]:
    found = configuration_deviations(what.config, again.config)
    return tuple(_explained(each, today) for each in (*found, *_unchanged_but_retired(what.record, found, today)))


def _explained(each: Deviation, today: str) -> Deviation:
    """`each`, with the day on which a model that was replaced had been retired."""
    if not each.setting.endswith(ROLES):
        return each
    note = _retired(each.was, today)
    return each.model_copy(update={"note": note}) if note else each


def _unchanged_but_retired(record: RunRecord, found: Sequence[Deviation], today: str) -> list[Deviation]:
    """Models of the original that answer no more and that the rerun asks for all the same."""
    replaced = {each.was for each in found if each.setting.endswith(ROLES)}
    asked: dict[str, ModelRecord] = {
        model.model: model
        for suite in record.suites
        for model in suite.models
        if model.provider is Provider.ANTHROPIC and model.model not in replaced
    }
    notes = {name: _retired(name, today) for name in asked}
    return [
        Deviation(area=Area.MODEL, setting=f"{asked[name].role}.model", was=name, now="not served", note=note)
        for name, note in notes.items()
        if note
    ]


def _retired(model: str, today: str) -> str:
    """`retired on 2026-06-15`; empty for a model that is served, or that the SDK does not list."""
    end = retirement(model)
    return f"retired on {end.isoformat()}" if end is not None and end.isoformat() <= today[:10] else ""
