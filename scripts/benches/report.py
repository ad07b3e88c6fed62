"""The HTML report of a campaign of 1,500 rows in Chromium: time to open, to search, to scroll; size; time to render."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from _bars import Bar, conclude
from _made_up import campaign
from numpy import median, percentile

from core.lab import report as rendering
from core.model.specs import Comparator

OPENINGS = 5
READY = "performance.getEntriesByType('navigation')[0].loadEventEnd"
SCROLL = """async () => {
  const list = document.querySelector(".list");
  const frames = [];
  let last = performance.now();
  for (let step = 0; step < 120; step += 1) {
    list.scrollTop += 900;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  return frames.sort((a, b) => a - b);
}"""
SEARCH = """async () => {
  const box = document.querySelector("input[name=text]");
  const count = document.querySelector(".count");
  const before = performance.now();
  const done = new Promise((found) => {
    new MutationObserver(() => found(performance.now())).observe(count, { childList: true });
  });
  box.value = "number 77";
  box.dispatchEvent(new Event("input", { bubbles: true }));
  return (await done) - before;
}"""
"""From the keystroke of a first search to its result: 120 ms that fingers are waited for, and every row read."""


def browser(driver: Any) -> Any:
    """A headless Chromium; leaves with 2 where there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        sys.exit("bench: no Chromium here; apt-get install chromium")
    # Chromium's sandbox refuses to run as root, which containers often are.
    return driver.chromium.launch(executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else [])


@dataclass(frozen=True)
class Opening:
    """One page, opened, scrolled and searched."""

    seconds: float
    """Until it is loaded and its list is drawn."""
    busy_s: float
    """Processor time of the page's main thread until then: what opening costs however busy the machine is."""
    frames_ms: list[float]
    """Of scrolling, 900 pixels a frame; 16.7 ms apart when nothing is late."""
    frame_busy_ms: float
    """Processor time of the main thread for one of them."""
    search_ms: float


def opened(chromium: Any, file: Path) -> Opening:
    """Open `file` in a page of its own."""
    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    watching = page.context.new_cdp_session(page)
    watching.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(file.as_uri())
    page.wait_for_selector(".row")
    ready = page.evaluate(READY) / 1000
    busy = _busy(watching)
    frames = page.evaluate(SCROLL)
    scrolling = (_busy(watching) - busy) / len(frames)
    search = page.evaluate(SEARCH)
    page.close()
    return Opening(ready, busy, frames, 1000 * scrolling, search)


def _busy(watching: Any) -> float:
    """Seconds of processor time that the page's main thread has taken."""
    told = watching.send("Performance.getMetrics")["metrics"]
    return float(next(entry["value"] for entry in told if entry["name"] == "TaskDuration"))


def main() -> None:
    """Measure the bars of the report and leave with 1 when one is missed."""
    from playwright.sync_api import sync_playwright

    report, rows = campaign()
    started = perf_counter()
    content = rendering.files(report, rows)["report.html"]
    rendering_s = perf_counter() - started
    with TemporaryDirectory(prefix="assay-bench-") as name, sync_playwright() as driver:
        file = Path(name) / "report.html"
        file.write_bytes(content)
        chromium = browser(driver)
        times = [opened(chromium, file) for _ in range(OPENINGS)]
        chromium.close()
    frames = [frame for each in times for frame in each.frames_ms]
    name, at_most = f"open {len(rows):,} rows, median of {OPENINGS}", Comparator.AT_MOST
    conclude(
        (
            Bar(name, float(median([each.seconds for each in times])), at_most, 2, "s"),
            Bar("open, slowest", max(each.seconds for each in times), at_most, 2, "s"),
            Bar("open, main thread busy", float(median([each.busy_s for each in times])), at_most, 1, "s"),
            Bar("frame while scrolling, median", float(median(frames)), at_most, 20, "ms"),
            Bar("frame while scrolling, 95th of 100", float(percentile(frames, 95)), at_most, 50, "ms"),
            Bar("frame, main thread busy", float(median([e.frame_busy_ms for e in times])), at_most, 10, "ms"),
            Bar("first search through all answers", float(median([e.search_ms for e in times])), at_most, 1000, "ms"),
            Bar("size of the page", len(content) / 2**20, at_most, 16, "MiB"),
            Bar("render the report files", rendering_s, at_most, 30, "s"),
        )
    )


if __name__ == "__main__":
    main()
