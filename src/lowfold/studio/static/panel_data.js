// Step 1: load data, and say what the columns are for.
import { bytes, count, get, h, paint } from "./dom.js";
import { send, upload } from "./link.js";
import { changed, on, state } from "./state.js";
import { attempt, tell } from "./told.js";

const holder = get("data");
/** @type {{[name: string]: string}} */ let roles = {};
let of = "", missing = "keep", matrix = false, alike = "none", filter = "", names = /** @type {boolean | null} */ (null);
/** @type {[string, string][]} */ const GAPS = [["keep", "stay (most methods refuse them)"], ["drop", "leave their rows out"], ["mean", "fill in the mean of the column"]];
/** @type {[string, string][]} */ const ALIKE = [["none", "as they are"], ["unit", "less the mean, over the standard deviation"], ["robust", "less the median, over the quartiles"]];
const wish = { name: "swiss_roll", n: 1000, noise: 0, seed: 0 };
const ROLES = [["data", "data"], ["label", "label"], ["colour", "colour"], ["ignored", "ignored"]];

/** @param {FileList | File[] | null} list @param {boolean} folder */
export async function read(list, folder = false) {
  const files = [...(list || [])].filter((file) => !file.name.startsWith("."));
  if (!files.length) return;
  const named = files.map((file) => ({ file, name: folder || files.length > 1 ? /** @type {any} */ (file).path || file.webkitRelativePath || file.name : file.name }));
  await attempt(async () => {
    const what = files.length > 1 ? `${count(files.length)} files` : files[0].name;
    const batch = await upload(named, (share) => tell(`sending ${what}, ${Math.round(100 * share)}%`, true));
    tell("", true);
    await send("take", { batch });
  });
}

function start() {
  const open = (/** @type {{[name: string]: any}} */ props) => h("input", { type: "file", class: "hidden", onchange: (/** @type {any} */ e) => read(e.target.files, !!props.webkitdirectory), ...props });
  const file = open({ id: "file", multiple: true, "aria-label": "Open a file" }), folder = open({ id: "folder", webkitdirectory: true, "aria-label": "Open a folder" });
  const number = (/** @type {"n" | "noise" | "seed"} */ key, /** @type {string} */ label, /** @type {any} */ props) =>
    h("label", null, label, h("input", { type: "number", id: `set-${key}`, value: wish[key], oninput: (/** @type {any} */ e) => { wish[key] = Number(e.target.value); }, ...props }));
  return [
    h("h2", null, "Your data"),
    h("p", { class: "soft" }, "A table (csv, tsv, parquet), an array (npy, npz, mat, idx), a cube (hdr with its data file), a folder of images or texts, or a saved session. Drop it anywhere, or:"),
    h("p", { class: "row" },
      h("button", { type: "button", class: "strong", id: "open-file", onclick: () => file.click() }, "Open a file"),
      h("button", { type: "button", id: "open-folder", onclick: () => folder.click() }, "Open a folder"), file, folder),
    h("h2", null, "Or a built-in set"),
    h("form", { class: "row", onsubmit: (/** @type {Event} */ e) => { e.preventDefault(); attempt(() => send("open", wish)); } },
      h("label", { class: "wide" }, "set", h("select", { id: "set", onchange: (/** @type {any} */ e) => { wish.name = e.target.value; show(); } },
        state.sets.map((one) => h("option", { value: one.name, selected: one.name === wish.name }, one.name.replaceAll("_", " "))))),
      h("p", { class: "soft wide" }, state.sets.find((one) => one.name === wish.name)?.line),
      wish.name === "digits" ? null : [number("n", "points", { min: 3, max: 2000000, step: 1 }), number("noise", "noise", { min: 0, step: "any" }), number("seed", "seed", { min: 0, step: 1 })],
      h("button", { class: "strong", id: "make" }, "Take it")),
  ];
}

/** @param {string} id @param {[string, string][]} list @param {string} now @param {(value: string) => void} take */
const pick = (id, list, now, take) => h("select", { id, onchange: (/** @type {any} */ e) => { take(e.target.value); show(); } }, list.map(([value, words]) => h("option", { value, selected: value === now }, words)));

function table() {
  const data = state.data;
  if (!data) return null;
  if (of !== data.id) { of = data.id; roles = Object.fromEntries(data.columns.map((one) => [one.name, one.role])); missing = data.filled; matrix = data.matrix; alike = data.standardize; names = data.header; filter = ""; }
  const told = data.columns.some((one) => one.role !== roles[one.name]) || missing !== data.filled || matrix !== data.matrix || alike !== data.standardize || names !== data.header;
  const rows = data.columns.filter((one) => one.name.toLowerCase().includes(filter.toLowerCase())).slice(0, 100);
  return [
    h("h2", null, data.name),
    h("p", null, h("b", null, `${count(data.shown)} rows, ${count(data.features)} columns of data`), data.shown < data.n - data.dropped ? ` (showing ${count(data.shown)} of ${count(data.n)}, random)` : ""),
    data.notices.length ? h("ul", { class: "notices" }, data.notices.map((words) => h("li", null, words))) : null,
    h("div", { class: "row" },
      data.gaps ? h("label", { class: "wide" }, `${count(data.gaps)} missing values`, pick("gaps", GAPS, missing, (value) => { missing = value; })) : null,
      data.shape.length || data.matrix ? null : h("label", { class: "wide" }, "columns of different size", pick("alike", ALIKE, alike, (value) => { alike = value; }))),
    data.header !== null ? h("label", { class: "check" }, h("input", { type: "checkbox", id: "header", checked: names, onchange: (/** @type {any} */ e) => { names = e.target.checked; show(); } }), "the first line of the file holds the names of the columns") : null,
    data.square || data.matrix ? h("label", { class: "check" }, h("input", { type: "checkbox", id: "is-matrix", checked: matrix, onchange: (/** @type {any} */ e) => { matrix = e.target.checked; show(); } }),
      "the table is a matrix of distances, not rows of points") : null,
    h("details", { id: "columns", open: data.columns.length <= 24 }, h("summary", null, `columns (${count(data.columns.length + data.more_columns)})`),
      data.columns.length > 24 ? h("label", null, "find", h("input", { type: "search", id: "find-column", value: filter, oninput: (/** @type {any} */ e) => { filter = e.target.value; show(); } })) : null,
      h("table", { class: "columns" }, h("thead", null, h("tr", null, ["column", "kind", "is"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", null, rows.map((one) => h("tr", null,
          h("th", { scope: "row" }, one.name, one.missing ? h("small", { class: "warn" }, ` ${count(one.missing)} missing`) : null, one.constant ? h("small", { class: "warn" }, " constant") : null),
          h("td", null, one.kind),
          h("td", null, h("select", { id: `role-${one.name}`, "aria-label": `what ${one.name} is`, disabled: matrix, onchange: (/** @type {any} */ e) => { roles[one.name] = e.target.value; show(); } },
            ROLES.filter(([value]) => value !== "data" || one.kind === "number").map(([value, word]) => h("option", { value, selected: roles[one.name] === value }, word)))))))),
      rows.length === 100 || data.more_columns ? h("p", { class: "soft" }, `${count(rows.length)} are listed; find others by name`) : null),
    told ? h("p", { class: "row" }, h("button", { type: "button", class: "strong", id: "assign", onclick: () => attempt(() => send("assign", { roles: names === data.header ? roles : {}, missing, matrix, standardize: alike, header: names === data.header ? "same" : names ? "yes" : "no" })) }, "Read it this way"),
      h("button", { type: "button", id: "unassign", onclick: () => { of = ""; show(); } }, "Leave it")) : null,
    state.runs.size ? h("p", { class: "soft" }, "Other data, or other roles, begin anew: the runs below go. Save the session first if you need them.") : null,
    h("p", null, h("button", { type: "button", id: "to-look", onclick: () => get("tab-look").click() }, "Next: look at it")),
  ];
}

function show() {
  const reading = state.busy.includes("data");
  paint(holder, reading ? h("p", { class: "working", role: "status" }, "reading the data ", h("button", { type: "button", id: "stop-data", onclick: () => send("stop", { what: "data" }) }, "Stop")) : null, table(),
    state.data ? h("details", { id: "other" }, h("summary", null, "Other data"), start()) : start(),
    h("p", { class: "soft" }, `One job may hold ${bytes(state.budget)} of memory. Nothing leaves this machine.`));
}
on(["data", "busy"], show);
on("runs", () => { if (state.runs.size < 2) show(); });
addEventListener("dragover", (event) => { event.preventDefault(); if (event.dataTransfer?.types.includes("Files")) get("drop").hidden = false; });
addEventListener("dragleave", (event) => { if (!event.relatedTarget) get("drop").hidden = true; });
addEventListener("drop", async (event) => {
  event.preventDefault(); get("drop").hidden = true;
  if (event.target instanceof Element && event.target.closest("#ask")) return; // new rows, which the panel itself takes
  const items = [...(event.dataTransfer?.items || [])].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const folder = items.find((entry) => entry?.isDirectory);
  if (folder) read(await within(/** @type {any} */ (folder)), true);
  else read(event.dataTransfer?.files || null);
  changed("data");
});
/** Files below a dropped folder. @param {any} entry @returns {Promise<File[]>} */
async function within(entry) {
  if (entry.isFile) return [await new Promise((done, failed) => entry.file((/** @type {any} */ f) => { f.path = entry.fullPath.slice(1); done(f); }, failed))];
  const reader = entry.createReader(), found = [];
  for (;;) {
    /** @type {any[]} */ const part = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!part.length) return found;
    for (const one of part) found.push(...await within(one));
  }
}
