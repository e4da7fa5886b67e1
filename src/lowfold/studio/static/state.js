// What the page knows, and who wants to hear of it.

/** @typedef {import("./protocol.js").DataInfo} DataInfo */
/** @typedef {import("./protocol.js").RunInfo} RunInfo */
/** @typedef {import("./protocol.js").MethodInfo} MethodInfo */
/** @typedef {"data" | "look" | "methods" | "runs" | "busy" | "chosen" | "pointed" | "colour" | "tool" | "active" | "marks" | "asked"} Topic */

export const state = {
  /** @type {DataInfo | null} */ data: null,
  /** @type {any} */ look: null,
  /** @type {Map<string, RunInfo>} */ runs: new Map(),
  /** @type {MethodInfo[]} */ methods: [],
  /** @type {{name: string, line: string}[]} */ sets: [],
  /** @type {string[]} */ busy: [],
  budget: 0,
  version: "",
  /** @type {Uint8Array | null} */ chosen: null, // mask of chosen points
  pointed: -1,
  /** @type {import("./scatter.js").Scatter | null} */ over: null, // the picture in which it is pointed at
  held: -1, // the point that stays in the panel when nothing is pointed at
  colour: "", // key of the field that colours the points
  /** @type {import("./scatter.js").Tool} */ tool: "rectangle",
  graph: false,
  solid: false,
  active: "", // the run that trust, questions and files are about
  torn: false,
  pushed: false,
  /** @type {{run: string, places: number[][], rows: (number | null)[][], terms: [string, number][][]} | null} */ asked: null,
  /** @type {Uint32Array | null} */ rows: null, // places in the source, where rows were left out
};
/** @type {Map<Topic, Set<() => void>>} */ const heard = new Map();

/** @param {Topic | Topic[]} topics @param {() => void} work */
export function on(topics, work) {
  for (const topic of [topics].flat()) { if (!heard.has(topic)) heard.set(topic, new Set()); heard.get(topic)?.add(work); }
}
/** @param {...Topic} topics */
export function changed(...topics) {
  const work = new Set(topics.flatMap((topic) => [...(heard.get(topic) || [])]));
  for (const one of work) one();
}
/** @returns {RunInfo | null} */
export const active = () => state.runs.get(state.active) || null;
/** Runs that can be drawn. */
export const drawn = () => [...state.runs.values()].filter((run) => run.picture.length);
/** Name and number of a run, as it is called everywhere. @param {RunInfo} run */
export const title = (run) => {
  const same = [...state.runs.values()].filter((one) => one.method === run.method);
  return same.length > 1 ? `${run.method} ${same.indexOf(run) + 1}` : run.method;
};
/** The number of a row in the source, from 1. @param {number} i */
export const rowNumber = (i) => (state.rows ? state.rows[i] : i) + 1;
/** @param {{[name: string]: any}} params */
export const given = (params) => Object.entries(params).map(([name, value]) => `${name} ${value === null ? "none" : value}`).join(", ");
/** @param {Uint8Array | null} mask */
export const howMany = (mask) => { let sum = 0; if (mask) for (let i = 0; i < mask.length; i++) sum += mask[i]; return sum; };
