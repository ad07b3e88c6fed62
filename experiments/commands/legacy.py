"""`assay import-legacy`: evaluation files from before Assay, kept where they can be seen and cannot be cited."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from core.adapters.clock import SystemClock
from core.adapters.languages import load_vocabulary
from core.adapters.legacy import evaluation, load_mapping, parsed, read_file
from core.adapters.legacy.evaluation import Instruments, Source
from core.adapters.legacy.mapping import MAPPING
from core.adapters.llm.preflight import retirement
from core.avap import check
from core.errors import ConfigError
from core.measure.published import recomputation
from core.model.frozen import Frozen
from core.model.legacy import LegacyEvaluation, ScaleRead
from core.model.specs import LanguageSpec
from experiments.commands.show import AsJson, Results
from experiments.imports import Import, keep
from experiments.legacy_view import draw_import
from experiments.places import configs_root, results_root
from experiments.view import emit_json, terminal


class Scale(StrEnum):
    """What scores range over."""

    SHARE = "share"
    PERCENT = "percent"


class ImportedFile(Frozen):
    """One file of `assay import-legacy --json`."""

    name: str
    """`legacy/<name>-<sha12>`."""
    folder: str
    evaluation: LegacyEvaluation


class ImportView(Frozen):
    """`assay import-legacy --json`."""

    imported: tuple[ImportedFile, ...]
    refused: tuple[str, ...]


def import_legacy(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Old evaluation files, as evaluation_*.json.")],
    mapping: Annotated[
        Path | None, typer.Option(help="Names of the fields; else configs/legacy.yaml, which explains itself.")
    ] = None,
    scale: Annotated[
        Scale | None, typer.Option(help="What scores range over, 0 to 1 or 0 to 100, where a file does not tell.")
    ] = None,
    results: Results = None,
    as_json: AsJson = False,
) -> None:
    """Take in old evaluation files.

    Each is kept byte for byte below the results root, beside what could be understood of it, with the reasons why it is
    not binding; `assay list` and `assay show` have it. Nothing is guessed: what is ambiguous is told and left out. A
    file that means nothing certain is refused with its line, and the others are imported (exit code 2).

    Example: assay import-legacy evaluations/evaluation_*.json
    """
    tools, root = _tools(mapping or configs_root() / MAPPING, scale), results_root(results)
    taken, refused = [], []
    for file in files:
        try:
            taken.append(_imported(file, root, tools))
        except ConfigError as error:
            refused.append(error)
    _tell(taken, refused, as_json=as_json)
    if refused:
        raise ConfigError(
            "\n".join(map(str, refused)), file=refused[0].file, line=refused[0].line,
            remedy="; ".join(dict.fromkeys(error.remedy for error in refused if error.remedy)),
        )  # fmt: skip


def _tools(mapping: Path, scale: Scale | None) -> Instruments:
    language = LanguageSpec()
    vocabulary = load_vocabulary(language.vocabulary)
    return Instruments(
        mapping=load_mapping(mapping),
        language=language,
        check=lambda code: check(code, vocabulary, language.dialect),
        retired=retirement,
        recompute=recomputation,
        today=SystemClock().now(),
        scale=None if scale is None else ScaleRead(scale.value),
    )


def _imported(file: Path, root: Path, tools: Instruments) -> tuple[Import, LegacyEvaluation]:
    content = read_file(file)
    source = Source(file.name, hashlib.sha256(content).hexdigest(), len(content))
    found = evaluation(parsed(content, file), source, tools)
    return keep(root, file.name, content, found), found


def _tell(taken: list[tuple[Import, LegacyEvaluation]], refused: list[ConfigError], *, as_json: bool) -> None:
    if as_json:
        emit_json(
            ImportView(
                imported=tuple(
                    ImportedFile(name=kept.name, folder=str(kept.path), evaluation=found) for kept, found in taken
                ),
                refused=tuple(map(str, refused)),
            )
        )
        return
    for kept, found in taken:
        draw_import(terminal(), kept, found)
