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


def drag(page: Page, figure: str, start: tuple[float, float], end: tuple[float, float]) -> None:
    """With the mouse across a picture, in shares of its sides."""
    p = page.page
    canvas = p.locator(f"{figure} canvas.base")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    p.mouse.move(box["x"] + start[0] * box["width"], box["y"] + start[1] * box["height"])
    p.mouse.down()
    p.mouse.move(box["x"] + end[0] * box["width"], box["y"] + end[1] * box["height"], steps=6)
    p.mouse.up()


def look(page: Page) -> None:
    """Step 2."""
    page.page.click("#tab-look")
    page.page.click("#look-now")
    page.until("document.querySelectorAll('.finding').length >= 11")
    page.page.click("#stop-look")


def choose_and_run(page: Page, k: int) -> tuple[str, str]:
    """Steps 3 and 4: two runs; the second does not search neighbours again."""
    p = page.page
    p.click("#tab-method")
    p.wait_for_selector("#param-n_neighbors")
    p.fill("#param-n_neighbors", str(k))
    p.click("#run")
    page.measured()
    p.fill("#param-n_components", "3")
    p.click("#run")
    page.until("document.querySelectorAll('.strip .kept').length === 1")
    page.until("document.querySelectorAll('figure[data-run]').length === 4")
    page.measured()
    first, second = page.runs()
    return first, second


def compare(page: Page, first: str, second: str) -> int:
    """Step 5; how many points were chosen."""
    p, before = page.page, page.drawn(second)
    drag(page, f"figure[data-run='{first}']", (0.05, 0.05), (0.6, 0.95))
    chosen = re.match(r"([\d,]+) of [\d,]+ chosen", page.text("#chosen"))
    assert chosen
    page.shows(second, above=before // 2)
    last = "document.querySelector('#colour optgroup:last-child option:nth-child(20)').value"
    column = p.evaluate(last)  # of the data
    for key in ("own:trust", "own:local error", "own:log density", f"run:{second}:2", column):
        p.select_option("#colour", key)
        page.until(f"document.querySelector('#colour').value === {key!r}")
    p.check("#graph")
    p.check("#solid")
    p.locator("#between").fill("0.9")
    p.uncheck("#solid")
    p.click("#tool-rectangle", force=True)
    return int(chosen[1].replace(",", ""))


def trust(page: Page) -> None:
    """Step 6."""
    p = page.page
    p.click("#tab-trust")
    p.check("#torn")
    p.check("#pushed")
    assert "Shepard" in page.text("#trust")
    assert "trustworthiness" in page.text("#trust")


def ask(page: Page, new: list[Path]) -> None:
    """Step 7: new rows, a place in the picture, a path through it."""
    p = page.page
    p.click("#tab-ask")
    p.set_input_files("#new-file", [str(file) for file in new])
    page.until("document.querySelector('#ask').textContent.includes('5 rows placed')")
    p.click("#use-ask")
    p.locator("figure.active canvas.base").scroll_into_view_if_needed()
    box = p.locator("figure.active canvas.base").bounding_box()
    p.mouse.move(box["x"] + 100, box["y"] + 100)
    p.mouse.move(box["x"] + 110, box["y"] + 120)
    page.until("document.querySelector('#ask').textContent.includes('At this place')")
    p.wait_for_selector("#ask canvas.image")
    p.click("#use-path")
    drag(page, "figure.active", (0.2, 0.2), (0.7, 0.6))
    page.until("document.querySelectorAll('#ask .film canvas').length === 9")


def take_home(page: Page, folder: Path, n: int, chosen: int, source: str) -> Path:
    """Step 8: every kind of file; the session is returned."""
    p = page.page
    p.click("#tab-home")
    p.wait_for_selector("#copy-python")
    assert source in page.text("#home pre")
    assert take(page, "csv", folder).read_text().count("\n") == n + 1
    assert take(page, "rows", folder).read_text().count("\n") == chosen + 1
    for what in ("parquet", "model", "png", "svg"):
        assert take(page, what, folder).stat().st_size > 1000
    assert b"This file holds everything" in take(page, "report", folder).read_bytes()
    return take(page, "session", folder)


def opens_again(session: Path, shape: str) -> None:
    """A saved session: its data and both runs."""
    with studio(str(session)) as address, opened(address) as page:
        page.until("document.querySelectorAll('figure[data-run]').length === 4")
        page.until(f"document.querySelector('#what').textContent.includes({shape!r})")
        assert len(page.runs()) == 2
        assert page.wrong == []


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
    rows = np.random.default_rng(0).integers(0, 16, (5, 64))
    new = tmp_path / "new.csv"
    np.savetxt(new, rows, delimiter=",", header=",".join(f"pixel{j + 1}" for j in range(64)), comments="")
    with studio() as address, opened(address) as page:
        page.page.select_option("#set", "digits")  # 1 load
        page.page.click("#make")
        page.until("document.querySelector('#what').textContent.includes('1,797')")
        look(page)
        first, second = choose_and_run(page, 12)
        chosen = compare(page, first, second)
        trust(page)
        ask(page, [new])
        session = take_home(page, tmp_path, 1797, chosen, "load_digits")
        assert page.wrong == []
    opens_again(session, "1,797")


@pytest.mark.slow
@pytest.mark.extra("PIL")
def test_the_whole_way_on_a_folder_of_images_in_the_dark(tmp_path: Path) -> None:
    heads, more = images(tmp_path / "heads", 120), images(tmp_path / "more", 5)
    with studio() as address, opened(address, color_scheme="dark") as page:
        page.page.set_input_files("#folder", str(heads))
        page.until("document.querySelector('#what').textContent.includes('heads: 120')")
        look(page)
        first, second = choose_and_run(page, 8)
        chosen = compare(page, first, second)
        trust(page)
        page.page.click("#stability")
        page.until("document.querySelector('#trust').textContent.includes('over 8 random parts')")
        page.page.select_option("#colour", "own:instability")
        ask(page, sorted(more.iterdir()))
        session = take_home(page, tmp_path, 120, chosen, "heads")
        assert page.wrong == []
    opens_again(session, "heads: 120")


@pytest.mark.slow
def test_a_table_with_words_and_gaps(tmp_path: Path) -> None:
    """Roles, missing values, the number of a row in the file, an item beside the pointer, and `tune` with its curve."""
    rng = np.random.default_rng(0)
    lines = [f"s{i},{a:.4f},{b:.4f},{'' if i == 3 else f'{100 * c:.2f}'},{'uv'[i % 2]},a remark on stone {i}"
             for i, (a, b, c) in enumerate(rng.normal(size=(90, 3)))]  # fmt: skip
    file = tmp_path / "stones.csv"
    file.write_text("\n".join(["sample,a,b,c,kind,remark", *lines]) + "\n", encoding="utf-8")
    with studio(str(file)) as address, opened(address) as page:
        p = page.page
        page.until("document.querySelector('#what').textContent.includes('90 × 3')")
        assert "1 missing" in page.text("#data")
        p.select_option("#gaps", "drop")
        p.select_option("#alike", "unit")
        p.click("#assign")
        page.until("document.querySelector('#what').textContent.includes('89 × 3')")
        p.click("#tab-method")
        p.wait_for_selector("#param-n_neighbors-tune")
        p.click("#param-n_neighbors-tune")
        page.until("document.querySelector('.param .tuned svg.chart') !== null")
        assert p.input_value("#param-n_neighbors") != ""
        assert p.input_value("#param-n_components") == "2"
        p.click("#run")
        page.measured()
        at = p.evaluate(
            """async () => { const { pictures } = await import('/static/pictures.js');
              const { state } = await import('/static/state.js');
              const s = pictures.get(state.active).scatter, box = s.base.getBoundingClientRect(), [x, y] = s.at(50);
              return [box.left + x, box.top + y, s.nearest(x, y)]; }"""
        )
        assert at[2] == 50
        p.mouse.move(at[0], at[1])
        page.until("document.querySelector('.tip:not([hidden])')?.textContent.includes('a remark on stone 51')")
        assert "row 52" in page.text("#point")  # row 4 of the file was left out
        assert p.evaluate("getComputedStyle(document.querySelector('.tip')).pointerEvents") == "none"
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

        def to_picture() -> None:
            """The same until the picture of the run has it."""
            for _ in range(200):
                if p.evaluate("document.activeElement.matches('figure.active canvas')"):
                    return
                p.keyboard.press("Tab")
            raise AssertionError("Tab never reaches the picture")

        to("make")
        p.keyboard.press("Enter")
        page.until("document.querySelector('#what').textContent.includes('swiss_roll: 1,000')")
        to("tab-data")
        p.keyboard.press("ArrowRight")
        p.keyboard.press("ArrowRight")
        p.wait_for_selector("#param-n_neighbors")
        to("run")
        p.keyboard.press("Enter")
        page.measured()
        to_picture()
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
        to("tool-rectangle")
        for _ in range(4):
            p.keyboard.press("ArrowRight")  # rectangle, lasso, move, ask, path
        page.until("document.querySelector('#tool-path').checked")
        to_picture()
        p.keyboard.press("Space")  # begins a path
        for _ in range(5):
            p.keyboard.press("Shift+ArrowRight")
        p.keyboard.press("Space")
        page.until("document.querySelector('#ask').textContent.includes('Along the path')")
        to("tab-ask")
        p.keyboard.press("ArrowLeft")
        page.until("document.querySelector('#trust').textContent.includes('Shepard')")
        to("torn")
        p.keyboard.press("Space")
        to("tab-trust")
        p.keyboard.press("ArrowRight")
        p.keyboard.press("ArrowRight")
        to("take-csv")
        with p.expect_download() as download:
            p.keyboard.press("Enter")
        assert download.value.suggested_filename == "swiss_roll-Isomap.csv"
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
        p.locator("figure.active canvas.base").scroll_into_view_if_needed()
        box = p.locator("figure.active canvas.base").bounding_box()
        for share in range(2, 9):  # a finger finds a point: what it is stands beside it
            p.touchscreen.tap(box["x"] + 0.1 * share * box["width"], box["y"] + box["height"] / 2)
            if p.evaluate("document.querySelector('.tip:not([hidden])') !== null"):
                break
        page.until("document.querySelector('.tip:not([hidden])')?.textContent.startsWith('row ')")
        for tab in ("trust", "ask", "home"):
            p.click("#views button[data-view=right]")
            p.click(f"#tab-{tab}")
            assert p.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{tab} is wider than the window"
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
