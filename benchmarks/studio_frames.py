"""A million points in Chromium without a GPU: the first picture, frames of moving, hovering, and a lasso."""

from __future__ import annotations

from typing import Any

from tests.browser.studio_page import opened, studio

POINTS = 1_000_000

# From the moment at which the page hears of the data until their picture is drawn.
FIRST = """async () => {
  const { pictures } = await import('/static/pictures.js'), { on, state } = await import('/static/state.js');
  const there = new Promise((done) => on('data', () => { if (state.data?.shown === 1e6) done(performance.now()); }));
  document.getElementById('make').click();
  const begun = await there;
  for (;;) {
    const one = pictures.get('the data')?.scatter;
    if (one?.n === 1e6 && one.buffers && !one.waiting) return performance.now() - begun;
    await new Promise(requestAnimationFrame);
  }
}"""
# Frames are told twice: what the drawing takes, and from one frame of the browser to the next.
MOVED = """async (how) => {
  const { pictures } = await import('/static/pictures.js'), one = pictures.get('the data').scatter;
  const drawn = [], between = [];
  let before = 0;
  for (let k = 0; k < 60; k++) {
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    if (before) between.push(now - before);
    before = now;
    const c = Math.cos(k / 20), s = Math.sin(k / 20);
    if (how === 'turn') one.turn = [c, 0, s, 0, 1, 0, -s, 0, c];
    else if (how === 'pan') one.view.x += k < 30 ? 3 : -3;
    else one.view.zoom *= k < 30 ? 1.05 : 1 / 1.05;
    one.solid = how === 'turn';
    one.draw();
    drawn.push(performance.now() - now);
  }
  one.solid = false; one.reset();
  return { drawn, between };
}"""
# The events of a mouse, as the browser hands them to the page.
EVENT = """(pane, kind, x, y) => { const box = pane.getBoundingClientRect();
  const at = { clientX: box.left + x, clientY: box.top + y, pointerId: 1, button: 0 };
  pane.dispatchEvent(new PointerEvent(kind, { bubbles: true, ...at })); }"""
HOVERED = f"""async () => {{
  const {{ pictures }} = await import('/static/pictures.js'), one = pictures.get('the data').scatter, send = {EVENT};
  const took = [];
  for (let k = 0; k < 60; k++) {{
    await new Promise(requestAnimationFrame);
    const begun = performance.now();
    send(one.base, 'pointermove', one.w * (0.2 + 0.01 * k), one.h * (0.3 + 0.005 * k));
    took.push(performance.now() - begun);
  }}
  return took;
}}"""
# From letting go until both pictures stand in their new colours.
LASSOED = f"""async () => {{
  const {{ pictures }} = await import('/static/pictures.js');
  const {{ state, changed }} = await import('/static/state.js'), send = {EVENT};
  const all = [...pictures.values()].map((p) => p.scatter), one = all[0], took = [];
  one.base.setPointerCapture = () => {{}};
  state.tool = 'lasso'; changed('tool');
  for (let k = 0; k < 12; k++) {{
    const r = 0.15 + 0.02 * k;
    const turn = (j) => [one.w * (0.5 + r * Math.cos(j / 10)), one.h * (0.5 + r * Math.sin(j / 10))];
    send(one.base, 'pointerdown', ...turn(0));
    for (let j = 1; j < 60; j++) send(one.base, 'pointermove', ...turn(j));
    await new Promise(requestAnimationFrame);
    const begun = performance.now();
    send(one.base, 'pointerup', ...turn(60));
    do await new Promise(requestAnimationFrame); while (all.some((s) => s.waiting));
    took.push(performance.now() - begun);
    if (!state.chosen) throw new Error('nothing was chosen');
  }}
  state.tool = 'rectangle'; changed('tool');
  return {{ took, pictures: all.filter((s) => s.n === 1e6).length }};
}}"""


def _middle(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    names = {"least": 0, "median": len(ordered) // 2, "9 of 10": int(0.9 * len(ordered))}
    return {name: round(ordered[at], 1) for name, at in names.items()}


class Thread:
    """Processor time of the page's thread, which a loaded machine does not lengthen as it does the clock."""

    def __init__(self, page: Any) -> None:
        self.page, self.link = page, page.context.new_cdp_session(page)
        self.link.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent(self) -> float:
        found = {one["name"]: one["value"] for one in self.link.send("Performance.getMetrics")["metrics"]}
        return 1000 * float(found["TaskDuration"])

    def during(self, script: str, *given: Any) -> tuple[Any, float]:
        """What a script returns, and the milliseconds that it and its frames took."""
        before = self.spent()
        found = self.page.evaluate(script, *given)
        return found, self.spent() - before


def frames() -> dict[str, Any]:
    """Milliseconds of everything that is done with a million points."""
    with studio() as address, opened(address) as page:
        p, thread = page.page, Thread(page.page)
        p.fill("#set-n", str(POINTS))
        first, cpu = thread.during(FIRST)
        found: dict[str, Any] = {
            "points": POINTS,
            "unit": "ms",
            "first picture": {"median": round(first), "thread": cpu},
        }
        for how in ("pan", "zoom", "turn"):
            times, cpu = thread.during(MOVED, how)
            found[how] = {"drawing": _middle(times["drawn"]), **_middle(times["between"]), "thread": cpu / 60}
        p.click("#tab-method")
        p.wait_for_selector("#pick-PCA")
        p.click("#pick-PCA")
        p.click("#run")
        page.until("document.querySelector('figure.active figcaption')?.textContent.includes('solver')")
        took, cpu = thread.during(HOVERED)
        found["hover, two linked pictures"] = {**_middle(took), "thread": cpu / 60}
        lassoed, cpu = thread.during(LASSOED)
        name = f"lasso, {lassoed['pictures']} linked pictures recoloured"
        found[name] = {**_middle(lassoed["took"]), "thread": cpu / 12}
        assert page.wrong == [], page.wrong
    return {**found, "targets": {"first picture": 2000, "a frame": 50, "hover": 16, "lasso": 150}}
