"""A studio in a process of its own and a page of Chromium in it, for the tests beside this file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)
PATIENCE = 240.0  # seconds: a loaded machine that compiles everything first


class Page:
    """What a person can do with the page, and what went wrong on it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.wrong: list[str] = []
        page.on("console", lambda message: self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.set_default_timeout(1000 * PATIENCE)

    def until(self, script: str) -> None:
        """Wait until an expression is true. Playwright's own way needs eval, which the page forbids."""
        end = time.monotonic() + PATIENCE
        while not self.page.evaluate(script):
            assert time.monotonic() < end, f"never came true: {script}"
            self.page.wait_for_timeout(50)

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def drawn(self, run: str) -> int:
        """Pixels that a picture shows."""
        return int(
            self.page.evaluate(
                """(run) => { const c = document.querySelector(`figure[data-run="${run}"] canvas.base`);
                  const copy = document.createElement("canvas"); copy.width = c.width; copy.height = c.height;
                  const to = copy.getContext("2d", { willReadFrequently: true }); to.drawImage(c, 0, 0);
                  const d = to.getImageData(0, 0, c.width, c.height).data;
                  let n = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) n++; return n; }""",
                run,
            )
        )

    def shows(self, run: str, above: int) -> None:
        """Wait until a picture shows more pixels than this: the frame is drawn when the browser comes to it."""
        end = time.monotonic() + PATIENCE
        while (pixels := self.drawn(run)) <= above:
            assert time.monotonic() < end, f"{run} shows {pixels} pixels"
            self.page.wait_for_timeout(50)

    def measured(self) -> None:
        """Wait until the run in use is done and measured."""
        self.until("document.querySelector('figure.active figcaption')?.textContent.includes('R_NX')")

    def runs(self) -> list[str]:
        found = self.page.evaluate("[...document.querySelectorAll('figure[data-run]')].map((f) => f.dataset.run)")
        return [name for name in found if name.isdigit()]


class Address(str):
    """Where a studio is, the process that serves it, and the folder that it writes to."""

    process: subprocess.Popen[str]
    folder: Path


@contextmanager
def studio(*args: str) -> Iterator[Address]:
    """The address of a studio that ends with the block; whatever it started must be gone then."""
    scratch = Path(tempfile.mkdtemp(prefix="studio-test-"))
    code = "import sys; from lowfold.cli import main; sys.exit(main(sys.argv[1:]))"
    path = os.pathsep.join(part for part in sys.path if part)
    process = subprocess.Popen(
        [sys.executable, "-c", code, "studio", "--no-browser", *args],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(scratch)},
    )
    assert process.stderr is not None
    try:
        found = re.search(r"http\S+", process.stderr.readline())
        assert found
        address = Address(found[0])
        address.process, address.folder = process, scratch
        yield address
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()
        left = [found.name for found in scratch.iterdir()]
        shutil.rmtree(scratch)
    assert left == [], "the studio left files behind"


@contextmanager
def opened(address: str, **context: Any) -> Iterator[Page]:
    """A page at this address."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        whole = {"viewport": {"width": 1440, "height": 900}, "accept_downloads": True, **context}
        inside = browser.new_context(**whole)
        page = Page(inside.new_page())
        page.page.goto(address)
        page.page.wait_for_selector("html[data-ready=yes]")
        yield page
        browser.close()


def images(folder: Path, n: int = 60) -> Path:
    """A folder of images of a turning head."""
    import numpy as np
    from PIL import Image

    import lowfold

    data = lowfold.datasets.rotating_object(n, random_state=1)
    stack = np.uint8(255 * (data.images - data.X.min()) / np.ptp(data.X))
    folder.mkdir()
    for number, pixels in enumerate(stack):
        Image.fromarray(pixels).save(folder / f"head{number}.png")
    return folder
