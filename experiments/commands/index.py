"""`assay index`: build an index, ask it, and see what it is, without a run around it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from core.lab.complaints import explain
from core.lab.config import compose, find
from core.model.frozen import Frozen
from core.model.retrieval import IndexManifest, Query, RetrievalMode
from core.model.sample import Passage
from core.model.specs import IndexSpec
from experiments.places import cache_root, configs_root
from experiments.view import emit_json, terminal

app = typer.Typer(no_args_is_help=True)

DEFAULT = "indices/avap-knowledge"
EXCERPT = 100
"""Characters of a passage that are shown."""

ConfigName = Annotated[
    str, typer.Argument(metavar="CONFIG", help="A configuration with `index:`: a name below configs/, or a YAML file.")
]
ConfigOption = Annotated[str, typer.Option("--config", metavar="CONFIG", help="A configuration with `index:`.")]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one value, as index.chunking.max_words=80."),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


class IndexPart(Frozen):
    """The part of a configuration that describes an index."""

    index: IndexSpec


class IndexView(Frozen):
    """`assay index build --json` and `assay index info --json`."""

    folder: str
    manifest: IndexManifest


class SearchView(Frozen):
    """`assay index search --json`."""

    folder: str
    query: Query
    passages: tuple[Passage, ...]


@app.callback()
def _index() -> None:
    """Retrieval indices: built from a corpus once, kept in the cache, searched in three modes."""


@app.command()
def build(config: ConfigName = DEFAULT, assignments: Assignments = None, as_json: AsJson = False) -> None:
    """Build the index of a configuration, unless it is there, and say where it is."""
    from core.adapters.index import read_manifest

    folder = asyncio.run(_built(_spec(config, assignments)))
    _show(folder, read_manifest(folder), as_json)


@app.command()
def search(
    question: Annotated[str, typer.Argument(help="What to look for; any characters.")],
    config: ConfigOption = DEFAULT,
    assignments: Assignments = None,
    mode: Annotated[RetrievalMode, typer.Option(help="Which rankings to use.")] = RetrievalMode.HYBRID,
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages.")] = 8,
    as_json: AsJson = False,
) -> None:
    """Search the index of a configuration, built first where there is none.

    Scores are fused ranks (hybrid), cosines (knn_only) or BM25: they compare within one search only.
    """
    query = Query(text=question, mode=mode, k=k)
    folder, passages = asyncio.run(_found(_spec(config, assignments), query))
    if as_json:
        emit_json(SearchView(folder=str(folder), query=query, passages=passages))
        return
    if not passages:
        terminal().print("nothing found")
    for passage in passages:
        terminal().print(f"{passage.score:8.4f}  {passage.id}", markup=False)
        terminal().print(f"          {' '.join(passage.text.split())[:EXCERPT]}", markup=False, style="dim")


@app.command()
def info(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="An index, as `assay index build` names it.")],
    as_json: AsJson = False,
) -> None:
    """Show an index's manifest and verify its files."""
    from core.adapters.index import read_manifest, verify_seal

    manifest = read_manifest(folder)
    verify_seal(folder)
    _show(folder, manifest, as_json)


def _spec(config: str, assignments: list[str] | None) -> IndexSpec:
    configs = configs_root()
    draft = compose(find(config, configs), configs=configs, assignments=assignments or ())
    try:
        return IndexPart.model_validate({"index": draft.data.get("index")}).index
    except ValidationError as error:
        raise explain(error, IndexPart, draft.origins) from error


async def _built(spec: IndexSpec) -> Path:
    from core.adapters.clock import SystemClock
    from core.adapters.embed import open_embedder
    from core.adapters.index import build as build_index

    cache = cache_root()
    embedder = open_embedder(spec.embedder, cache=cache)
    return await build_index(spec, configs=configs_root(), cache=cache, embedder=embedder, clock=SystemClock())


async def _found(spec: IndexSpec, query: Query) -> tuple[Path, tuple[Passage, ...]]:
    from core.adapters.embed import open_embedder
    from core.adapters.index import open_index, wanted_manifest

    folder = await _built(spec)
    embedder = open_embedder(spec.embedder, cache=cache_root())
    index = await open_index(folder, wanted_manifest(spec, configs_root()), embedder)
    return folder, await index.search(query)


def _show(folder: Path, manifest: IndexManifest, as_json: bool) -> None:
    if as_json:
        emit_json(IndexView(folder=str(folder), manifest=manifest))
        return
    terminal().print(str(folder), markup=False)
    for field, value in manifest.model_dump(mode="json").items():
        terminal().print(f"  {field}: {value}", markup=False)
