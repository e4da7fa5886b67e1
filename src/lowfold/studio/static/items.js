// A row of the data as a person looks at it: an image, a curve, or names and values.
import { s } from "./chart.js";
import { h, short } from "./dom.js";
import { state } from "./state.js";

/** @param {ArrayLike<number | null>} values @param {number} [size] pixels of the shown image */
export function image(values, size = 120) {
  const data = state.data, [rows, columns, channels] = [data?.shape[0] || 1, data?.shape[1] || 1, data?.shape[2] || 1];
  const canvas = h("canvas", { width: columns, height: rows, class: "image" }), c = canvas.getContext("2d"), out = c.createImageData(columns, rows);
  const low = data?.low || 0, span = (data?.high || 1) - low || 1;
  for (let p = 0; p < rows * columns; p++) {
    for (let k = 0; k < 3; k++) out.data[4 * p + k] = (255 * ((values[p * channels + (channels === 3 ? k : 0)] ?? low) - low)) / span;
    out.data[4 * p + 3] = 255;
  }
  c.putImageData(out, 0, 0);
  const scale = size / Math.max(rows, columns);
  canvas.style.width = `${columns * scale}px`; canvas.style.height = `${rows * scale}px`;
  return canvas;
}
/** Several rows as curves over their columns, with the ends of both axes. @param {{values: ArrayLike<number | null>, color: string}[]} rows @param {number} [height] */
export function curve(rows, height = 120) {
  const W = 300, LEFT = 42, FOOT = 14, svg = s("svg", { viewBox: `0 0 ${W} ${height}`, class: "profile", role: "img", "aria-label": "values over the columns" });
  const data = state.data, low = data?.low || 0, high = data?.high ?? 1, span = high - low || 1, wide = W - LEFT - 4, tall = height - FOOT - 8;
  const names = (data?.columns || []).filter((one) => one.role === "data").map((one) => one.name);
  svg.append(s("text", { x: LEFT - 3, y: 12, "text-anchor": "end" }, short(high, 3)), s("text", { x: LEFT - 3, y: 4 + tall, "text-anchor": "end" }, short(low, 3)));
  if (names.length) svg.append(s("text", { x: LEFT, y: height - 3 }, names[0]), s("text", { x: W - 4, y: height - 3, "text-anchor": "end" }, data?.more_columns ? `column ${data.features}` : names[names.length - 1]));
  for (const { values, color } of rows) {
    const step = Math.max(1, Math.floor(values.length / 600));
    let d = "";
    for (let i = 0; i < values.length; i += step) d += `${d ? "L" : "M"}${(LEFT + (i / Math.max(1, values.length - 1)) * wide).toFixed(1)} ${(4 + tall - (((values[i] ?? low) - low) / span) * tall).toFixed(1)}`;
    svg.append(s("path", { d, stroke: color, fill: "none", "stroke-width": 1.3 }));
  }
  return svg;
}
/** The largest terms of a document. @param {[string, number][]} terms */
export const words = (terms) => h("p", null, terms.length ? terms.map(([name, value], k) => [k ? ", " : "", name, h("small", null, ` ${short(value, 2)}`)]) : "no terms");
/** @param {ArrayLike<number | null>} values */
export function row(values) {
  const columns = (state.data?.columns || []).filter((one) => one.role === "data"), n = Math.min(values.length, 40, columns.length);
  return h("table", { class: "numbers" }, h("tbody", null, columns.slice(0, n).map((one, k) => h("tr", null, h("th", { scope: "row" }, one.name), h("td", null, short(values[k]))))),
    values.length > n ? h("caption", { class: "soft" }, `the first ${n} of ${values.length} columns`) : null);
}
/** In the way that suits the data. @param {ArrayLike<number | null>} values @param {[string, number][] | undefined} terms @param {number} [size] */
export function item(values, terms, size = 120) {
  const kind = state.data?.item;
  return kind === "image" ? image(values, size) : kind === "curve" ? curve([{ values, color: "#4477AA" }]) : kind === "words" ? words(terms || []) : row(values);
}
