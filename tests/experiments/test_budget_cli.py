"""`assay budget` over what a run leaves on disk."""

import json
from pathlib import Path

import paying_lab
import pytest
from scripted_http import chat, scripted

from core.errors import ExitCode
from core.lab.runner import execute
from experiments.__main__ import main

CONFIG = {"experiment": "paying", "name": "it", "rows": 10, "max_tokens": 100}


async def run(root: Path, **budget: float) -> int:
    (root / "models").mkdir(exist_ok=True)
    rates = dict.fromkeys(("input", "output", "cache_read", "cache_write"), "1000")
    (root / "models" / "prices.yaml").write_text(json.dumps({"version": "t", "models": {paying_lab.MODEL: rates}}))
    (root / "paying.yaml").write_text(json.dumps(CONFIG | {"runtime": {"concurrency": 1, "budget": budget}}))
    async with scripted(chat()) as server:
        prepared = paying_lab.prepared(root, server.url)
        return int((await execute(prepared, paying_lab.laboratory(root))).exit_code)


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["budget", *arguments])
    assert ended.value.code == 0
    return capsys.readouterr().out


async def test_cap_spending_and_projection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert await run(tmp_path, usd=0.3) == ExitCode.BUDGET
    view = json.loads(told(capsys, "latest", "--results", str(tmp_path / "results"), "--json"))
    rows, calls = view["rows"], view["parts"][0]["answered"]["calls"]
    assert 0 < rows < view["expected"] == 10
    assert rows <= calls <= rows + 1, "a reply may be paid for whose row the end of the budget cut off"
    assert view["cap"] == {"usd": 0.3, "tokens": None}
    assert view["parts"] == [
        {
            "role": "generator",
            "model": paying_lab.MODEL,
            "answered": {"calls": calls, "tokens": 18 * calls, "usd": pytest.approx(0.018 * calls)},
        }
    ]
    assert view["held"]["calls"] == 0
    assert view["lost"]["calls"] <= 1, "nor is a call that was on its way then forgotten"
    spent = view["spent"]["usd"]
    assert spent == pytest.approx(0.018 * calls + view["lost"]["usd"])
    assert view["left"] == {"tokens": None, "usd": pytest.approx(0.3 - spent)}
    assert view["projected"]["usd"] == pytest.approx(spent / rows * 10)
    shown = told(capsys, "latest", "--results", str(tmp_path / "results"))
    assert f"projected, from {rows} of 10 rows" in shown
    assert "of 0.3000" in shown


async def test_without_a_cap_there_is_still_an_account(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert await run(tmp_path) == ExitCode.OK
    shown = told(capsys, "latest", "--results", str(tmp_path / "results"))
    assert "0.1800" in shown
    assert "no cap" in shown
    assert "projected" not in shown


async def test_what_was_lost_is_shown_at_its_most(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await run(tmp_path, usd=5.0)
    (folder,) = (tmp_path / "results" / "paying").iterdir()
    with (folder / "recordings" / "ledger.jsonl").open("a") as ledger:
        entry = {"hold": "99", "address": "recordings/x", "role": "judge", "model": "m", "tokens": 7, "usd": "0.25"}
        ledger.write(json.dumps(entry, separators=(",", ":")) + "\n")
    view = json.loads(told(capsys, str(folder), "--json"))
    assert view["lost"] == {"calls": 1, "tokens": 7, "usd": 0.25}
    assert view["spent"]["usd"] == pytest.approx(0.43)
