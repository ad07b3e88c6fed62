"""`scripts/proto` and its check, on a copy of what they work on."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]
PROTO = Path("core/adapters/proto/avap/parser/v1/parser.proto")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(HERE / PROTO.parent, tmp_path / PROTO.parent, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "scripts").mkdir()
    shutil.copy2(HERE / "scripts/proto", tmp_path / "scripts/proto")
    return tmp_path


def proto(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ASSAY_VENV": sys.prefix}
    return subprocess.run(
        [copy / "scripts/proto", *arguments], env=environment, capture_output=True, text=True, check=False
    )


def test_a_changed_proto_is_stale_until_it_is_generated(copy: Path) -> None:
    assert proto(copy, "--check").returncode == 0
    text = (copy / PROTO).read_text()
    (copy / PROTO).write_text(text.replace("rpc Info(", "rpc Describe("))
    stale = proto(copy, "--check")
    assert stale.returncode == 1
    assert "Run scripts/proto" in stale.stderr
    assert proto(copy).returncode == 0
    assert proto(copy, "--check").returncode == 0


def test_generated_code_without_its_proto_is_stale(copy: Path) -> None:
    (copy / PROTO.parent / "left_pb2.py").write_text("")
    assert "left_pb2.py" in proto(copy, "--check").stdout
