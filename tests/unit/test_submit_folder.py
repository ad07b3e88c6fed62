"""What travels with a job, and what never does."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cluster import submit_folder
from core.cluster.submit_folder import SECRET, Sources, is_sent, stage
from core.errors import ConfigError
from core.lab.handover import Handover, code_digest, taken_over
from core.lab.provenance import gather

PROVENANCE = gather({}, ()).model_copy(update={"commit": "c" * 40, "dirty": False})
SENT = {
    "core/a.py", "core/secrets_of_the_trade.py", "core/data/page.j2", "experiments/b.py", "scripts/setup",
    "pyproject.toml", "constraints.txt", "configs/it.yaml", "configs/domains/golden.yaml",
}  # fmt: skip
KEPT = {
    ".git/config", ".env", "core/.env", "core/__pycache__/a.pyc", "core/_configs/it.yaml", "results/run/record.json",
    "tests/test_a.py", "configs/.env", "configs/prod.env", "configs/server.key", "configs/tls/ca.pem",
    "configs/client_secret.json", "configs/credentials.json", "configs/id_rsa", "configs/.cache/x", "configs/old.yaml~",
    "scripts/__pycache__/x.pyc", "README.md", ".venv/bin/python", "core/it.egg-info/PKG-INFO",
}  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Sources:
    """A checkout with all that people leave lying about in one."""
    root = tmp_path / "checkout"
    for name in SENT | KEPT:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return Sources(root, root / "configs")


def pins(sources: Sources, *names: str) -> dict[str, str]:
    return {name: hashlib.sha256((sources.configs / name).read_bytes()).hexdigest() for name in names}


def test_only_what_is_needed_is_sent(checkout: Sources, tmp_path: Path) -> None:
    into = tmp_path / "out"
    staged = stage(into, checkout, "name: it\n", pins(checkout, "domains/golden.yaml"), PROVENANCE)
    found = {file.relative_to(into).as_posix() for file in into.rglob("*") if file.is_file()}
    assert found == SENT | {"submission/config.yaml", "submission/provenance.json"}
    assert (staged.files, staged.size) == (len(found), sum((into / name).stat().st_size for name in found))
    assert (into / "submission/config.yaml").read_text() == "name: it\n"
    handover = taken_over(into / "submission/provenance.json", into, commit="")
    assert handover == Handover.of(PROVENANCE, into)
    assert handover.code_sha256 == code_digest(into)


def test_an_installed_package_sends_no_files_of_the_folder_it_lives_in(checkout: Sources, tmp_path: Path) -> None:
    (checkout.code / "pyproject.toml").unlink()
    stage(tmp_path / "out", checkout, "", {}, PROVENANCE)
    assert not checkout.is_checkout
    assert not (tmp_path / "out" / "scripts").exists()


@pytest.mark.parametrize("name", ["prod.env", "../outside.yaml", "/etc/hostname"])
def test_a_data_file_that_would_stay_behind_is_told(checkout: Sources, tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"would not be sent") as caught:
        stage(tmp_path / "out", checkout, "", {name: "0" * 64}, PROVENANCE)
    assert name in str(caught.value)


def test_a_data_file_that_is_not_what_was_planned_is_told(checkout: Sources, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="changed"):
        stage(tmp_path / "out", checkout, "", {"it.yaml": "0" * 64}, PROVENANCE)


def test_too_much_is_refused_with_the_largest_named(
    checkout: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submit_folder, "LIMIT_BYTES", 1 << 20)
    (checkout.configs / "vectors.npy").write_bytes(bytes(3 << 20))
    (checkout.configs / "small.npy").write_bytes(bytes(1 << 10))
    with pytest.raises(ConfigError, match=r"3\.0 MiB, and 1\.0 MiB .*: configs/vectors\.npy \(3\.0 MiB\), configs/s"):
        stage(tmp_path / "out", checkout, "", {}, PROVENANCE)
    assert not (tmp_path / "out").exists(), "nothing is copied first"


@given(st.sampled_from(SECRET), st.text("abcxyz", min_size=1, max_size=4), st.booleans())
def test_a_name_of_a_secret_is_never_sent(pattern: str, filler: str, upper: bool) -> None:
    name = pattern.replace("*", filler)
    assert not is_sent(PurePosixPath("deep") / (name.upper() if upper else name))


@given(st.from_regex(r"\.[a-z]{1,8}", fullmatch=True), st.sampled_from(["x.yaml", "y.py"]))
def test_nothing_hidden_is_sent(hidden: str, name: str) -> None:
    assert not is_sent(PurePosixPath(hidden) / name)
    assert not is_sent(PurePosixPath(name).with_name(hidden))
