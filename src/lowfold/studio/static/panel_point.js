// The point that is pointed at: what it is, and its neighbours in the data against those in the picture.
import { columnOf } from "./colours.js";
import { calm, count, get, h, paint, short } from "./dom.js";
import { curve, image, item } from "./items.js";
import { numbers, row, send } from "./link.js";
import { pictures } from "./pictures.js";
import { active, on, rowNumber, state, title } from "./state.js";
import { tip } from "./tip.js";

const holder = get("point"), K = 10;
/** @type {any} */ let near = null;

/** The run whose picture is pointed at, or that is in use. */
const meant = () => { const over = [...pictures.values()].find((one) => one.scatter === state.over); return (over && state.runs.get(over.id)) || active(); };
/** The K nearest points in the picture. @param {number} i */
function inPicture(i) {
  const one = pictures.get(meant()?.id || "") || pictures.values().next().value;
  if (!one || !one.scatter.axes.length || one.scatter.n <= i) return [];
  const axes = one.scatter.axes, spans = axes.map((axis) => (axis.high - axis.low) / 65534), n = one.scatter.n;
  /** @type {[number, number][]} */ const best = [];
  let most = Infinity;
  for (let j = 0; j < n; j++) {
    if (j === i || axes[0].steps[j] === 65535) continue;
    let d = 0;
    for (let k = 0; k < axes.length && d < most; k++) { const v = (axes[k].steps[j] - axes[k].steps[i]) * spans[k]; d += v * v; }
    if (d < most || best.length < K) { best.push([d, j]); best.sort((a, b) => a[0] - b[0]); if (best.length > K) best.pop(); most = best.length === K ? best[K - 1][0] : Infinity; }
  }
  return best.map(([, j]) => j);
}
/** What is known of a point: [name, value][]. @param {number} i */
async function facts(i) {
  const data = state.data, run = meant(), found = [];
  for (const [name, column] of Object.entries(data?.colours || {})) {
    const values = await numbers(column).catch(() => null);
    if (values) found.push([name, column.kind === "codes" ? column.names[values[i]] : values[i] === 65535 ? "-" : short(column.low + (values[i] / 65534) * (column.high - column.low))]);
  }
  for (const name of run ? Object.keys(run.colours) : []) {
    const column = await columnOf(`own:${name}`, run), values = column && (await numbers(column).catch(() => null));
    if (column && values && column.kind === "steps" && values[i] !== 65535) found.push([`${name} in ${run ? title(run) : ""}`, short(column.low + (values[i] / 65534) * (column.high - column.low), 3)]);
  }
  return found;
}
/** @param {number[]} rows @param {Set<number>} also */
async function thumbs(rows, also) {
  const data = state.data;
  if (!data) return null;
  if (data.item !== "image") return h("p", { class: "rows" }, rows.map((j, k) => [k ? ", " : "", also.has(j) ? h("b", null, rowNumber(j)) : h("span", { class: "soft" }, rowNumber(j))]));
  const values = await Promise.all(rows.map((j) => row(data.id, j)));
  return h("div", { class: "thumbs" }, values.map((v, k) => { const one = image(v, 40); one.title = `row ${rowNumber(rows[k])}`; if (also.has(rows[k])) one.classList.add("kept"); return one; }));
}
/** The same in a few words, beside the pointer. @param {Float32Array} values @param {string[][]} list @param {any} known */
function beside(values, list, known) {
  const data = state.data, first = list.find(([name]) => name in (data?.colours || {})), words = Object.entries(known?.aside || {}).filter(([name, text]) => !(name in (data?.colours || {})) && text).map(([, text]) => text);
  const text = words.sort((a, b) => b.length - a.length)[0];
  tip(data?.item === "image" ? image(values, 84) : data?.item === "curve" ? curve([{ values, color: "#4477AA" }]) : null,
    h("b", null, `row ${rowNumber(state.pointed)}`), first ? h("span", null, first.join(" ")) : null, text ? h("span", null, text.length > 120 ? `${text.slice(0, 119)}…` : text) : null);
}
let wanted = 0;
async function show() {
  const i = state.pointed >= 0 ? state.pointed : state.held, data = state.data, turn = ++wanted;
  if (!data || i < 0 || i >= data.shown) { tip(); paint(holder, h("p", { class: "soft" }, "Point at a picture: the same point is marked in all of them, and shown here. Arrow keys move the pointer when a picture has the focus.")); return; }
  const [values, list] = await Promise.all([row(data.id, i), facts(i)]);
  if (turn !== wanted) return;
  const known = near?.row === i ? near : null;
  if (i === state.pointed) beside(values, list, known); else tip();
  const run = meant(), mine = inPicture(i), theirs = known?.rows, both = theirs ? new Set(theirs.filter((/** @type {number} */ j) => mine.includes(j))) : new Set();
  const [a, b] = await Promise.all([theirs ? thumbs(theirs, both) : null, thumbs(mine, both)]);
  if (turn !== wanted) return;
  paint(holder, h("h2", null, `row ${count(rowNumber(i))}`), item(values, known?.terms, 140),
    Object.entries(/** @type {{[name: string]: string}} */ (known?.aside || {})).filter(([name]) => !(name in data.colours)).map(([name, words]) => h("p", { class: "soft" }, `${name}: ${words}`)),
    list.length ? h("table", { class: "numbers" }, h("tbody", null, list.map(([name, value]) => h("tr", null, h("th", { scope: "row" }, name), h("td", null, value))))) : null,
    h("h3", null, `Its ${K} neighbours`), theirs ? h("p", null, h("b", null, `${both.size} of ${theirs.length} are kept`), " in the picture.") : null,
    h("p", { class: "soft" }, "in the data"), a || h("p", { class: "soft" }, "searching"), h("p", { class: "soft" }, `in ${run ? title(run) : "the picture"}`), b);
}
const search = calm(async () => {
  const i = state.pointed >= 0 ? state.pointed : state.held, data = state.data;
  if (!data || i < 0 || near?.row === i && near?.data === data.id) return;
  try { const found = await send("near", { row: i, k: K }); near = { ...found, row: i, data: data.id }; show(); } catch { /* another point was pointed at since */ }
}, 180);
const soon = calm(show, 30);
on(["pointed", "active"], () => { if (state.pointed < 0) tip(); soon(); search(); });
on("data", async () => {
  const data = state.data;
  near = null; state.rows = null;
  if (data?.rows) { const found = await numbers(data.rows).catch(() => null); if (state.data === data) state.rows = found; }
  show();
});
