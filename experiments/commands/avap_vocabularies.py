"""`assay avap diff-vocabularies`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from core.avap import Vocabulary
    from core.avap.vocabulary_diff import Difference, VocabularyDiff

_EFFECTS = {
    "none": "no verdict can change",
    "widens": "INVALID can become VALID, never the other way",
    "narrows": "VALID can become INVALID, never the other way",
    "both": "verdicts can change both ways",
}

Named = Annotated[str, typer.Argument(help="Name of a file in configs/languages/avap, or path of a YAML file.")]


def diff_vocabularies(
    before: Named,
    after: Named,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for scripts.")] = False,
) -> None:
    """Say what differs between two vocabularies, and what that can do to verdicts.

    Which verdicts of a finished run it does change: assay recheck RUN.

    Example: assay avap diff-vocabularies lrm-2026.04 definitions-2026.03
    """
    from core.avap.vocabulary_diff import diff_vocabularies as difference

    found = difference(vocabulary_named(before), vocabulary_named(after))
    typer.echo(found.model_dump_json() if as_json else "\n".join(_lines(found)))


def vocabulary_named(name: str) -> Vocabulary:
    """The vocabulary of that id, or in that YAML file. Raises ConfigError."""
    from core.adapters.languages import load_vocabulary

    file = Path(name)
    return load_vocabulary(file.stem, file.parent) if file.suffix == ".yaml" else load_vocabulary(name)


def _lines(found: VocabularyDiff) -> Iterator[str]:
    yield f"--- {found.before.id}  sha256 {found.before.sha256}"
    yield f"+++ {found.after.id}  sha256 {found.after.sha256}"
    yield f"effect: {_EFFECTS[found.effect.value]}"
    yield from _section("commands", found.commands)
    for change in found.changed:
        yield f"command {change.name}"
        yield from (f"  - {line}" for line in change.before if line not in change.after)
        yield from (f"  + {line}" for line in change.after if line not in change.before)
    yield from _section("node types", found.node_types)
    yield from _section("keywords", found.keywords)
    yield from _section("known hallucinations", found.hallucinations)


def _section(title: str, difference: Difference) -> Iterator[str]:
    if difference.added or difference.removed:
        yield title
    yield from (f"  - {name}" for name in difference.removed)
    yield from (f"  + {name}" for name in difference.added)
