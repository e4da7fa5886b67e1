// The pictures side by side: drawn, linked, compared.
import { colourBy, choices, colouring, legend, usual } from "./colours.js";
import { bytes, count, get, h, paint, seconds, short } from "./dom.js";
import { numbers, send } from "./link.js";
import { Scatter } from "./scatter.js";
import { active, changed, drawn, given, howMany, on, state, title } from "./state.js";
import { attempt } from "./told.js";
import { askPlace, askPath } from "./panel_ask.js";

/** @typedef {import("./protocol.js").RunInfo} RunInfo */
/** @typedef {{id: string, figure: HTMLElement, pane: HTMLElement, scatter: Scatter, heading: HTMLElement, foot: HTMLElement, shown: string, began: number}} Picture */

/** @type {Map<string, Picture>} */ export const pictures = new Map();
const holder = get("pictures");
const DATA = "the data", BETWEEN = "between";
/** @type {[import("./scatter.js").Tool, string, string][]} */
const TOOLS = [["rectangle", "rectangle", "drag a rectangle to choose points"], ["lasso", "lasso", "draw around points to choose them"], ["move", "move", "drag to move, or to turn in 3-D; the wheel zooms"], ["ask", "ask", "point at a place: what would the data be there?"], ["path", "path", "draw a path: what would the data be along it?"]];
const between = { from: "", to: "", share: 0.5, playing: false };

/** @param {Uint8Array | null} mask */
export function choose(mask) {
  state.chosen = mask;
  for (const one of pictures.values()) { one.scatter.chosen = mask; one.scatter.soon(); }
  const only = mask && howMany(mask) === 1 ? mask.indexOf(1) : -1;
  if (only >= 0) state.held = only;
  changed("chosen", "pointed");
}
/** @param {number} i @param {Scatter | null} [over] */
function point(i, over = null) {
  if (i === state.pointed && over === state.over) return;
  state.pointed = i; state.over = over;
  if (i >= 0) state.held = i;
  for (const one of pictures.values()) { one.scatter.pointed = i; one.scatter.near = i < 0 ? [] : joined(one, i); one.scatter.mark(); }
  changed("pointed");
}
/** Points that the graph of a picture joins to point i. @param {Picture} one @param {number} i */
function joined(one, i) {
  const edges = one.scatter.edges, found = [];
  if (edges && edges.length < 400000) for (let e = 0; e < edges.length; e += 2) { if (edges[e] === i) found.push(edges[e + 1]); else if (edges[e + 1] === i) found.push(edges[e]); }
  return found;
}
/** @param {string} id @param {string} label @returns {Picture} */
function made(id, label) {
  const pane = h("div", { class: "pane" }), heading = h("h3"), foot = h("figcaption");
  const figure = h("figure", { "data-run": id, class: id === BETWEEN ? "last" : id === DATA ? "first" : "", onpointerdown: () => use(id), onfocusin: () => use(id) }, heading, pane, foot);
  const on = { point, choose, ask: (/** @type {number[]} */ p) => askPlace(id, p), path: (/** @type {number[][]} */ p) => askPath(id, p) };
  const scatter = new Scatter(pane, { label, on });
  scatter.tool = state.tool; scatter.chosen = state.chosen; scatter.withEdges = state.graph;
  const one = { id, figure, pane, scatter, heading, foot, shown: "", began: performance.now() };
  pictures.set(id, one);
  holder.append(figure);
  return one;
}
/** @param {string} id */
function use(id) {
  if (!state.runs.has(id) || state.active === id) return;
  state.active = id; changed("active");
}
/** @param {Picture} one @param {import("./protocol.js").Column[]} columns @param {RunInfo | null} run */
async function load(one, columns, run) {
  const key = columns.map((column) => column.hash).join();
  if (one.shown === key) return;
  one.shown = key;
  const steps = await Promise.all(columns.map(numbers)).catch(() => null);
  if (!steps || one.shown !== key) return;
  one.scatter.setAxes(columns.map((column, k) => ({ steps: steps[k], low: column.low, high: column.high })));
  one.scatter.solid = state.solid && columns.length > 2;
  one.scatter.colouring = await colouring(run, one.scatter.n);
  one.scatter.soon();
}
/** @param {RunInfo} run */
function strip(run) {
  return h("ol", { class: "strip", "aria-label": "stages" }, run.stages.map((s) => h("li", { class: s.kept ? "kept" : s.seconds === null ? "now" : "", title: s.kept ? "kept from an earlier run: its inputs have not changed" : s.bytes ? `${bytes(s.bytes)} at its peak` : "" },
    s.name, " ", h("b", null, s.kept ? "kept" : s.seconds !== null ? seconds(s.seconds) : s.share ? `${Math.round(100 * s.share)}%` : "…"), s.bytes && s.bytes > 1e6 ? ` ${bytes(s.bytes)}` : "")));
}
/** What it ran with: what was set, and the neighbours and coordinates in any case. @param {RunInfo} run */
function parameters(run) {
  const all = { ...run.params };
  if (run.facts.neighbors && !("n_neighbors" in all)) all.n_neighbors = run.facts.neighbors;
  return given({ n_components: run.facts.params?.n_components ?? 2, ...all });
}
/** @param {Picture} one @param {RunInfo} run */
function words(one, run) {
  const running = run.status === "running" || run.status === "waiting", f = run.facts;
  paint(one.heading, h("span", null, title(run), " ", h("small", null, parameters(run))),
    running ? h("button", { type: "button", id: `stop-${run.id}`, onclick: () => send("stop", { what: run.id }) }, "Stop") : null,
    h("button", { type: "button", class: "quiet", id: `big-${run.id}`, "aria-pressed": String(one.figure.classList.contains("big")), onclick: () => { one.figure.classList.toggle("big"); show(); } }, one.figure.classList.contains("big") ? "smaller" : "larger"),
    h("button", { type: "button", class: "quiet", id: `remove-${run.id}`, "aria-label": `remove ${title(run)}`, onclick: () => attempt(() => send("remove", { run: run.id })) }, "remove"));
  const facts = [];
  if (run.status === "done") {
    facts.push(seconds(f.seconds));
    if (f.solver) facts.push(`solver ${f.solver}`);
    if (f.residual !== null && f.residual !== undefined) facts.push(`residual ${Number(f.residual).toExponential(0)}`);
    for (const name of ["r_nx_area", "trustworthiness", "continuity"]) { const v = run.measured?.values?.find((/** @type {any} */ m) => m.name === name); if (v) facts.push(`${v.title} ${short(v.value, 3)}`); }
    if (!run.measured) facts.push("measuring");
  }
  const found = /** @type {any[]} */ (run.placed).reduce((sum, p) => sum + p.points.length, 0);
  paint(one.foot,
    running ? h("p", { class: "working", role: "status" }, run.status === "waiting" ? "waiting for a free worker" : f.iteration ? `step ${f.iteration}, cost ${short(f.cost)}` : "running") : null,
    run.preview ? h("p", { class: "warn" }, running ? `preview on ${count(run.preview)} of ${count(state.data?.shown || 0)} points, random; all of them are under way` : `only the preview on ${count(run.preview)} of ${count(state.data?.shown || 0)} points, random`) : null,
    run.silent > 0 && running ? h("p", { class: "warn" }, `it has not computed for ${Math.round(run.silent)} seconds; Stop ends it`) : null,
    run.status === "failed" || run.status === "stopped" ? h("p", { class: "trouble" }, run.status === "stopped" ? "stopped" : run.reason) : null,
    facts.length ? h("p", null, facts.join(", ")) : null, run.stages.length ? strip(run) : null,
    run.edges && state.graph && run.edges_total > run.edges.n ? h("p", { class: "soft" }, `showing ${count(run.edges.n)} of ${count(run.edges_total)} edges, random`) : null,
    found ? h("p", { class: "soft" }, `${count(found)} new points as crosses`) : null,
    run.warnings.map((text) => h("p", { class: "warn" }, text)));
  one.figure.classList.toggle("active", run.id === state.active);
  one.figure.classList.toggle("empty", !run.picture.length);
}
async function edges(/** @type {Picture} */ one, /** @type {RunInfo} */ run) {
  one.scatter.edges = run.edges ? await numbers(run.edges).catch(() => null) : null;
  one.scatter.withEdges = state.graph;
  if (state.graph) one.scatter.soon();
}
function show() {
  const data = state.data, wanted = new Set();
  if (data?.picture.length) {
    wanted.add(DATA);
    const one = pictures.get(DATA) || made(DATA, "The data");
    paint(one.heading, h("span", null, "the data ", h("small", null, data.features <= 3 ? "as they are" : "along their principal axes")));
    paint(one.foot, h("p", null, `${count(data.shown)} points${data.shown < data.n - data.dropped ? ` of ${count(data.n)}, random` : ""}`));
    load(one, data.picture, null);
  }
  for (const run of state.runs.values()) {
    wanted.add(run.id);
    const one = pictures.get(run.id) || made(run.id, `Embedding by ${title(run)}`);
    words(one, run);
    if (run.picture.length) load(one, run.picture, run);
    edges(one, run);
    one.scatter.placed = /** @type {any[]} */ (run.placed).flatMap((p) => p.points).filter((p) => p[0] !== null);
    one.scatter.mark();
  }
  if (drawn().length > 1) { wanted.add(BETWEEN); morph(); }
  for (const [id, one] of pictures) if (!wanted.has(id)) { one.scatter.remove(); one.figure.remove(); pictures.delete(id); }
  holder.classList.toggle("none", !wanted.size);
  if (!wanted.size) paint(holder, h("div", { class: "welcome" }, h("h2", null, "From a file to a picture that can be defended"),
    h("p", null, "Load your data on the left, or take the Swiss roll or the digits. Then look at it, choose a method, and run it: pictures appear here side by side, linked with one another.")));
  else holder.querySelector(".welcome")?.remove();
}

// Between two embeddings ----------------------------------------------------------------------------------------------

/** Least-squares turn, reflection and scale of B onto A in the plane. @param {import("./scatter.js").Axis[]} A @param {import("./scatter.js").Axis[]} B */
function aligned(A, B) {
  const n = A[0].steps.length, value = (/** @type {import("./scatter.js").Axis} */ axis, /** @type {number} */ i) => axis.low + (axis.steps[i] / 65534) * (axis.high - axis.low);
  const step = Math.max(1, Math.floor(n / 50000)), m = [0, 0, 0, 0];
  let there = 0;
  const ok = (/** @type {number} */ i) => A[0].steps[i] !== 65535 && B[0].steps[i] !== 65535;
  for (let i = 0; i < n; i += step) if (ok(i)) { there++; m[0] += value(A[0], i); m[1] += value(A[1], i); m[2] += value(B[0], i); m[3] += value(B[1], i); }
  for (let k = 0; k < 4; k++) m[k] /= there;
  let xx = 0, xy = 0, yx = 0, yy = 0, norm = 0;
  for (let i = 0; i < n; i += step) {
    if (!ok(i)) continue;
    const p = value(A[0], i) - m[0], q = value(A[1], i) - m[1], u = value(B[0], i) - m[2], v = value(B[1], i) - m[3];
    xx += p * u; xy += p * v; yx += q * u; yy += q * v; norm += u * u + v * v;
  }
  // turned without a reflection: cos ~ xx + yy; with one: cos ~ xx - yy. The larger trace fits better.
  const plain = Math.hypot(xx + yy, yx - xy), flipped = Math.hypot(xx - yy, yx + xy);
  const [c, s, sign, scale] = plain >= flipped ? [(xx + yy) / plain, (yx - xy) / plain, 1, plain / norm] : [(xx - yy) / flipped, (yx + xy) / flipped, -1, flipped / norm];
  const X = new Float32Array(n), Y = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    if (!ok(i)) { X[i] = NaN; continue; }
    const u = scale * (value(B[0], i) - m[2]), v = scale * sign * (value(B[1], i) - m[3]);
    X[i] = m[0] + c * u - s * v; Y[i] = m[1] + s * u + c * v;
  }
  return [X, Y];
}
/** @type {{key: string, A: import("./scatter.js").Axis[], X: Float32Array, Y: Float32Array} | null} */ let pair = null;
async function morph() {
  const runs = drawn(), one = pictures.get(BETWEEN) || made(BETWEEN, "Between two embeddings");
  if (!state.runs.has(between.from) || !state.runs.has(between.to)) { between.from = runs[0].id; between.to = runs[runs.length - 1].id; }
  const pick = (/** @type {"from" | "to"} */ end) => h("select", { id: `between-${end}`, "aria-label": `${end} which embedding`, onchange: (/** @type {any} */ e) => { between[end] = e.target.value; morph(); } }, runs.map((run) => h("option", { value: run.id, selected: run.id === between[end] }, title(run))));
  paint(one.heading, h("span", null, "between ", pick("from"), " and ", pick("to")), h("button", { type: "button", class: "quiet", id: "between-play", onclick: play }, between.playing ? "stop" : "play"));
  paint(one.foot, h("input", { type: "range", id: "between", min: 0, max: 1, step: 0.01, value: between.share, "aria-label": "from the first embedding to the second", oninput: (/** @type {any} */ e) => { between.share = Number(e.target.value); blend(); } }),
    h("p", { class: "soft" }, "the second is turned, mirrored and scaled onto the first"));
  const [A, B] = [state.runs.get(between.from), state.runs.get(between.to)];
  if (!A || !B) return;
  const key = [...A.picture, ...B.picture].map((c) => c.hash).join();
  if (pair?.key !== key) {
    const load = (/** @type {RunInfo} */ run) => Promise.all(run.picture.slice(0, 2).map(async (c) => ({ steps: await numbers(c), low: c.low, high: c.high })));
    const [a, b] = await Promise.all([load(A), load(B)]);
    const [X, Y] = aligned(a, b);
    pair = { key, A: a, X, Y };
  }
  blend();
}
async function blend() {
  const one = pictures.get(BETWEEN);
  if (!one || !pair) return;
  const { A, X, Y } = pair, t = between.share, n = X.length;
  const axes = [[A[0], X], [A[1], Y]].map(([a, target]) => {
    const axis = /** @type {import("./scatter.js").Axis} */ (a), end = /** @type {Float32Array} */ (target), steps = new Uint16Array(n);
    let low = axis.low, high = axis.high;
    for (let i = 0; i < n; i++) { if (end[i] < low) low = end[i]; else if (end[i] > high) high = end[i]; }
    for (let i = 0; i < n; i++) {
      const from = axis.low + (axis.steps[i] / 65534) * (axis.high - axis.low), v = from + t * (end[i] - from);
      steps[i] = axis.steps[i] === 65535 || Number.isNaN(X[i]) ? 65535 : Math.round(((v - low) / (high - low)) * 65534);
    }
    return { steps, low, high };
  });
  one.scatter.setAxes(axes);
  one.scatter.colouring = await colouring(null, n);
}
function play() {
  between.playing = !between.playing;
  let way = between.share >= 1 ? -1 : 1;
  const step = () => {
    if (!between.playing || !pictures.has(BETWEEN)) return;
    between.share = Math.max(0, Math.min(1, between.share + 0.02 * way));
    if (between.share === 0 || between.share === 1) way = -way;
    /** @type {any} */ (get("between")).value = between.share;
    blend(); setTimeout(() => requestAnimationFrame(step), 30);
  };
  morph(); step();
}

// Tools ---------------------------------------------------------------------------------------------------------------

async function tools() {
  const n = howMany(state.chosen), runs = drawn(), asks = active()?.invertible;
  const radios = TOOLS.map(([tool, name, what]) => h("label", { title: what, class: "tool" }, h("input", { type: "radio", name: "tool", id: `tool-${tool}`, value: tool, checked: state.tool === tool, disabled: (tool === "ask" || tool === "path") && !asks, onchange: () => { state.tool = tool; changed("tool"); } }), name));
  const solid = runs.some((run) => run.picture.length > 2) || (state.data?.picture.length || 0) > 2;
  const by = h("select", { id: "colour", onchange: (/** @type {any} */ e) => colourBy(e.target.value) }, choices().map(([heading, list]) => {
    const options = list.map(([key, name]) => h("option", { value: key, selected: key === state.colour }, name));
    return heading ? h("optgroup", { label: heading }, options) : options;
  }));
  const scale = await legend(choose);
  if (!state.data) { paint(get("tools")); return; }
  paint(get("tools"), h("div", { class: "row" }, h("label", null, "colour", by), h("fieldset", { class: "tools" }, h("legend", null, "tool"), radios),
    runs.some((run) => run.edges) ? h("label", { class: "check" }, h("input", { type: "checkbox", id: "graph", checked: state.graph, onchange: (/** @type {any} */ e) => { state.graph = e.target.checked; show(); for (const one of pictures.values()) { one.scatter.withEdges = state.graph; one.scatter.soon(); } } }), "graph") : null,
    solid ? h("label", { class: "check" }, h("input", { type: "checkbox", id: "solid", checked: state.solid, onchange: (/** @type {any} */ e) => { state.solid = e.target.checked; if (state.solid) state.tool = "move"; for (const one of pictures.values()) { one.scatter.solid = state.solid && one.scatter.axes.length > 2; one.scatter.soon(); } changed("tool"); } }), "3-D") : null,
    h("button", { type: "button", class: "quiet", id: "whole", onclick: () => { for (const one of pictures.values()) one.scatter.reset(); } }, "whole picture"),
    n ? [h("span", { role: "status", id: "chosen" }, `${count(n)} of ${count(state.data.shown)} chosen`), h("button", { type: "button", id: "free", onclick: () => choose(null) }, "let go")] : null),
    h("div", { id: "scale" }, scale));
}
async function recolour() {
  await Promise.all([...pictures.values()].map(async (one) => { one.scatter.colouring = await colouring(state.runs.get(one.id) || null, one.scatter.n); one.scatter.soon(); }));
}
/** Points that the picture pushes together (low trust) and tears apart (low continuity), marked by rings. */
async function marks() {
  for (const run of drawn()) {
    const one = pictures.get(run.id);
    if (!one) continue;
    const rings = [];
    for (const [wanted, name, color] of /** @type {[boolean, string, string][]} */ ([[state.pushed, "trust", "#D55E00"], [state.torn, "continuity", "#CC79A7"]])) {
      const column = run.colours[name];
      if (wanted && column) rings.push({ rows: worst(await numbers(column), column), color });
    }
    one.scatter.rings = rings; one.scatter.mark();
  }
}
/** The worst twentieth of those below 0.95. @param {Uint16Array} steps @param {import("./protocol.js").Column} column */
export function worst(steps, column) {
  const found = [];
  for (let i = 0; i < steps.length; i++) if (steps[i] !== 65535 && column.low + (steps[i] / 65534) * (column.high - column.low) < 0.95) found.push(i);
  return found.sort((a, b) => steps[a] - steps[b]).slice(0, Math.min(2000, Math.ceil(steps.length / 20)));
}
let of = "";
on("data", () => {
  if (state.data?.id !== of) { of = state.data?.id || ""; state.chosen = null; state.pointed = state.held = -1; state.colour = usual(); state.asked = null; for (const one of pictures.values()) { one.scatter.chosen = null; one.scatter.pointed = -1; } }
  show(); tools(); recolour();
});
on("runs", () => { show(); tools(); marks(); if (/^(own|run):/.test(state.colour)) recolour(); });
on("active", () => { for (const run of state.runs.values()) pictures.get(run.id)?.figure.classList.toggle("active", run.id === state.active); tools(); });
on("colour", () => { tools(); recolour(); });
on("chosen", tools);
on("marks", marks);
on("tool", () => { for (const one of pictures.values()) { one.scatter.tool = state.tool; one.scatter.route = []; one.scatter.fingers = true; one.scatter.mark(); } tools(); });
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && (state.chosen || state.pointed >= 0)) { point(-1); choose(null); } });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
export function redraw() { for (const one of pictures.values()) one.scatter.soon(); }
