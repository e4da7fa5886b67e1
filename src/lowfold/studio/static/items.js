// A row of the data as a person looks at it: an image, a curve, or names and values.
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
/** Several rows as curves over their columns. @param {{values: ArrayLike<number | null>, color: string}[]} rows @param {number} [height] */
export function curve(rows, height = 110) {
  const W = 300, svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${W} ${height}`); svg.setAttribute("class", "profile"); svg.setAttribute("role", "img"); svg.setAttribute("aria-label", "values over the columns");
  const low = state.data?.low || 0, span = (state.data?.high || 1) - low || 1;
  for (const { values, color } of rows) {
    const step = Math.max(1, Math.floor(values.length / 600)), path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    let d = "";
    for (let i = 0; i < values.length; i += step) d += `${d ? "L" : "M"}${((i / Math.max(1, values.length - 1)) * W).toFixed(1)} ${(height - 4 - (((values[i] ?? low) - low) / span) * (height - 8)).toFixed(1)}`;
    path.setAttribute("d", d); path.setAttribute("stroke", color); path.setAttribute("fill", "none"); path.setAttribute("stroke-width", "1.3");
    svg.append(path);
  }
  return svg;
}
/** @param {ArrayLike<number | null>} values */
export function row(values) {
  const columns = (state.data?.columns || []).filter((one) => one.role === "data"), n = Math.min(values.length, 40, columns.length);
  return h("table", { class: "numbers" }, h("tbody", null, columns.slice(0, n).map((one, k) => h("tr", null, h("th", { scope: "row" }, one.name), h("td", null, short(values[k]))))),
    values.length > n ? h("caption", { class: "soft" }, `the first ${n} of ${values.length} columns`) : null);
}
/** In the way that suits the data. @param {ArrayLike<number | null>} values @param {number} [size] */
export function item(values, size = 120) {
  const kind = state.data?.item;
  return kind === "image" ? image(values, size) : kind === "curve" ? curve([{ values, color: "#4477AA" }]) : row(values);
}
