"""`assay index`, from outside."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.errors import ConfigError, IndexUnavailable
from experiments.commands.index import app

RUN = CliRunner()
CONFIG = """index:
  name: tiny
  version: v1
  corpus: corpus
  pipelines: [avap_markdown@1]
  embedder: {model: "hash:64"}
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A configs root with one index; returns the configuration's name."""
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/a.md").write_text("## Loops {#l}\n\nUse startLoop.\n\n## Sums {#s}\n\nUse a + b.\n")
    (tmp_path / "indices").mkdir()
    (tmp_path / "indices/tiny.yaml").write_text(CONFIG)
    monkeypatch.setenv("ASSAY_CONFIGS", str(tmp_path))
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    return "indices/tiny"


def test_build_then_info_then_search(config: str) -> None:
    built = json.loads(RUN.invoke(app, ["build", config, "--json"], catch_exceptions=False).stdout)
    assert (built["manifest"]["count"], built["manifest"]["dimensions"]) == (2, 64)
    shown = RUN.invoke(app, ["info", built["folder"]], catch_exceptions=False)
    assert "pipeline: avap_markdown@1" in shown.stdout
    found = RUN.invoke(app, ["search", "start(Loop", "--config", config, "--mode", "bm25_only", "--json"])
    assert [passage["id"] for passage in json.loads(found.stdout)["passages"]] == ["a#l"]
    assert "nothing found" in RUN.invoke(app, ["search", "xyz", "--config", config, "--mode", "bm25_only"]).stdout
    assert "a#s" in RUN.invoke(app, ["search", "sums", "--config", config, "-k", "1"]).stdout


def test_an_override_is_another_index(config: str) -> None:
    folders = {
        json.loads(RUN.invoke(app, ["build", config, "--json", *extra]).stdout)["folder"]
        for extra in ([], ["--set", "index.chunking.max_words=80"])
    }
    assert len(folders) == 2


def test_a_faulty_configuration_is_refused_with_its_line(config: str, tmp_path: Path) -> None:
    (tmp_path / "indices/tiny.yaml").write_text(CONFIG.replace("engine", "x") + "  pipline: [a]\n")
    with pytest.raises(ConfigError, match=r"tiny.yaml:7.*pipline"):
        RUN.invoke(app, ["build", config], catch_exceptions=False)


def test_a_folder_without_an_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable, match="no index"):
        RUN.invoke(app, ["info", str(tmp_path)], catch_exceptions=False)
