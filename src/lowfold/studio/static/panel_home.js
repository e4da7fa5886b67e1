// Take it home: files, and the words that do it again.
import { bytes, count, get, h, paint } from "./dom.js";
import { send } from "./link.js";
import { pictures } from "./pictures.js";
import { svg } from "./svg.js";
import { active, howMany, on, state, title } from "./state.js";
import { attempt, tell } from "./told.js";

const holder = get("home");
/** @type {{run: string, python: string, command: string} | null} */ let recipe = null;

/** @param {string} address @param {string} name */
function save(address, name) { const link = h("a", { href: address, download: name }); document.body.append(link); link.click(); link.remove(); }
/** @param {string} what @param {boolean} [chosen] */
function take(what, chosen = false) {
  /** @type {number[]} */ const rows = []; if (chosen && state.chosen) for (let i = 0; i < state.chosen.length; i++) if (state.chosen[i]) rows.push(i);
  return attempt(async () => { const found = await send("export", { what, run: state.active, rows }); save(found.address, found.name); tell(`${found.name}, ${bytes(found.bytes)}`, true); });
}
/** @param {"png" | "svg"} kind */
async function picture(kind) {
  const run = active(), one = run && pictures.get(run.id);
  if (!run || !one) return;
  const blob = kind === "png" ? await one.scatter.png() : new Blob([svg(one.scatter)], { type: "image/svg+xml" });
  if (!blob) return;
  const address = URL.createObjectURL(blob);
  save(address, `${state.data?.name.replace(/\.\w+$/, "") || "picture"}-${run.method}.${kind}`);
  setTimeout(() => URL.revokeObjectURL(address), 5000);
}
/** @param {string} text */
async function copy(text) { await navigator.clipboard.writeText(text).then(() => tell("copied", true), () => tell("the browser does not let this page copy; select the text instead")); }
/** @param {string} id @param {string} words @param {() => any} work @param {boolean} [can] */
const button = (id, words, work, can = true) => h("button", { type: "button", id, disabled: !can, onclick: work }, words);

function show() {
  const run = active(), done = run?.status === "done", n = howMany(state.chosen), any = [...state.runs.values()].some((one) => one.status === "done");
  if (!state.data) { paint(holder, h("p", { class: "soft" }, "Nothing to take home yet.")); return; }
  paint(holder,
    h("h2", null, done && run ? `Of ${title(run)}` : "Of a run"),
    h("p", { class: "buttons" }, button("take-csv", "coordinates, CSV", () => take("csv"), done), button("take-parquet", "coordinates, Parquet", () => take("parquet"), done), button("take-model", "model, .lowfold", () => take("model"), done), button("take-png", "picture, PNG", () => picture("png"), done), button("take-svg", "picture, SVG", () => picture("svg"), done)),
    h("h2", null, "Of the session"),
    h("p", { class: "buttons" }, button("take-rows", n ? `the ${count(n)} chosen rows, CSV` : "chosen rows, CSV", () => take("rows", true), n > 0), button("take-report", "report of all runs, HTML", () => take("report"), any), button("take-session", "the session, .studio", () => take("session"))),
    h("p", { class: "soft" }, "The report opens without a network. A session opens again with `lowfold studio FILE.studio`, or by dropping it here."),
    recipe && recipe.run === run?.id ? [h("h2", null, "Do it again"),
      h("p", { class: "row" }, h("b", null, "Python"), button("copy-python", "copy as Python", () => copy(recipe?.python || ""))), h("pre", { tabindex: 0 }, recipe.python),
      h("p", { class: "row" }, h("b", null, "Command"), button("copy-command", "copy as command", () => copy(recipe?.command || ""))), h("pre", { tabindex: 0 }, recipe.command)] : null);
}
async function update() {
  const run = active();
  if (run?.status === "done" && recipe?.run !== run.id) { const found = await attempt(() => send("recipe", { run: run.id })); if (found) recipe = { run: run.id, ...found }; }
  show();
}
on(["runs", "active", "data"], update);
on("chosen", show);
