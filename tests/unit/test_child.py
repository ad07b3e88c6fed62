"""Servers of our own as child processes: those that start, those that do not, and those that will not leave."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from core.adapters import child
from core.errors import DependencyDown

READY = 'print(\'{"ready": {"port": 4711}}\', flush=True)\n'
CHILDREN = {
    "good": f"import sys\n{READY}sys.stdin.read()\n",
    "stubborn": f"import sys, time\n{READY}sys.stdin.read()\ntime.sleep(600)\n",
    "silent": "import sys\nsys.stdin.read()\n",
    "broken": "raise SystemExit('the port is taken: ¡ay!')\n",
    "chatty": "print('hello', flush=True)\nimport sys\nsys.stdin.read()\n",
    "portless": "print('{\"ready\": {}}', flush=True)\nimport sys\nsys.stdin.read()\n",
    "listing": "print('[1]', flush=True)\nimport sys\nsys.stdin.read()\n",
    "early": f"{READY}",
}


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The children as modules; deadlines that a test can wait for."""
    for name, text in CHILDREN.items():
        (tmp_path / f"child_{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr(child, "STOP_DEADLINE_S", 0.3)
    return tmp_path


def children() -> list[psutil.Process]:
    return psutil.Process().children()


async def test_a_child_that_answers_is_there_until_the_context_ends() -> None:
    before = children()
    async with child.running("child_good", ()) as port:
        assert port == 4711
        assert len(children()) == len(before) + 1
    assert children() == before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("broken", "the port is taken: ¡ay!"),
        ("absent", "No module named"),
        ("chatty", "did not start"),
        ("portless", "did not start"),
        ("listing", "did not start"),
    ],
)
async def test_one_that_does_not_start_says_why(name: str, said: str) -> None:
    before = children()
    with pytest.raises(DependencyDown, match=said) as caught:
        async with child.running(f"child_{name}", ()):
            pass
    assert caught.value.endpoint == f"child_{name}"
    assert "--help" in caught.value.remedy
    assert children() == before


async def test_what_it_says_is_kept_in_its_log(tmp_path: Path) -> None:
    log = tmp_path / "child.log"
    log.write_text("an earlier start\n")
    with pytest.raises(DependencyDown, match="the port is taken"):
        async with child.running("child_broken", (), log=log):
            pass
    assert log.read_text("utf-8").startswith("an earlier start\n")


async def test_one_that_stays_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "START_DEADLINE_S", 0.3)
    before = children()
    with pytest.raises(DependencyDown, match="TimeoutError"):
        async with child.running("child_silent", ()):
            pass
    assert children() == before


async def test_one_that_will_not_leave_is_killed() -> None:
    before = children()
    async with child.running("child_stubborn", ()):
        pass
    assert children() == before


async def test_one_that_left_by_itself_is_no_trouble_at_the_end() -> None:
    async with child.running("child_early", ()) as port:
        assert port == 4711


async def test_an_error_of_ours_stops_it_too() -> None:
    before = children()
    with pytest.raises(ZeroDivisionError):
        async with child.running("child_good", ()):
            raise ZeroDivisionError
    assert children() == before
