// Ask the model: new rows, a place in the picture, a path through it.
import { calm, count, get, h, paint } from "./dom.js";
import { curve, image, item, words } from "./items.js";
import { send, upload } from "./link.js";
import { active, changed, on, state, title } from "./state.js";
import { attempt } from "./told.js";

const holder = get("ask"), FRAMES = 9;

/** @param {string} run @param {number[]} place */
export const askPlace = calm(async (run, place) => ask(run, [place]), 60);
/** Places at even steps along the path. @param {string} run @param {number[][]} path */
export function askPath(run, path) {
  const at = [0];
  for (let k = 1; k < path.length; k++) at.push(at[k - 1] + Math.hypot(...path[k].map((v, j) => v - path[k - 1][j])));
  const places = Array.from({ length: FRAMES }, (_, f) => {
    const want = (at[at.length - 1] * f) / (FRAMES - 1), k = Math.max(1, at.findIndex((v) => v >= want)), t = (want - at[k - 1]) / (at[k] - at[k - 1] || 1);
    return path[k].map((v, j) => path[k - 1][j] + t * (v - path[k - 1][j]));
  });
  get("tab-ask").click();
  attempt(() => ask(run, places));
}
/** @param {string} run @param {number[][]} places */
async function ask(run, places) {
  const one = state.runs.get(run);
  if (!one || !one.invertible) return;
  try {
    const found = await send("invert", { run, points: places.map((p) => p.slice(0, Math.min(3, one.picture.length))) });
    state.asked = { run, places, rows: found.rows, terms: found.terms };
    if (places.length === 1 && get("tab-ask").getAttribute("aria-selected") !== "true") get("tab-ask").click();
    changed("asked");
  } catch (error) { if (error instanceof Error && error.message !== "stopped") throw error; }
}
/** @param {FileList | null} files */
async function place(files) {
  const run = active();
  if (!files?.length || !run) return;
  await attempt(async () => { const batch = await upload([...files].map((file) => ({ file, name: file.name })), () => {}); await send("place", { run: run.id, batch }); });
}
function answer() {
  const asked = state.asked, data = state.data;
  if (!asked || !data || !state.runs.has(asked.run)) return null;
  const { rows } = asked;
  if (rows.length === 1) return [h("h3", null, "At this place"), item(rows[0], asked.terms[0], 150)];
  return [h("h3", null, "Along the path"), data.item === "image" ? h("div", { class: "film" }, rows.map((values) => image(values, 64))) : data.item === "curve" ? curve(rows.map((values, k) => ({ values, color: `hsl(${200 + (150 * k) / rows.length} 70% 45%)` })), 160) : data.item === "words" ? h("ol", null, asked.terms.map((terms) => h("li", null, words(terms.slice(0, 5))))) :
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "rows along the path" }, h("table", { class: "numbers" }, h("tbody", null, data.columns.filter((one) => one.role === "data").slice(0, 12).map((one, j) => h("tr", null, h("th", { scope: "row" }, one.name), rows.map((values) => h("td", null, values[j] === null ? "-" : Number(/** @type {number} */ (values[j]).toPrecision(3)))))))))];
}
function show() {
  const run = active();
  if (!run || run.status !== "done") { paint(holder, h("p", { class: "soft" }, "Run a method first; then its model can be asked.")); return; }
  const file = h("input", { type: "file", id: "new-file", class: "hidden", multiple: true, "aria-label": "new rows", onchange: (/** @type {any} */ e) => place(e.target.files) });
  paint(holder, h("h2", null, "New rows"),
    h("div", { class: "target", id: "target", ondragover: (/** @type {Event} */ e) => e.preventDefault(), ondrop: (/** @type {DragEvent} */ e) => { e.preventDefault(); place(e.dataTransfer?.files || null); } },
      h("p", null, `Drop a file with the same columns here: ${title(run)} places its rows.`), h("button", { type: "button", id: "place", onclick: () => file.click() }, "Choose a file"), file),
    state.busy.includes("place") ? h("p", { class: "working" }, "placing them") : null,
    run.placed.map((/** @type {any} */ one) => h("p", null, `${one.name}: ${count(one.points.length)} rows placed`, one.of > one.points.length ? `, the first of ${count(one.of)}` : "", ".")),
    h("h2", null, "A place, a path"),
    run.invertible ? h("p", { class: "row" }, h("button", { type: "button", id: "use-ask", "aria-pressed": String(state.tool === "ask"), onclick: () => { state.tool = "ask"; changed("tool"); } }, "Point at a place"), h("button", { type: "button", id: "use-path", "aria-pressed": String(state.tool === "path"), onclick: () => { state.tool = "path"; changed("tool"); } }, "Draw a path"))
      : h("p", { class: "soft" }, `${run.method} has no way back from the picture to the data.`),
    answer() || (run.invertible ? h("p", { class: "soft" }, "What would the data look like there? Move over the picture, or draw through it.") : null));
}
on(["runs", "active", "data", "asked", "tool", "busy"], show);
