// Step 3: choose a method, set its parameters, run it.
import { chart } from "./chart.js";
import { bytes, calm, get, h, paint, short } from "./dom.js";
import { send } from "./link.js";
import { changed, on, state } from "./state.js";
import { attempt } from "./told.js";
import { view } from "./views.js";

/** @typedef {import("./protocol.js").Control} Control */
/** @typedef {import("./protocol.js").MethodInfo} MethodInfo */

const holder = get("method");
let chosen = "", filter = "";
/** @type {{[method: string]: {[name: string]: any}}} */ const values = {}; // what was set by hand, per method
/** @type {{[method: string]: any}} */ let plans = {};
/** @type {{[method: string]: any}} */ let tuned = {};
const FAMILIES = ["spectral", "MDS", "linear", "kernel", "semidefinite", "neighbour embedding", "clustering"];
const FIRST = "Isomap";

/** Where the documentation speaks of what only Python can give. @type {{[name: string]: string}} */
const SAID = { metric: "How far apart two rows are.", n_components: "Number of coordinates of the picture." };
/** The first sentence, or its first half. @param {string} text */
const brief = (text) => `${text.split(/(?<=\.) |; |: (?=[a-z])/)[0].replace(/[.;:,]+$/, "").replaceAll("`", "")}.`;

/** Reasons of the diagnosis for and against a method. @param {string} name */
function reasons(name) {
  /** @type {{for: string[], against: string[]}} */ const found = { for: [], against: [] };
  for (const one of state.look?.diagnosis?.findings || []) {
    for (const rule of one.rules_in) if (rule.method === name) found.for.push(`${one.name}: ${rule.reason}`);
    for (const rule of one.rules_out) if (rule.method === name) found.against.push(`${one.name}: ${rule.reason}`);
  }
  return found;
}
const params = () => values[chosen] || {};
const replan = calm(async () => {
  const method = chosen, given = { ...params() };
  if (!state.data || !method) return;
  try { plans[method] = await send("plan", { method, params: given }); } catch (error) {
    const words = error instanceof Error ? error.message : "";
    if (words === "stopped") return;
    plans[method] = { refused: words };
  }
  if (method === chosen && document.getElementById("need")) paint(get("need"), need(method));
}, 250);

/** @param {string} name */
function choose(name) {
  chosen = chosen === name ? "" : name;
  if (chosen && state.data && !plans[chosen]) replan();
  show();
  if (chosen) get(`card-${chosen}`)?.scrollIntoView({ block: "nearest" });
}
/** @param {string} name @param {any} value @param {any} usual */
function set(name, value, usual) {
  const all = (values[chosen] ||= {});
  if (value === usual || value === undefined) delete all[name]; else all[name] = value;
  replan();
}
/** The text of a control as a value. @param {Control} one @param {string} text */
function parsed(one, text) {
  const words = text.trim();
  if (words === "") return one.none !== null ? null : one.default;
  if (one.kind === "text" && one.options.includes(words)) return words;
  const number = Number(words);
  return Number.isNaN(number) ? words : number;
}
/** @param {Control} one */
function control(one) {
  const id = `param-${one.name}`, value = one.name in params() ? params()[one.name] : one.default, off = one.name in params();
  const again = (/** @type {any} */ v) => { set(one.name, v, one.default); show(); };
  let field;
  if (one.kind === "flag") field = h("input", { type: "checkbox", id, checked: value, onchange: (/** @type {any} */ e) => again(e.target.checked) });
  else if (one.kind === "choice") {
    const options = one.options.filter((name) => !name.startsWith("precomputed"));
    field = h("select", { id, onchange: (/** @type {any} */ e) => again(e.target.value === "" ? null : e.target.value) }, one.none !== null ? h("option", { value: "", selected: value === null }, one.none) : null, options.map((name) => h("option", { value: name, selected: value === name }, name)));
  } else {
    const type = one.kind === "text" ? "text" : "number";
    field = h("input", { type, id, value: value === null ? "" : value, placeholder: one.none && one.none.length > 10 ? "auto" : one.none || "", min: one.low ?? undefined, max: one.high ?? undefined, step: one.kind === "int" ? 1 : "any", list: one.kind === "text" ? `${id}-list` : undefined,
      oninput: (/** @type {any} */ e) => set(one.name, parsed(one, e.target.value), one.default), onchange: () => show() });
    if (one.kind === "text") field = [field, h("datalist", { id: `${id}-list` }, one.options.map((name) => h("option", { value: name })))];
    else if (one.name === "n_neighbors") {
      const n = state.data?.shown || 100;
      field = [field, h("input", { type: "range", id: `${id}-slide`, "aria-label": "neighbours, as a slider", min: 2, max: Math.min(n - 1, 60), value: value ?? 10, oninput: (/** @type {any} */ e) => { set(one.name, Number(e.target.value), one.default); /** @type {any} */ (get(id)).value = e.target.value; }, onchange: () => show() })];
    }
  }
  const sentence = one.sentence || one.allowed, first = SAID[one.name] || brief(sentence);
  return h("div", { class: `param${off ? " set" : ""}` },
    h("label", { for: id }, one.name), h("span", { class: "field" }, field, one.tuned ? h("button", { type: "button", id: `${id}-tune`, disabled: !state.data || state.busy.includes("tune"), title: `fit parts of the data and choose ${one.name} by what the pictures are worth`, onclick: () => tune([one.name]) }, "tune") : null),
    h("p", { class: "soft", title: `${sentence} Allowed: ${one.allowed}.` }, first, one.none !== null && one.kind !== "choice" ? ` Empty: ${one.none}.` : ""),
    curves(one.name),
    off ? h("button", { type: "button", class: "link", id: `${id}-usual`, onclick: () => again(one.default) }, `back to ${one.default === null ? one.none : one.default}`) : null);
}
/** @param {string} method */
function need(method) {
  const plan = plans[method];
  if (!plan) return h("p", { class: "soft" }, state.data ? "counting what it needs" : "");
  if (plan.refused) return h("p", { class: "against" }, plan.refused);
  return h("details", { id: "plan" }, h("summary", null, plan.fits ? `needs about ${bytes(plan.total)}` : h("span", { class: "against" }, `needs ${bytes(plan.total)}, more than there is`)),
    plan.fits ? null : h("p", { class: "against" }, plan.way_out),
    h("table", { class: "numbers" }, h("tbody", null, plan.stages.map((/** @type {any} */ s) => h("tr", null, h("th", { scope: "row" }, s.name), h("td", null, s.what), h("td", null, bytes(s.bytes)))))));
}
/** @param {MethodInfo} method */
function form(method) {
  const usual = method.controls.filter((one) => !one.more), more = method.controls.filter((one) => one.more), can = method.controls.filter((one) => one.tuned);
  const choice = tuned[method.name], working = state.busy.includes("tune");
  const run = (/** @type {Event} */ e) => { e.preventDefault(); start(); };
  return h("form", { class: "form", onsubmit: run },
    !method.controls.length ? h("p", { class: "working" }, "loading its parameters") : null,
    h("p", { class: "row run" }, h("button", { class: "strong", id: "run", disabled: !state.data || !!method.unusable }, "Run"),
      can.length ? working ? h("button", { type: "button", id: "stop-tune", onclick: () => send("stop", { what: "tune" }) }, "Stop tuning") :
        h("button", { type: "button", id: "tune", disabled: !state.data, title: `chooses ${can.map((one) => one.name).join(", ")}`, onclick: () => tune(can.map((one) => one.name)) }, can.length > 1 ? "Tune them all" : `Tune ${can[0].name}`) : null),
    choice ? chosenBy(choice) : null, h("div", { id: "need" }, need(method.name)), usual.map(control),
    more.length ? h("details", { id: "more" }, h("summary", null, "more parameters"), more.map(control)) : null,
    h("p", { class: "soft" }, method.citation));
}
/** The curve on which `tune` decided, under its parameter; candidates that were not eligible are named. @param {string} name */
function curves(name) {
  const one = tuned[chosen]?.curves.find((/** @type {any} */ c) => c.parameter === name);
  if (!one) return null;
  const at = one.values.indexOf(one.chosen), out = Object.entries(one.refused), spread = one.values.length > 1 && one.values[0] > 0 && one.values[one.values.length - 1] / one.values[0] > 20;
  return h("div", { class: "tuned" },
    chart([{ name, x: one.values, y: one.scores }], { title: `${one.measure} over ${name}; chosen ${short(one.chosen)}`, x: name, y: "worth", xlog: spread, mark: at >= 0 && one.scores[at] !== null ? [one.chosen, one.scores[at]] : undefined }),
    h("p", { class: "soft" }, `${one.measure}; chosen `, h("b", null, short(one.chosen)), "."),
    out.length ? h("p", { class: "soft" }, out.map(([value, why]) => `${short(Number(value))}: ${why}`).slice(0, 3).join("; "), out.length > 3 ? `; and ${out.length - 3} more` : "") : null);
}
/** @param {any} found what `tune` says */
function chosenBy(found) {
  const words = Object.entries(found.params).map(([name, value]) => `${name} ${typeof value === "number" ? short(value) : value}`);
  return h("div", { class: "tuned" }, h("p", null, words.length ? [h("b", null, "Tuned: "), words.join(", "), "; the curves stand below."] : "Nothing was changed."),
    h("details", { id: "why" }, h("summary", null, "why"), h("ul", null, found.reasons.map((/** @type {string} */ text) => h("li", null, text)))));
}
/** @param {string[]} names */
async function tune(names) {
  const method = chosen;
  const found = await attempt(() => send("tune", { method, params: params(), names }));
  if (!found) return;
  tuned[method] = { ...found, curves: [...(tuned[method]?.curves || []).filter((/** @type {any} */ c) => !found.curves.some((/** @type {any} */ d) => d.parameter === c.parameter)), ...found.curves] };
  values[method] = { ...values[method], ...found.params };
  replan(); show();
}
export function start() {
  const method = chosen, given = { ...params() };
  if (!state.data || !method) return;
  return attempt(async () => { const { run } = await send("start", { method, params: given }); state.active = run; changed("active"); if (matchMedia("(max-width: 56rem)").matches) view("centre"); });
}
/** @param {MethodInfo} method */
function card(method) {
  const on = method.name === chosen, why = reasons(method.name), plan = plans[method.name];
  return h("li", { class: `card${on ? " on" : ""}${method.unusable ? " off" : ""}`, id: `card-${method.name}` },
    h("button", { type: "button", id: `pick-${method.name}`, class: "pick", "aria-expanded": String(on), disabled: !!method.unusable, onclick: () => choose(method.name) },
      h("b", null, method.name), h("span", null, method.line), plan && !plan.refused && !on ? h("small", { class: plan.fits ? "" : "against" }, bytes(plan.total)) : null),
    method.unusable ? h("p", { class: "soft" }, method.unusable) : null,
    why.for.length ? h("p", { class: "for" }, `for it: ${why.for[0]}`) : null,
    (on ? why.against : why.against.slice(0, 1)).map((words) => h("p", { class: "against" }, `against it: ${words}`)),
    on ? form(method) : null);
}
function show() {
  const found = state.methods.filter((one) => `${one.name} ${one.line} ${one.family}`.toLowerCase().includes(filter.toLowerCase()));
  paint(holder,
    !state.data ? h("p", { class: "soft" }, "Load data first; then a method can run on it.") : null,
    h("label", { class: "find" }, "find a method", h("input", { type: "search", id: "find-method", value: filter, placeholder: "name, or what it preserves", oninput: (/** @type {any} */ e) => { filter = e.target.value; show(); } })),
    FAMILIES.map((family) => { const cards = found.filter((one) => one.family === family); return cards.length ? [h("h2", null, family), h("ul", { class: "cards" }, cards.map(card))] : null; }),
    found.length ? null : h("p", { class: "soft" }, "No method is called that."));
}
/** Up to so many points the cards of all methods say what each would need; beyond that a plan takes its time. */
const PLANNED = 5000;
let planning = "";
async function planAll() {
  const data = state.data;
  if (!data || data.shown > PLANNED || planning === data.id || !state.methods.some((one) => one.controls.length)) return;
  planning = data.id;
  for (const method of state.methods) {
    if (state.data?.id !== planning) return;
    if (plans[method.name] || method.unusable) continue;
    try { plans[method.name] = await send("plan", { method: method.name, params: values[method.name] || {} }); } catch (error) { plans[method.name] = { refused: error instanceof Error ? error.message : "" }; }
    show();
  }
}
get("tab-method").addEventListener("click", planAll);
on("methods", () => { if (!chosen && state.methods.some((one) => one.name === FIRST)) chosen = FIRST; show(); if (state.data && state.methods.some((one) => one.controls.length)) replan(); });
on("data", () => { plans = {}; tuned = {}; show(); replan(); });
on("look", show);
let choosing = false;
on("busy", () => { if (choosing !== state.busy.includes("tune")) { choosing = !choosing; show(); } });
