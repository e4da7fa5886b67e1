"""The report in a real browser: it opens offline, draws, sorts, marks and chooses. Chromium without a window.

No driver is needed: a script is added to a copy of the page, which acts as a user would and writes what it saw into the
page, and the browser prints the page.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowfold

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium here; on Debian: apt-get install chromium"),
]
METHODS = ["pca", "isomap", "lle", "laplacian-eigenmaps"]

# Before everything else: whatever goes wrong is kept.
WATCH = """<script>
window.wrong = [];
addEventListener("error", (event) => wrong.push(String(event.message)));
addEventListener("securitypolicyviolation", (event) => wrong.push("blocked " + event.blockedURI));
for (const kind of ["error", "warn"]) console[kind] = (...words) => wrong.push(words.join(" "));
</script>"""

ACT = """<script>
const seen = { wrong };
const pixels = (canvas) => {
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let count = 0, sum = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3]) { count++; sum = (sum * 31 + data[i] + 3 * data[i + 1] + 7 * data[i + 2]) % 1000003; }
  }
  return [count, sum];
};
const figures = () => [...document.querySelectorAll("figure[data-name]")];
const above = () => figures().map((f) => pixels(f.querySelector("canvas.above"))[0]);
const base = () => figures().map((f) => pixels(f.querySelector("canvas.base")));
const order = () => [...document.querySelectorAll("#ranking tbody tr")].map((row) => row.dataset.name);
const told = () => document.getElementById("told").textContent;
const pointer = (canvas, kind, x, y) => {
  const box = canvas.getBoundingClientRect();
  const where = { clientX: box.left + x, clientY: box.top + y, pointerType: "mouse", pointerId: 1 };
  canvas.dispatchEvent(new PointerEvent(kind, where));
};
const change = (id, key, value) => {
  const control = document.getElementById(id);
  control[key] = value;
  control.dispatchEvent(new Event("change"));
};
addEventListener("load", () => {
  seen.width = document.documentElement.clientWidth;
  seen.content = document.documentElement.scrollWidth;
  seen.drawn = base();
  seen.order = order();
  const heading = document.querySelector("#ranking thead th button");
  heading.click(); seen.sorted = order(); seen.pictures = figures().map((f) => f.dataset.name);
  heading.click(); seen.reversed = order();
  const first = figures()[0].querySelector("canvas.base");
  first.setPointerCapture = () => {}; // only real pointers can be captured
  seen.unmarked = above();
  first.scrollIntoView();
  const { width, height } = first.getBoundingClientRect();
  for (let y = 4; y < height && !above()[0]; y += 6)
    for (let x = 4; x < width && !above()[0]; x += 6) pointer(first, "pointermove", x, y);
  seen.marked = above(); seen.told = told();
  pointer(first, "pointerleave", 0, 0); seen.left = above();
  pointer(first, "pointerdown", 2, 2);
  pointer(first, "pointermove", width / 2, height - 2);
  pointer(first, "pointerup", width / 2, height - 2);
  seen.chosen = told(); seen.dimmed = base();
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" })); seen.free = base();
  const by = document.getElementById("by");
  seen.fields = [...by.options].map((option) => option.text);
  change("by", "value", String(by.options.length - 1)); seen.recoloured = base();
  change("edges", "checked", true); seen.withEdges = base();
  seen.names = figures().map((f) => f.dataset.name);
  const out = document.createElement("pre");
  out.id = "seen"; out.textContent = JSON.stringify(seen);
  document.body.append(out);
});
</script>"""


def visit(page: Path, folder: Path, width: int) -> dict[str, Any]:
    """What the script saw in a window of this width."""
    text = page.read_text(encoding="utf-8")
    acted = folder / f"acted{width}.html"
    acted.write_text(
        text.replace("<head>", "<head>" + WATCH, 1).replace("</body>", ACT + "</body>", 1), encoding="utf-8"
    )
    done = subprocess.run(
        [
            str(BROWSER),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--host-resolver-rules=MAP * ~NOTFOUND",  # no name is found: offline
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={width},900",
            "--virtual-time-budget=10000",
            "--dump-dom",
            acted.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr[-2000:]
    return dict(json.loads(html.unescape(found[1])))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    roll = lowfold.datasets.swiss_roll(400, random_state=0)
    found = lowfold.compare(
        roll.X,
        [*METHODS, lowfold.LLE(n_neighbors=4000)],
        truth=roll.coordinates,
        labels=np.where(roll.color > 9, "outer", "</script><b>inner"),
        isolate=False,
    )
    target = tmp_path_factory.mktemp("report") / "report.html"
    lowfold.viz.write_report(found, target)
    return target


@pytest.mark.parametrize("width", [1280, 500])
def test_a_reader_can_use_the_page(page: Path, tmp_path: Path, width: int) -> None:
    seen = visit(page, tmp_path, width)
    assert seen["wrong"] == []
    assert seen["content"] <= seen["width"], "the page is wider than the window"
    assert len(seen["drawn"]) == len(METHODS)
    assert min(count for count, _ in seen["drawn"]) > 300, "a picture is empty"
    # the table: by R_NX first, then by name, with the failed row last; pictures follow
    assert seen["order"][-1] == "LLE (2)"
    assert seen["sorted"] == ["Isomap", "LaplacianEigenmaps", "LLE", "PCA", "LLE (2)"]
    assert seen["pictures"] == seen["sorted"][:-1]
    assert seen["reversed"] == ["PCA", "LLE", "LaplacianEigenmaps", "Isomap", "LLE (2)"]
    # pointing at a point of one picture marks it in all of them
    assert seen["unmarked"] == [0] * 4
    assert min(seen["marked"]) > 0
    assert "row " in seen["told"]
    assert "true coordinate 1" in seen["told"]
    assert seen["left"] == [0] * 4
    # a rectangle chooses points, the others fade in every picture; Escape undoes it
    chosen = re.match(r"(\d+) of 400 points chosen", seen["chosen"])
    assert chosen
    assert 0 < int(chosen[1]) < 400
    assert all(a != b for a, b in zip(seen["dimmed"], seen["free"]))
    assert all(a != b for a, b in zip(seen["free"], seen["recoloured"]))
    # edges: every method but PCA has a graph
    changed = {name for name, a, b in zip(seen["names"], seen["recoloured"], seen["withEdges"]) if a != b}
    assert changed == {"Isomap", "LLE", "LaplacianEigenmaps"}
    assert seen["fields"][:2] == ["class", "true coordinate 1"]
