"""The studio in Chromium: a person's whole way from a file to what is taken home."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.browser.studio_page import BROWSER, Page, images, opened, studio

pytest.importorskip("playwright", reason="needs the package playwright")
pytest.importorskip("starlette", reason="needs the extra studio")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium here; on Debian: apt-get install chromium")


def take(page: Page, what: str, folder: Path) -> Path:
    """Click on a button of "take home" and keep the file."""
    with page.page.expect_download() as download:
        page.page.click(f"#take-{what}")
    target = folder / download.value.suggested_filename
    download.value.save_as(target)
    return target


def ask(page: Page, folder: Path) -> None:
    """New rows, and a place in the picture."""
    p = page.page
    p.click("#tab-ask")
    rows = np.random.default_rng(0).integers(0, 16, (5, 64))
    new = folder / "new.csv"
    np.savetxt(new, rows, delimiter=",", header=",".join(f"pixel{j + 1}" for j in range(64)), comments="")
    p.set_input_files("#new-file", str(new))
    page.until("document.querySelector('#ask').textContent.includes('5 rows placed')")
    p.click("#use-ask")
    p.locator("figure.active canvas.base").scroll_into_view_if_needed()
    box = p.locator("figure.active canvas.base").bounding_box()
    p.mouse.move(box["x"] + 100, box["y"] + 100)
    p.mouse.move(box["x"] + 110, box["y"] + 120)
    p.wait_for_selector("#ask canvas.image")


def take_home(page: Page, folder: Path, chosen: int) -> Path:
    """Every kind of file; the session is returned."""
    p = page.page
    p.click("#tab-home")
    p.wait_for_selector("#copy-python")
    assert "load_digits" in page.text("#home pre")
    assert take(page, "csv", folder).read_text().count("\n") == 1798
    assert take(page, "rows", folder).read_text().count("\n") == chosen + 1
    for what in ("parquet", "model", "png", "svg"):
        assert take(page, what, folder).stat().st_size > 1000
    assert b"This file holds everything" in take(page, "report", folder).read_bytes()
    return take(page, "session", folder)


@pytest.mark.timeout(120)
def test_the_page_opens_and_draws() -> None:
    with studio() as address, opened(address) as page:
        assert "token" not in page.page.url
        page.page.select_option("#set", "circle")
        page.page.fill("#set-n", "100")
        page.page.click("#make")
        page.until("document.querySelector('#what').textContent.includes('circle: 100')")
        page.until("document.querySelector('figure[data-run] canvas.base')?.width > 50")
        page.shows("the data", above=200)
        assert page.wrong == []


@pytest.mark.slow
def test_the_whole_way_on_digits(tmp_path: Path) -> None:
    with studio() as address, opened(address) as page:
        p = page.page
        p.select_option("#set", "digits")  # 1 load
        p.click("#make")
        page.until("document.querySelector('#what').textContent.includes('1,797')")
        p.click("#tab-look")  # 2 look
        p.click("#look-now")
        page.until("document.querySelectorAll('.finding').length >= 11")
        p.click("#stop-look")
        p.click("#tab-method")  # 3 choose, 4 run
        p.wait_for_selector("#param-n_neighbors")
        p.fill("#param-n_neighbors", "12")
        p.click("#run")
        page.measured()
        p.fill("#param-n_components", "3")
        p.click("#run")
        page.until("document.querySelectorAll('.strip .kept').length === 1")  # neighbours are not searched again
        page.until("document.querySelectorAll('figure[data-run]').length === 4")
        first, second = page.runs()
        page.measured()
        box = p.locator(f"figure[data-run='{first}'] canvas.base").bounding_box()  # 5 compare
        before = page.drawn(second)
        p.mouse.move(box["x"] + 30, box["y"] + 30)
        p.mouse.down()
        p.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 20, steps=4)
        p.mouse.up()
        chosen = re.match(r"([\d,]+) of 1,797 chosen", page.text("#chosen"))
        assert chosen
        page.shows(second, above=before // 2)
        for key in ("own:trust", f"run:{second}:2", "col:pixel20"):
            p.select_option("#colour", key)
            p.wait_for_timeout(200)
        p.check("#graph")
        p.check("#solid")
        p.locator("#between").fill("0.9")
        p.click("#tab-trust")  # 6 trust
        p.check("#torn")
        p.check("#pushed")
        assert "Shepard" in page.text("#trust")
        p.uncheck("#solid")
        ask(page, tmp_path)  # 7 ask
        session = take_home(page, tmp_path, int(chosen[1].replace(",", "")))  # 8 take home
        assert page.wrong == []
    with studio(str(session)) as address, opened(address) as page:  # and open it again
        page.until("document.querySelectorAll('figure[data-run]').length === 4")
        page.until("document.querySelector('#what').textContent.includes('1,797')")
        assert len(page.runs()) == 2
        assert page.wrong == []


@pytest.mark.slow
@pytest.mark.extra("PIL")
def test_a_folder_of_images(tmp_path: Path) -> None:
    with studio() as address, opened(address, color_scheme="dark") as page:
        p = page.page
        p.set_input_files("#folder", str(images(tmp_path / "heads")))
        page.until("document.querySelector('#what').textContent.includes('heads: 60')")
        p.click("#tab-method")
        p.wait_for_selector("#param-n_neighbors")
        p.click("#run")
        page.measured()
        p.click("#tool-path", force=True)
        box = p.locator("figure.active canvas.base").bounding_box()
        p.mouse.move(box["x"] + 40, box["y"] + 40)
        p.mouse.down()
        p.mouse.move(box["x"] + 200, box["y"] + 160, steps=6)
        p.mouse.up()
        p.wait_for_selector("#ask .film canvas")
        assert p.locator("#ask .film canvas").count() == 9
        p.click("#tab-point")
        p.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert page.wrong == []


@pytest.mark.slow
def test_with_the_keyboard_alone() -> None:
    with studio() as address, opened(address) as page:
        p = page.page

        def to(identity: str) -> None:
            """Press Tab until this element has the focus."""
            for _ in range(200):
                if p.evaluate("document.activeElement.id") == identity:
                    return
                p.keyboard.press("Tab")
            raise AssertionError(f"Tab never reaches {identity}")

        to("make")
        p.keyboard.press("Enter")
        page.until("document.querySelector('#what').textContent.includes('swiss_roll: 1,000')")
        p.evaluate("document.getElementById('tab-data').focus()")  # Shift+Tab many times
        p.keyboard.press("ArrowRight")
        p.keyboard.press("ArrowRight")
        p.wait_for_selector("#param-n_neighbors")
        to("run")
        p.keyboard.press("Enter")
        page.measured()
        p.evaluate("document.querySelector('figure.active canvas.base').focus()")
        p.keyboard.press("Shift+ArrowLeft")
        p.keyboard.press("Shift+ArrowLeft")
        p.keyboard.press("Shift+ArrowUp")
        p.keyboard.press("Space")  # begins a rectangle
        for _ in range(6):
            p.keyboard.press("Shift+ArrowRight")
        for _ in range(4):
            p.keyboard.press("Shift+ArrowDown")
        p.keyboard.press("Space")
        page.until("/[1-9].* of 1,000 chosen/.test(document.querySelector('#chosen')?.textContent)")
        p.keyboard.press("Escape")
        page.until("!document.querySelector('#chosen')")
        assert page.wrong == []


@pytest.mark.slow
def test_at_the_width_of_a_phone() -> None:
    with studio() as address, opened(address, viewport={"width": 390, "height": 780}, has_touch=True) as page:
        p = page.page
        p.click("#make")
        page.until("document.querySelector('#what').textContent.includes('swiss_roll')")
        p.click("#tab-method")
        p.wait_for_selector("#param-n_neighbors")
        for view in ("left", "centre", "right"):
            p.click(f"#views button[data-view={view}]")
            assert p.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{view} is wider than the window"
        p.click("#views button[data-view=left]")
        p.click("#run")
        page.until("document.body.dataset.view === 'centre'")
        page.measured()
        page.shows(page.runs()[0], above=300)
        assert p.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.wrong == []


@pytest.mark.slow
def test_a_million_points_are_drawn_and_hovered() -> None:
    """No clock: that every point takes part, and that nothing goes wrong."""
    with studio() as address, opened(address) as page:
        p = page.page
        p.fill("#set-n", "1000000")
        p.click("#make")
        page.until("document.querySelector('#what').textContent.includes('1,000,000')")
        found = p.evaluate(
            """async () => { const { pictures } = await import('/static/pictures.js');
              const one = () => pictures.get('the data')?.scatter;
              while (!one() || one().n < 1e6 || !one().buffers) await new Promise((r) => setTimeout(r, 20));
              const s = one(); let weight = 0;
              for (let i = 0; i < s.buffers.sums.length; i += 4) weight += s.buffers.sums[i];
              const all = s.inside([[0, 0], [s.w, 0], [s.w, s.h], [0, s.h]]).reduce((a, b) => a + b, 0);
              const [x, y] = s.at(123456), near = s.at(s.nearest(x, y));
              return { weight, all, off: Math.hypot(near[0] - x, near[1] - y) }; }"""
        )
        assert json.loads(json.dumps(found)) == {"weight": 8_000_000, "all": 1_000_000, "off": 0}
        assert page.wrong == []
