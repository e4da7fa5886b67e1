// Whether to believe a picture: measures, curves, stability, points that it tears apart or pushes together.
import { COLORS, chart } from "./chart.js";
import { count, get, h, paint, short } from "./dom.js";
import { send } from "./link.js";
import { active, changed, drawn, on, state, title } from "./state.js";
import { attempt } from "./told.js";

const holder = get("trust");
const FIRST = ["r_nx_area", "trustworthiness", "continuity", "spearman", "stress", "local_isometry", "class_separation", "misclassification"];

function table() {
  const runs = drawn().filter((run) => run.measured?.values), names = FIRST.filter((name) => runs.some((run) => run.measured?.values.some((/** @type {any} */ m) => m.name === name)));
  if (!runs.length) return null;
  const of = (/** @type {any} */ run, /** @type {string} */ name) => run.measured.values.find((/** @type {any} */ m) => m.name === name);
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "quality of every picture" }, h("table", { class: "numbers quality" },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, ""), runs.map((run) => h("th", { scope: "col", class: run.id === state.active ? "on" : "" }, title(run))))),
    h("tbody", null, names.map((name) => {
      const some = of(runs.find((run) => of(run, name)), name), best = (some.larger ? Math.max : Math.min)(...runs.map((run) => of(run, name)?.value ?? (some.larger ? -Infinity : Infinity)));
      return h("tr", null, h("th", { scope: "row", title: `${some.meaning}; ${some.larger ? "larger" : "smaller"} is better` }, some.title), runs.map((run) => { const m = of(run, name); return h("td", { class: m && m.value === best && runs.length > 1 ? "best" : "" }, m ? short(m.value, 3) : "-"); }));
    }))));
}
function show() {
  const run = active(), data = state.data;
  if (!run || run.status !== "done") { paint(holder, h("p", { class: "soft" }, "Run a method; its picture is measured as soon as it is there.")); return; }
  if (!run.measured || run.measured.failed) { paint(holder, run.measured ? h("p", { class: "trouble" }, run.measured.failed) : h("p", { class: "working" }, `measuring ${title(run)}`)); return; }
  const m = run.measured, runs = drawn().filter((one) => one.measured?.sizes), working = state.busy.includes(`stability ${run.id}`);
  paint(holder,
    h("h2", null, "Quality"), table(), h("p", { class: "soft" }, `Measured ${m.points < (data?.shown || 0) ? `from ${count(m.points)} of ${count(data?.shown || 0)} points, drawn at random, each against all others` : "on all points"}, ${m.n_neighbors} neighbours.`),
    h("h2", null, "Neighbours kept"), chart(runs.map((one, k) => ({ name: title(one), x: one.measured?.sizes, y: one.measured?.r_nx, color: COLORS[k % COLORS.length] })), { title: "share of neighbours kept beyond chance, over the size of the neighbourhood", x: "size of the neighbourhood", y: "R_NX", xlog: true, range: [0, 1] }),
    h("ul", { class: "key" }, runs.map((one, k) => { const dot = h("i"); dot.style.background = COLORS[k % COLORS.length]; return h("li", null, dot, title(one)); })),
    h("p", { class: "soft" }, "High on the left: near points are kept. High on the right: the large shape is."),
    h("h2", null, "Shepard diagram"), chart([{ name: title(run), x: m.shepard.data, y: m.shepard.picture, color: COLORS[0] }], { title: "distances of random pairs, in the data and in the picture", x: "distance in the data", y: "in the picture", dots: true }),
    h("h2", null, "Marked points"),
    h("label", { class: "check" }, h("input", { type: "checkbox", id: "pushed", checked: state.pushed, onchange: (/** @type {any} */ e) => { state.pushed = e.target.checked; changed("marks"); } }), h("span", null, h("b", { class: "ring pushed" }, "○"), " pushed together: neighbours in the picture that are none in the data")),
    h("label", { class: "check" }, h("input", { type: "checkbox", id: "torn", checked: state.torn, onchange: (/** @type {any} */ e) => { state.torn = e.target.checked; changed("marks"); } }), h("span", null, h("b", { class: "ring torn" }, "○"), " torn apart: neighbours in the data that are none in the picture")),
    h("p", null, h("button", { type: "button", id: "map", onclick: () => { state.colour = "own:trust"; changed("colour"); } }, "Colour by trust")),
    h("h2", null, "The same picture again?"),
    run.stability ? [h("p", null, "How far a point moves, in units of the picture's radius; 0 is the same picture, about 1 has nothing in common:"),
      h("table", { class: "numbers" }, h("tbody", null, h("tr", null, h("th", { scope: "row" }, `over ${run.stability.n_parts} random parts of the data`), h("td", null, short(run.stability.parts, 2))),
        h("tr", null, h("th", { scope: "row" }, `over ${run.stability.n_seeds} seeds`), h("td", null, run.stability.seeds === null ? "it draws none" : short(run.stability.seeds, 2)))))] : null,
    working ? h("p", { class: "working" }, "fitting again ", h("button", { type: "button", id: "stop-stability", onclick: () => send("stop", { what: `stability ${run.id}` }) }, "Stop"))
      : h("p", null, h("button", { type: "button", id: "stability", onclick: () => attempt(() => send("stability", { run: run.id })) }, run.stability ? "Ask again" : "Fit parts of the data and other seeds")),
    Object.keys(m.missing).length ? h("details", { id: "unmeasured" }, h("summary", null, "not measured"), h("ul", null, Object.entries(m.missing).map(([name, why]) => h("li", null, `${name}: ${why}`)))) : null);
}
on(["runs", "active", "data", "busy"], show);
