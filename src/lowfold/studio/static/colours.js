// What can colour the points, and how a picture gets it.
import { numbers } from "./link.js";
import { byClass, byNumber, classLook, gradient, plain, trace } from "./scatter.js";
import { changed, drawn, state, title } from "./state.js";
import { h, short } from "./dom.js";
import { send } from "./link.js";

/** @typedef {import("./protocol.js").Column} Column */
/** @typedef {import("./protocol.js").RunInfo} RunInfo */
/** @typedef {import("./scatter.js").Colouring} Colouring */

/** @type {Map<string, Column>} */ const fetched = new Map(); // columns of the data that were asked for
const OWN = ["trust", "continuity", "local error", "log density", "instability", "cluster"];

/** Groups of choices: [heading, [key, words][]][]. */
export function choices() {
  const data = state.data;
  if (!data) return [];
  const kept = Object.keys(data.colours), runs = drawn();
  /** @type {[string, [string, string][]][]} */ const found = [["", [["", "nothing"]]]];
  if (kept.length) found.push(["kept aside", kept.map((name) => [`col:${name}`, name])]);
  const own = OWN.filter((name) => runs.some((run) => run.colours[name]));
  if (own.length) found.push(["of each picture", own.map((name) => [`own:${name}`, name])]);
  for (const run of runs) found.push([`coordinates of ${title(run)}`, run.picture.slice(0, 3).map((_, k) => [`run:${run.id}:${k}`, `${title(run)}, coordinate ${k + 1}`])]);
  const columns = data.columns.filter((one) => one.role === "data").slice(0, 200);
  found.push(["columns of the data", columns.map((one) => [`col:${one.name}`, one.name])]);
  return found;
}
/** The column of a key for one picture. @param {string} key @param {RunInfo | null} run @returns {Promise<Column | null>} */
export async function columnOf(key, run) {
  const [kind, ...rest] = key.split(":"), name = rest.join(":"), data = state.data;
  if (!data) return null;
  if (kind === "own") return run?.colours[name] || null;
  if (kind === "run") return state.runs.get(rest[0])?.picture[Number(rest[1])] || null;
  if (kind !== "col") return null;
  if (data.colours[name]) return data.colours[name];
  const known = `${data.id}:${name}`;
  if (!fetched.has(known)) fetched.set(known, await send("colour", { name }));
  return fetched.get(known) || null;
}
/** @type {WeakMap<object, Colouring>} */ const made = new WeakMap();
/** @param {RunInfo | null} run @param {number} n @returns {Promise<Colouring>} */
export async function colouring(run, n) {
  const column = await columnOf(state.colour, run).catch(() => null);
  if (!column) return plain(n);
  const values = await numbers(column);
  let found = made.get(values);
  if (!found) { found = column.kind === "codes" ? byClass(values, column.names.length) : byNumber(values); made.set(values, found); }
  return found;
}
/** The legend of what is shown. @param {(mask: Uint8Array | null) => void} choose */
export async function legend(choose) {
  const runs = drawn(), column = await columnOf(state.colour, runs.find((run) => state.colour.startsWith("own:") && run.colours[state.colour.slice(4)]) || null).catch(() => null);
  if (!column) return [];
  if (column.kind !== "codes") {
    const bar = h("span", { class: "bar" });
    bar.style.background = gradient();
    const own = state.colour.startsWith("own:");
    return own ? [h("span", null, "low"), bar, h("span", null, "high, in each picture by itself")] : [short(column.low), bar, short(column.high)];
  }
  const codes = await numbers(column);
  return column.names.slice(0, 60).map((name, code) => {
    const swatch = h("canvas", { width: 14, height: 14, "aria-hidden": "true" }), look = classLook(code, column.names.length), c = swatch.getContext("2d");
    c.fillStyle = look.color; c.beginPath(); trace(c, look.shape, 7, 7, 5); c.fill();
    return h("button", { type: "button", class: "swatch", title: `choose the points of ${name}`, onclick: () => choose(Uint8Array.from(codes, (v) => Number(v === code))) }, swatch, ` ${name}`);
  });
}
/** The first thing worth seeing. */
export function usual() {
  const data = state.data;
  if (!data) return "";
  const label = data.columns.find((one) => one.role === "label" && data.colours[one.name]), any = Object.keys(data.colours)[0];
  return label ? `col:${label.name}` : any ? `col:${any}` : data.columns.length ? `col:${data.columns[0].name}` : "";
}
/** @param {string} key */
export function colourBy(key) { state.colour = key; changed("colour"); }
