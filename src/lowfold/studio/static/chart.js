// Small curves as SVG.
import { short } from "./dom.js";

export const COLORS = ["#4477AA", "#EE6677", "#228833", "#B8A020", "#33AABB", "#AA3377", "#999999", "#CC6633"];
const W = 320, H = 180, LEFT = 48, RIGHT = 10, TOP = 8, BOTTOM = 32;
const SPACE = "http://www.w3.org/2000/svg";

/** @param {string} tag @param {{[name: string]: string | number}} props @param {...(Node | string)} kids */
export function s(tag, props, ...kids) {
  const element = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, String(value));
  element.append(...kids);
  return element;
}
/** Round numbers across a range. @param {number} low @param {number} high @param {boolean} log @returns {number[]} */
function ticks(low, high, log) {
  if (log) {
    const found = [];
    for (let p = Math.ceil(Math.log10(low) - 1e-9); p <= Math.log10(high) + 1e-9; p++) found.push(10 ** p);
    if (found.length > 1) return found;
  }
  const rough = (high - low) / 4 || 1, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map((f) => f * power).find((v) => v >= rough) || rough;
  const found = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) found.push(v);
  return found;
}
/** Lines over an axis.
 * @param {{name: string, x: (number | null)[], y: (number | null)[], color?: string}[]} lines
 * @param {{title: string, x: string, y: string, xlog?: boolean, ylog?: boolean, range?: [number, number], mark?: number[], between?: number[] | null, dots?: boolean}} how */
export function chart(lines, how) {
  const good = (/** @type {number | null} */ v, /** @type {boolean | undefined} */ log) => v !== null && Number.isFinite(v) && (!log || v > 0);
  /** @type {number[]} */ const xs = [], ys = /** @type {number[]} */ ([]);
  for (const line of lines) line.x.forEach((x, i) => { if (good(x, how.xlog) && good(line.y[i], how.ylog)) { xs.push(/** @type {number} */ (x)); ys.push(/** @type {number} */ (line.y[i])); } });
  const svg = s("svg", { viewBox: `0 0 ${W} ${H}`, class: "chart", role: "img", "aria-label": how.title });
  svg.append(s("title", {}, how.title));
  if (!xs.length) return svg;
  let [x0, x1] = [Math.min(...xs), Math.max(...xs)], [y0, y1] = how.range || [Math.min(...ys), Math.max(...ys)];
  if (x1 <= x0) x1 = x0 + 1;
  if (y1 <= y0) y1 = y0 + (how.ylog ? y0 : 1);
  const across = (/** @type {number} */ x) => LEFT + ((how.xlog ? Math.log(x / x0) / Math.log(x1 / x0) : (x - x0) / (x1 - x0))) * (W - LEFT - RIGHT);
  const up = (/** @type {number} */ y) => H - BOTTOM - ((how.ylog ? Math.log(y / y0) / Math.log(y1 / y0) : (Math.max(y0, Math.min(y1, y)) - y0) / (y1 - y0))) * (H - TOP - BOTTOM);
  if (how.between) { const [p, q] = how.between.map((v) => across(Math.max(x0, Math.min(x1, v)))); svg.append(s("rect", { class: "between", x: Math.min(p, q), width: Math.abs(q - p), y: TOP, height: H - TOP - BOTTOM })); }
  for (const y of ticks(y0, y1, !!how.ylog)) svg.append(s("line", { class: "grid", x1: LEFT, x2: W - RIGHT, y1: up(y), y2: up(y) }), s("text", { x: LEFT - 5, y: up(y) + 4, "text-anchor": "end" }, short(y, 3)));
  for (const x of ticks(x0, x1, !!how.xlog)) svg.append(s("line", { class: "grid", x1: across(x), x2: across(x), y1: TOP, y2: H - BOTTOM }), s("text", { x: across(x), y: H - BOTTOM + 14, "text-anchor": "middle" }, short(x, 3)));
  svg.append(s("text", { x: (LEFT + W) / 2, y: H - 4, "text-anchor": "middle" }, how.x));
  svg.append(s("text", { transform: `translate(10 ${(H - BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle" }, how.y.length > 28 ? `${how.y.slice(0, 27)}…` : how.y));
  lines.forEach((line, k) => {
    const color = line.color || COLORS[k % COLORS.length];
    if (how.dots) {
      const d = line.x.map((x, i) => (good(x, how.xlog) && good(line.y[i], how.ylog) ? `M${across(/** @type {number} */ (x)).toFixed(1)} ${up(/** @type {number} */ (line.y[i])).toFixed(1)}h.01` : "")).join("");
      svg.append(s("path", { d, stroke: color, class: "dots" }));
      return;
    }
    let d = "", pen = "M";
    line.x.forEach((x, i) => { if (!good(x, how.xlog) || !good(line.y[i], how.ylog)) { pen = "M"; return; } d += `${pen}${across(/** @type {number} */ (x)).toFixed(1)} ${up(/** @type {number} */ (line.y[i])).toFixed(1)}`; pen = "L"; });
    svg.append(s("path", { d, stroke: color, class: "line" }, s("title", {}, line.name)));
  });
  if (how.mark) svg.append(s("circle", { cx: across(how.mark[0]), cy: up(how.mark[1]), r: 4, class: "mark" }));
  return svg;
}
