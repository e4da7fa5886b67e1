// The page begins: tabs, theme, and the events of the server.
import { count, get } from "./dom.js";
import { connect } from "./link.js";
import { changed, state } from "./state.js";
import { tell } from "./told.js";
import { view } from "./views.js";
import "./panel_data.js";
import "./panel_look.js";
import "./panel_method.js";
import { redraw } from "./pictures.js";
import "./panel_point.js";
import "./panel_trust.js";
import "./panel_home.js";

/** @param {import("./protocol.js").AnyEvent} event */
function hear(event) {
  switch (event.say) {
    case "hello":
      Object.assign(state, { data: event.data, look: event.look, methods: event.methods, sets: event.sets, budget: event.budget, busy: event.busy, version: event.version, runs: new Map(event.runs.map((run) => [run.id, run])) });
      if (!state.runs.has(state.active)) state.active = event.runs[0]?.id || "";
      changed("data", "look", "methods", "runs", "busy", "active", "tool"); what();
      document.documentElement.dataset.ready = "yes";
      break;
    case "methods": state.methods = event.methods; changed("methods"); break;
    case "data": state.data = event.data; state.active = ""; changed("data", "look", "active"); what(); break;
    case "looked": state.look = event.look; changed("look"); break;
    case "ran":
      state.runs.set(event.run.id, event.run);
      if (!state.active) { state.active = event.run.id; changed("active"); }
      changed("runs"); break;
    case "gone": {
      state.runs.delete(event.run);
      if (state.active === event.run) { state.active = [...state.runs.keys()].pop() || ""; changed("active"); }
      if (state.colour.startsWith(`run:${event.run}:`)) state.colour = "";
      changed("runs"); break;
    }
    case "busy": state.busy = event.busy; changed("busy"); busy(); break;
    case "refused": tell(event.words); break;
  }
}
function what() {
  const data = state.data;
  get("what").textContent = data ? `${data.name}: ${count(data.shown)} × ${count(data.features)}` : "no data yet";
  document.title = data ? `${data.name} - lowfold studio` : "lowfold studio";
}
/** @type {{[name: string]: string}} */ const DOING = { data: "reading", look: "looking", tune: "choosing parameters", export: "writing a file", methods: "loading the methods", place: "placing new rows" };
function busy() {
  const words = state.busy.map((name) => DOING[name] || (name.startsWith("stability") ? "fitting again" : "")).filter(Boolean);
  get("busy").textContent = words.join(", ");
}
for (const list of document.querySelectorAll('[role="tablist"]')) {
  const tabs = /** @type {HTMLElement[]} */ ([...list.querySelectorAll('[role="tab"]')]);
  const choose = (/** @type {HTMLElement} */ tab, /** @type {boolean} */ focus) => {
    for (const one of tabs) { const on = one === tab; one.setAttribute("aria-selected", String(on)); one.tabIndex = on ? 0 : -1; get(one.dataset.panel || "").hidden = !on; one.setAttribute("aria-controls", one.dataset.panel || ""); }
    if (focus) tab.focus();
  };
  for (const tab of tabs) {
    tab.addEventListener("click", () => choose(tab, false));
    tab.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (step) { event.preventDefault(); choose(tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length], true); }
    });
  }
  choose(tabs[0], false);
}
view("left");
for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#views button"))) button.addEventListener("click", () => view(button.dataset.view || "left"));
get("theme").addEventListener("click", () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  redraw();
});
connect(hear, (there) => {
  document.documentElement.dataset.link = there ? "yes" : "no";
  if (!there) { get("what").textContent = "the studio has been closed"; document.documentElement.dataset.ready = "no"; }
});

