"""A headless Chromium for tests that look at pages, and what they ask of one."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((value, at) => (value * a + under[at] * (255 - a)) / 255);
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 255 ? own.slice(0, 3) : over(own, behind(element.parentElement));
  };
  const light = (rgb) => rgb.map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const said = texts.currentNode.textContent.trim();
    if (!said || !element.checkVisibility() || element.closest("script,style,option,:disabled")) continue;
    const back = behind(element);
    const [a, b] = [light(over(rgba(getComputedStyle(element).color), back)), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${element.className || element.tagName}: ${said.slice(0, 40)}`);
  }
  return found;
}"""
"""Every visible text whose contrast with what is behind it is below 4.5 (WCAG 2.2, 1.4.3)."""

NAMELESS = """() => [...document.querySelectorAll("a, button, input, select, summary, [role=listbox], [tabindex='0']")]
  .filter((element) => element.checkVisibility())
  .filter((element) => !(element.textContent.trim() || element.labels?.length || element.getAttribute("aria-label")
    || element.getAttribute("aria-labelledby")))
  .map((element) => element.outerHTML.slice(0, 120))"""
"""Every control that a screen reader could not name."""


@dataclass
class Heard:
    """What a page did that it must not."""

    faults: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A browser; the test is skipped, saying why, where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: scripts/setup dev")
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no Chromium here (apt-get install chromium): what a browser does with the page is not checked")
    with playwright.sync_playwright() as driver:
        # Chromium's sandbox refuses to run as root, which test containers often are.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@contextlib.contextmanager
def opened(browser: Any, address: str, **context: Any) -> Iterator[tuple[Any, Heard]]:
    """A page on `address` in a context of its own, with what is heard of it."""
    within = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **context})
    page, heard = within.new_page(), Heard()
    page.on("console", lambda said: heard.faults.append(said.text))
    page.on("pageerror", lambda error: heard.faults.append(str(error)))
    page.on("request", lambda request: heard.requests.append(request.url))
    page.goto(address)
    yield page, heard
    within.close()
