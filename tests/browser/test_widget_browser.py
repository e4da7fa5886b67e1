"""The widget of a notebook in Chromium: the renderer draws, and what is chosen with the mouse comes back as rows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.browser.studio_page import BROWSER

import lowfold

pytest.importorskip("playwright", reason="needs the package playwright")
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium here; on Debian: apt-get install chromium"),
    pytest.mark.extra("anywidget"),
]

# What anywidget gives: values by name, and a way to hear of changes.
MODEL = """
const held = %s, heard = {};
window.model = { get: (name) => held[name], set: (name, value) => { held[name] = value; heard[`change:${name}`]?.(); },
  save_changes: () => {}, on: (name, work) => { heard[name] = work; } };
widget.render({ model, el: document.getElementById("cell") });
window.there = true;
"""


@pytest.mark.timeout(120)
def test_points_are_drawn_and_chosen() -> None:
    from playwright.sync_api import sync_playwright

    side = np.linspace(0, 1, 20)
    Y = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)  # row 0 below on the left
    found = lowfold.viz.widget(Y, labels=np.arange(400) % 3, height=400)
    held = {name: getattr(found, name) for name in ("n", "axes", "field", "title", "height", "chosen")}
    script = found._esm.replace("export default", "const widget =") + MODEL % json.dumps(held)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        page, wrong = browser.new_page(viewport={"width": 800, "height": 600}), []
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.set_content('<div id="cell"></div>')
        page.add_script_tag(content=script, type="module")
        page.wait_for_function("window.there && document.querySelector('canvas').width > 100")
        box = page.locator("canvas").first.bounding_box()
        page.mouse.move(box["x"] + 2, box["y"] + 2)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=4)
        page.mouse.up()
        rows = page.evaluate("model.get('chosen')")
        assert rows == list(range(200, 400))  # the upper half
        assert "200 of 400 chosen" in page.inner_text("#cell")
        page.evaluate("model.set('chosen', [])")
        pixels = """() => { const c = document.querySelector('canvas'), { width, height } = c;
          const { data } = c.getContext('2d').getImageData(0, 0, width, height);
          return data.filter((v, i) => i % 4 === 3 && v).length; }"""
        page.wait_for_function(f"({pixels})() > 1000")
        browser.close()
    assert wrong == []
