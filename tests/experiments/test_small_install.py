"""What a smaller install says when it is asked for more than it holds."""

import sys

import pytest

from experiments.__main__ import main


def test_a_package_that_was_left_out_is_a_matter_of_configuration(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith(("scipy", "core.measure", "experiments.msvl"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(SystemExit) as stopped:
        main(["plan", "msvl"])
    said = capsys.readouterr().err
    assert stopped.value.code == 2
    assert "scipy" in said
    assert "assay-lab[all]" in said
    assert "internal error" not in said
