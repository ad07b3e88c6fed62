"""The results root in a browser: what is shown, who is answered, and that nothing can be reached or changed."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from shown_runs import begun, stored

from core.errors import ConfigError
from core.lab.store import RunFolder
from core.model.comparison import Comparison
from core.serving.ui import Insight, application
from core.serving.ui.differences import lines
from experiments.commands.ui import compared
from experiments.view import faults_of

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


@pytest.fixture
async def pages(results: Path) -> AsyncIterator[httpx.AsyncClient]:
    served = httpx.ASGITransport(application(Insight(results, faults_of, compared)))
    async with httpx.AsyncClient(transport=served, base_url="http://127.0.0.1:8642") as client:
        yield client


def words(response: httpx.Response) -> str:
    text = re.sub(r"<(style|script)[^>]*>.*?</\1>", " ", response.text, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def address(folder: RunFolder) -> str:
    return f"/runs/{folder.name}"


async def test_an_empty_root_says_how_to_begin(pages: httpx.AsyncClient) -> None:
    assert "assay run msvl" in words(await pages.get("/"))


async def test_every_run_is_listed_with_its_standing(results: Path, pages: httpx.AsyncClient) -> None:
    stored(results, "april", suites=("one", "two"))
    begun(results, "killed")
    damaged = stored(results, "broken")
    (damaged.path / "outcome.json").write_text("{")
    told = words(await pages.get("/"))
    assert "3 runs" in told
    assert re.search(r"msvl/april 1 run .*complete NON-BINDING \(\d+\) 32 of 32 rows .*one .*two ", told)
    assert re.search(r"msvl/killed 1 run .*interrupted NON-BINDING", told)
    assert re.search(r"damaged .*outcome.json does not read back", told)


async def test_runs_of_one_name_stand_together(results: Path, pages: httpx.AsyncClient) -> None:
    first = stored(results, "april")
    first.path.rename(first.path.with_name("april-00000000000a"))
    stored(results, "april")
    assert "msvl/april 2 runs" in words(await pages.get("/"))


async def test_a_run_is_told_with_its_faults_its_record_and_its_settings(
    results: Path, pages: httpx.AsyncClient
) -> None:
    april = stored(results, "april", seed=99)
    told = words(await pages.get(address(april)))
    for said in (
        "Why it may not be cited",
        "2 runs per suite; at least 5 are required",
        "generator-20260101",
        "seed 99",
    ):
        assert said in told
    assert f"{address(april)}/report" in (await pages.get(address(april))).text


async def test_the_stored_page_is_served_as_it_is_and_apart(results: Path, pages: httpx.AsyncClient) -> None:
    april = stored(results, "april")
    page = await pages.get(f"{address(april)}/report")
    assert page.content == (april.path / "report.html").read_bytes()
    assert page.headers["Content-Security-Policy"].startswith("sandbox allow-scripts; default-src 'none'")
    killed = begun(results, "killed")
    assert (await pages.get(f"{address(killed)}/report")).status_code == 404


async def test_a_running_run_tells_its_rows_and_what_its_driver_says(results: Path, pages: httpx.AsyncClient) -> None:
    april = stored(results, "april")
    april.write("status.json", b'{"calls": {"in_flight": 7}, "note": "<b>"}')
    assert (await pages.get(f"{address(april)}/now")).json()["status"] == "complete"
    with april.driven():
        now = (await pages.get(f"{address(april)}/now")).json()
        assert now == {"status": "running", "rows": {"main": 16}, "told": [["calls.in_flight", "7"], ["note", "<b>"]]}
        assert "Now" in words(await pages.get(address(april)))
        assert "16 rows so far" in words(await pages.get("/"))
        april.write("status.json", b'{"half": ')
        assert (await pages.get(f"{address(april)}/now")).json()["told"] == []


async def test_two_runs_are_laid_side_by_side(results: Path, pages: httpx.AsyncClient) -> None:
    a, b = stored(results, "april", seed=1), stored(results, "november", lift=0.2, rejected=0, seed=2)
    told = words(await pages.get("/compare", params={"run": [a.name, b.name]}))
    assert "november against april better on" in told
    assert "1 question with another share of rejected answers" in told
    assert re.search(r"GD-C-001 0\.23\d 0\.515 \+0\.27\d 1 of 2 0 of 2", told)
    assert "What they were told differently 1 setting A B name april november" in told
    assert re.search(r"What they stood on differently 2 .*name april november seed 1 2", told)


async def test_what_cannot_be_compared_is_said_to_be_so(results: Path, pages: httpx.AsyncClient) -> None:
    a = stored(results, "april")
    other = stored(results, "november", data={"domains/avap/golden.yaml": "e" * 64})
    killed = begun(results, "killed")
    told = words(await pages.get("/compare", params={"run": [a.name, other.name]}))
    assert "These two may not be compared." in told
    told = words(await pages.get("/compare", params={"run": [a.name, killed.name]}))
    assert "These two cannot be compared." in told
    assert "is not finished" in told


@pytest.mark.parametrize(
    "path",
    [
        "/runs/msvl/none", "/runs/..%2f..%2fetc/passwd", "/runs/msvl/..", "/runs/%2e%2e/results", "/runs/msvl/april",
        "/runs/msvl/april-00000000021b/../../x", "/runs/msvl/april-00000000021b%00", "/record.json", "/nothing",
    ],
)  # fmt: skip
async def test_only_what_is_a_run_is_found(results: Path, pages: httpx.AsyncClient, path: str) -> None:
    stored(results, "april")
    (results / "secret").write_text("secret")
    response = await pages.get(path)
    assert response.status_code == 404
    assert "secret" not in response.text


@pytest.mark.parametrize("runs", [[], ["msvl/april"], ["a", "b", "c"]])
async def test_a_comparison_needs_two(pages: httpx.AsyncClient, runs: list[str]) -> None:
    response = await pages.get("/compare", params={"run": runs})
    assert response.status_code == 400
    assert f"not {len(runs)}" in response.text


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "169.254.1.1:8642"])
async def test_another_name_for_this_machine_is_refused(pages: httpx.AsyncClient, host: str) -> None:
    assert (await pages.get("/", headers={"Host": host})).status_code == 400
    assert (await pages.get("/", headers={"Host": "localhost:8642"})).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
async def test_nothing_can_be_changed(pages: httpx.AsyncClient, method: str) -> None:
    assert (await pages.request(method, "/")).status_code == 405


def times(results: Path) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in results.rglob("*")}


async def test_looking_writes_nothing(results: Path, pages: httpx.AsyncClient) -> None:
    a, b = stored(results, "april"), stored(results, "november")
    before = times(results)
    for path in ("/", address(a), f"{address(a)}/report", f"{address(a)}/now"):
        assert (await pages.get(path)).status_code == 200
    await pages.get("/compare", params={"run": [a.name, b.name]})
    assert times(results) == before


async def test_what_a_run_says_is_text(results: Path) -> None:
    def refuse(a: RunFolder, b: RunFolder) -> Comparison:
        raise ConfigError(f"{HOSTILE} differs", remedy=HOSTILE)

    served = httpx.ASGITransport(application(Insight(results, lambda _: (HOSTILE,), refuse)))
    a, b = stored(results, "april", seed=1), stored(results, "november")
    async with httpx.AsyncClient(transport=served, base_url="http://localhost") as pages:
        a.write("config.yaml", f"name: '{HOSTILE}'\n{HOSTILE!r}: 1\n".encode())
        for path in (address(a), f"/compare?run={a.name}&run={b.name}", "/", f"/runs/msvl/{HOSTILE}"):
            response = await pages.get(path)
            assert HOSTILE not in response.text
            assert "&lt;img" in response.text or path == "/"


async def test_every_page_brings_its_policy(results: Path, pages: httpx.AsyncClient) -> None:
    april = stored(results, "april")
    for path in ("/", address(april), "/nothing-here/at/all"):
        policy = (await pages.get(path)).headers.get("Content-Security-Policy", "")
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-inline" not in policy.replace("style-src-attr 'unsafe-inline'", "")


def test_lists_are_compared_by_the_names_of_their_items() -> None:
    a = {"suites": [{"name": "x", "k": 1}, {"name": "y", "k": 1}], "same": [1, 2], "sha": "a" * 64}
    b = {"suites": [{"name": "y", "k": 2}, {"name": "x", "k": 1}], "same": [1, 2], "sha": "b" * 64}
    assert [(line.path, line.a, line.b) for line in lines(a, b)] == [
        ("sha", "a" * 12, "b" * 12), ("suites[y].k", "1", "2"),
    ]  # fmt: skip
    assert [(line.path, line.a, line.b) for line in lines({"only": None, "left": 1}, {})] == [("left", "1", "–")]
