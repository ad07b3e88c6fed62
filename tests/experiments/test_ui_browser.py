"""`assay ui` as it is typed, in a real browser: choosing, comparing, watching, on a desk and on a phone."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import CONTRAST, NAMELESS, chromium, opened
from shown_runs import begun, stored

from core.lab.store import RunFolder

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ui") / "results"
    stored(root, "april", suites=("one", "two"))
    stored(root, "november", created_at="2026-11-22T00:00:00Z", lift=0.2, rejected=0, suites=("one", "two"))
    begun(root, "killed")
    return root


@pytest.fixture(scope="module")
def address(results: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "experiments", "ui", "--port", "0", "--results", str(results)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert found is not None, said
        yield found[0]
        process.terminate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


def test_two_runs_are_chosen_and_compared(browser: Any, address: str) -> None:
    with opened(browser, address) as (page, heard):
        button = page.locator("button[type=submit]")
        assert button.is_disabled()
        page.locator("input[value^='msvl/april']").check()
        page.locator("input[value^='msvl/november']").check()
        assert page.locator("input[type=checkbox]:disabled").count() == 1
        button.click()
        page.locator("h1", has_text="Two runs").wait_for()
        page.locator("summary", has_text="november:one against april:one").wait_for()
        page.locator("a", has_text="The other way round").click()
        page.locator("summary", has_text="april:one against november:one").wait_for()
        assert all(request.startswith(address) for request in heard.requests)
        assert heard.faults == []


def test_the_filter_hides_what_was_not_meant(browser: Any, address: str) -> None:
    with opened(browser, address) as (page, _):
        page.fill("[data-filter]", "interrupted")
        assert page.locator(".run:visible").count() == 1
        assert "killed" in page.locator(".family:visible").inner_text()


def test_a_running_run_is_followed_to_its_end(browser: Any, address: str, results: Path) -> None:
    folder = RunFolder(next((results / "msvl").glob("killed-*")))
    with folder.driven():
        folder.write("status.json", b'{"note": "first word"}')
        with opened(browser, f"{address}/runs/{folder.name}") as (page, _):
            page.locator("[data-told]", has_text="first word").wait_for()
            folder.write("status.json", b'{"note": "<b>second</b> word"}')
            page.locator("[data-told]", has_text="<b>second</b> word").wait_for()
            assert page.locator("[data-told] b").count() == 0


def test_a_report_opens_within(browser: Any, address: str) -> None:
    with opened(browser, address) as (page, heard):
        page.locator("[aria-label='msvl/april'] .run a").click()
        page.locator("a.button").click()
        page.locator(".count", has_text="32 of 32 answers").wait_for()
        page.locator("[data-place='0']").click()
        assert page.locator(".shown h3").is_visible()
        assert heard.faults == []


@pytest.mark.parametrize("width", [375, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_can_be_read_named_and_fits(
    browser: Any, address: str, results: Path, width: int, scheme: str
) -> None:
    april, november = (next((results / "msvl").glob(f"{name}-*")).name for name in ("april", "november"))
    for path in ("/", f"/runs/msvl/{april}", f"/compare?run=msvl/{april}&run=msvl/{november}", "/runs/msvl/none"):
        shape = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
        with opened(browser, f"{address}{path}", **shape) as (page, _):
            page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
            assert page.evaluate(CONTRAST) == []
            assert page.evaluate(NAMELESS) == []
            assert page.evaluate("document.documentElement.scrollWidth") == width
