"""Finding and reading vocabularies."""

from pathlib import Path

import pytest

from core.adapters.languages import configs_root, load_vocabulary, vocabulary_ids, vocabulary_root
from core.errors import ConfigError


def test_the_shipped_vocabularies_are_there(configs: Path) -> None:
    assert vocabulary_ids() == ("definitions-2026.03", "lrm-2026.04")
    assert {load_vocabulary(known).id for known in vocabulary_ids()} == set(vocabulary_ids(configs / "languages/avap"))


def test_the_environment_names_the_configs_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_CONFIGS", str(tmp_path))
    assert configs_root() == tmp_path


def test_a_named_folder_that_is_none_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_CONFIGS", str(tmp_path / "absent"))
    with pytest.raises(ConfigError, match="ASSAY_CONFIGS"):
        configs_root()


def test_the_working_directory_comes_before_the_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, configs: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert configs_root() == configs
    (tmp_path / "configs").mkdir()
    assert configs_root() == tmp_path / "configs"


def test_configs_that_hold_no_vocabularies_leave_the_shipped_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, configs: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    assert vocabulary_root() == configs / "languages/avap"
    (tmp_path / "configs/languages/avap").mkdir(parents=True)
    assert vocabulary_root() == tmp_path / "configs/languages/avap"


@pytest.mark.parametrize("unknown", ["lrm-1999.01", "../avap/lrm-2026.04", ""])
def test_an_unknown_id_names_the_known_ones(unknown: str) -> None:
    with pytest.raises(ConfigError, match=r"definitions-2026\.03, lrm-2026\.04") as error:
        load_vocabulary(unknown)
    assert error.value.remedy == "use one of: definitions-2026.03, lrm-2026.04"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id: x\ncommands: [", r"x\.yaml:3: not YAML"),
        ("- a\n", "no mapping"),
        ("id: x\n", r"x\.yaml: node_types: "),
        ("1: x\n", r"x\.yaml"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message) as error:
        load_vocabulary("x", tmp_path)
    assert error.value.file == str(tmp_path / "x.yaml")


def test_a_file_under_another_name_is_refused(tmp_path: Path, configs: Path) -> None:
    shipped = configs / "languages/avap/lrm-2026.04.yaml"
    (tmp_path / "mine.yaml").write_bytes(shipped.read_bytes())
    with pytest.raises(ConfigError, match=r"declares the id 'lrm-2026\.04'"):
        load_vocabulary("mine", tmp_path)
