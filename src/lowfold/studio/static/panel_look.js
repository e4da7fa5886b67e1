// Step 2: what the data look like, before any method.
import { chart } from "./chart.js";
import { count, get, h, paint, short } from "./dom.js";
import { send } from "./link.js";
import { on, state } from "./state.js";
import { attempt } from "./told.js";

const holder = get("look");
let shown = "correlation";
/** @type {{[name: string]: string}} */
const WORDS = {
  linear_exact: "hyperplane, exact", linear_energy: "hyperplane, 95% of the variance", linear_gap: "hyperplane, largest gap", local_pca: "local principal axes", correlation: "correlation", capacity_packing: "capacity, packing",
  capacity_covering: "capacity, covering", capacity_box: "capacity, boxes", multiscale_svd: "multiscale SVD", mle: "maximum likelihood", two_nn: "two nearest neighbours", residual_elbow: "Isomap's elbow", mvu_spectrum: "unfolded spectrum",
};

function dimension() {
  const all = state.look?.dimension || [];
  if (!all.length) return null;
  const told = all.filter((/** @type {any} */ e) => e.value !== null && !e.reason && !e.bound).map((/** @type {any} */ e) => e.value).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
  const median = told.length ? (told[Math.floor((told.length - 1) / 2)] + told[Math.ceil((told.length - 1) / 2)]) / 2 : null;
  const one = all.find((/** @type {any} */ e) => e.name === shown) || all[0];
  return [
    h("h2", null, "Intrinsic dimension"),
    h("p", null, median === null ? "No estimator can tell yet." : ["The median of ", h("b", null, `${told.length} estimators is ${short(median, 2)}`), "."]),
    h("table", { class: "numbers" }, h("tbody", null, all.map((/** @type {any} */ e) => h("tr", { class: e.name === one.name ? "on" : "" },
      h("th", { scope: "row" }, h("button", { type: "button", id: `dim-${e.name}`, class: "link", "aria-pressed": String(e.name === one.name), onclick: () => { shown = e.name; show(); } }, WORDS[e.name] || e.name)),
      h("td", null, e.value === null ? "cannot tell" : `${e.bound ? "at most " : ""}${short(e.value, 3)}`, e.reason ? h("small", { class: "warn", title: e.reason }, " doubtful") : null))))),
    one.curve ? chart([{ name: one.name, x: one.scales, y: one.curve }], { title: `${WORDS[one.name] || one.name}: ${one.axes[1]} over ${one.axes[0]}`, x: one.axes[0], y: one.axes[1], xlog: one.log, ylog: one.log, between: one.used }) : null,
    h("p", { class: "soft" }, one.reason || one.note || (one.used ? "The shaded part is what the value rests on." : "")),
  ];
}
function findings() {
  const found = state.look?.diagnosis;
  if (!found) return null;
  const by = (/** @type {any[]} */ rules) => { /** @type {Map<string, string[]>} */ const m = new Map(); for (const r of rules) m.set(r.reason, [...(m.get(r.reason) || []), r.method]); return [...m]; };
  return [
    h("h2", null, "What they look like"),
    h("p", { class: "soft" }, `${found.n_neighbors} neighbours; dimension ${found.n_components}. ${found.n_used < found.n_points ? `A random sample of ${count(found.n_used)} points was looked at.` : ""}`),
    found.findings.map((/** @type {any} */ one) => h("article", { class: "finding" },
      h("h3", null, `${one.name}: `, h("span", { class: `verdict ${one.verdict.replace(" ", "-")}` }, one.verdict)), h("p", null, one.saw),
      by(one.rules_in).map(([reason, names]) => h("p", { class: "for" }, `for ${names.join(", ")}: ${reason}`)),
      by(one.rules_out).map(([reason, names]) => h("p", { class: "against" }, `against ${names.join(", ")}: ${reason}`)),
      one.advice ? h("p", { class: "soft" }, one.advice) : null)),
  ];
}
function show() {
  const working = state.busy.includes("look");
  paint(holder,
    !state.data ? h("p", { class: "soft" }, "Load data first.") : null,
    working ? h("p", { class: "working", role: "status" }, "looking ", h("button", { type: "button", id: "stop-look", onclick: () => send("stop", { what: "look" }) }, "Stop")) : null,
    state.data && !working && !state.look?.done ? [h("p", null, "How many dimensions do the data really have? Are they one piece, flat, closed, noisy, sampled densely enough? Every question is answered with its figures."),
      h("p", null, h("button", { type: "button", class: "strong", id: "look-now", onclick: () => attempt(() => send("look")) }, "Look at the data"))] : null,
    dimension(), findings(),
    state.data ? h("p", null, h("button", { type: "button", id: "to-method", onclick: () => get("tab-method").click() }, "Next: choose a method")) : null);
}
on(["data", "look", "busy"], show);
