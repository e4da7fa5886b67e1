// One picture of many points, for the report, the studio and the notebook.
//
// Coordinates are 16-bit steps between a least and a largest value. Up to SHAPED points are drawn as shapes; more are
// summed into an image, pixel by pixel ("splat"), which needs no GPU. Hovering looks at every point again: for a million
// that takes a few milliseconds, and no index can be out of date. Selections are masks that several pictures share.

export const NOWHERE = 65535; // the step of a point without a place
export const NONE = 255; // the group of a point without a value
const SHAPED = 6000;
const REACH = 14; // pixels within which a point is pointed at
const MARGIN = 14;
const TOP = NOWHERE - 1;
const STRONG = 8; // weight of a point against 1 of one that is not chosen

const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const FEW = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A900", "#5B5B5B"];
const MORE = ["#CC6677", "#332288", "#DDCC77", "#117733", "#88CCEE", "#882255", "#44AA99", "#999933", "#AA4499", "#555555"];
const STEPS = 64; // colours of the continuous scale

/** @typedef {{steps: Uint16Array, low: number, high: number}} Axis */
/** @typedef {{color: string, shape: number}} Look */
/** @typedef {{groups: Uint8Array, looks: Look[]}} Colouring */
/** @typedef {"point" | "rectangle" | "lasso" | "move" | "ask" | "path"} Tool */

/** @param {string} a @returns {number[]} */
export const rgb = (a) => [1, 3, 5].map((k) => parseInt(a.slice(k, k + 2), 16));

/** Relative luminance, as WCAG has it. @param {number[]} c */
const luminance = (c) => c.reduce((sum, v, k) => { const u = v / 255; return sum + [0.2126, 0.7152, 0.0722][k] * (u <= 0.03928 ? u / 12.92 : ((u + 0.055) / 1.055) ** 2.4); }, 0);
/** @param {string} a @param {string} b */
export const contrast = (a, b) => { const [x, y] = [luminance(rgb(a)), luminance(rgb(b))]; return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
/** @param {number[]} c */
const hex = (c) => `#${c.map((v) => Math.round(v).toString(16).padStart(2, "0")).join("")}`;
/** Whether the page is dark now. */
const isDark = () => { const back = css("--back"); return /^#[0-9a-f]{6}$/i.test(back) && luminance(rgb(back)) < 0.2; };
/** The colour itself; on a dark page mixed with white until it stands out by 3 to 1. @param {string} color */
export function seen(color) {
  if (!isDark()) return color;
  let c = rgb(color);
  for (let k = 0; k < 40 && contrast(hex(c), css("--back")) < 3; k++) c = c.map((v) => v + 0.08 * (255 - v));
  return hex(c);
}

/** The continuous scale, light for large; on a dark page without its dark third. @returns {string[]} */
export function scale() {
  const first = isDark() ? 0.36 : 0;
  return Array.from({ length: STEPS }, (_, s) => {
    const at = (first + (1 - first) * (s / (STEPS - 1))) * (VIRIDIS.length - 1), k = Math.min(VIRIDIS.length - 2, Math.floor(at)), t = at - k;
    const a = rgb(VIRIDIS[k]), b = rgb(VIRIDIS[k + 1]);
    return seen(hex(a.map((v, c) => v + t * (b[c] - v))));
  });
}
export const gradient = () => `linear-gradient(to right, ${scale().join(",")})`;

/** How class number `code` of `count` is drawn: by colour, beyond ten classes by shape as well.
 * @param {number} code @param {number} count @returns {Look} */
export function classLook(code, count) {
  const colors = count <= FEW.length ? FEW : MORE;
  return { color: seen(colors[code % colors.length]), shape: Math.floor(code / colors.length) % 5 };
}

/** Points by class. @param {Uint8Array} codes @param {number} count @returns {Colouring} */
export const byClass = (codes, count) => ({ groups: codes, looks: Array.from({ length: count }, (_, c) => classLook(c, count)) });

/** Points along the scale; `floor` is the share of the range below which everything looks alike.
 * @param {Uint16Array} steps @param {number} [floor] @returns {Colouring} */
export function byNumber(steps, floor = 0) {
  const groups = new Uint8Array(steps.length), low = floor * TOP, factor = STEPS / (TOP - low + 1);
  for (let i = 0; i < steps.length; i++) {
    const s = steps[i];
    groups[i] = s === NOWHERE ? NONE : s <= low ? 0 : ((s - low) * factor) | 0;
  }
  return { groups, looks: scale().map((color) => ({ color, shape: 0 })) };
}

/** All points alike. @param {number} n @returns {Colouring} */
export const plain = (n) => ({ groups: new Uint8Array(n), looks: [{ color: seen(FEW[0]), shape: 0 }] });

/** The path of one marker: circle, triangle, square, diamond, triangle downwards.
 * @param {CanvasRenderingContext2D | Path2D} c @param {number} shape @param {number} x @param {number} y @param {number} r */
export function trace(c, shape, x, y, r) {
  if (shape === 0 && r < 1.5) c.rect(x - r, y - r, 2 * r, 2 * r); // too small to be seen round
  else if (shape === 0) { c.moveTo(x + r, y); c.arc(x, y, r, 0, 6.2832); }
  else if (shape === 2) c.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
  else {
    const at = CORNERS[shape];
    c.moveTo(x + at[0] * r, y + at[1] * r);
    for (let k = 2; k < at.length; k += 2) c.lineTo(x + at[k] * r, y + at[k + 1] * r);
    c.closePath();
  }
}
/** @type {{[shape: number]: number[]}} */
export const CORNERS = { 1: [0, -1.2, 1.1, 0.8, -1.1, 0.8], 3: [0, -1.3, 1.3, 0, 0, 1.3, -1.3, 0], 4: [0, 1.2, 1.1, -0.8, -1.1, -0.8] };

/** Colours where the page defines none, as in a notebook. @type {{[name: string]: string}} */
const USUAL = { "--mark": "#b3261e", "--soft": "#80868b", "--edge": "rgba(120, 124, 127, .25)", "--back": "#ffffff", "--text": "#1d1f21" };
/** @param {string} name */
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim() || USUAL[name];

/** @param {HTMLElement} pane @param {string} name */
function layer(pane, name) {
  const canvas = document.createElement("canvas");
  canvas.className = name;
  pane.append(canvas);
  return canvas;
}

export class Scatter {
  /** @param {HTMLElement} pane an empty element with a size of its own
   * @param {{label?: string, on?: {point?: (i: number, s: Scatter) => void, choose?: (mask: Uint8Array | null, s: Scatter) => void,
   *   ask?: (place: number[], s: Scatter) => void, path?: (places: number[][], s: Scatter) => void, view?: (s: Scatter) => void}}} [options] */
  constructor(pane, { label = "", on = {} } = {}) {
    this.pane = pane; this.on = on; this.label = label;
    /** @type {Axis[]} */ this.axes = [];
    this.n = 0; this.show = [0, 1]; this.solid = false; // solid: three axes, turned
    /** @type {Colouring} */ this.colouring = plain(0);
    /** @type {Uint8Array | null} */ this.chosen = null;
    this.pointed = -1;
    /** @type {ArrayLike<number> | null} */ this.edges = null;
    this.withEdges = false;
    /** @type {number[]} */ this.near = []; // points joined to the pointed one
    /** @type {{rows: number[], color: string}[]} */ this.rings = [];
    /** @type {number[][]} */ this.placed = []; // new points, in data units
    /** @type {Tool} */ this.tool = "rectangle";
    this.view = { x: 0, y: 0, zoom: 1 };
    this.turn = [1, 0, 0, 0, 1, 0, 0, 0, 1];
    /** @type {number[][] | null} */ this.drag = null;
    /** @type {number[] | null} */ this.cursor = null; // of the keyboard
    /** @type {number[][]} */ this.route = [];
    this.base = layer(pane, "base"); this.above = layer(pane, "above");
    this.w = 0; this.h = 0; this.ratio = 1;
    /** @type {{a: number[], b: number[], a0: number, b0: number, unit: number[], used: number[], s: Uint16Array[]} | null} */ this.map = null;
    /** @type {{sums: Int32Array, image: ImageData} | null} */ this.buffers = null;
    this.from = { x: 0, y: 0, zoom: 1, turn: this.turn };
    this.touches = false;
    this.base.tabIndex = 0;
    this.base.setAttribute("role", "img");
    this.waiting = false;
    this.#listen();
    this.observer = new ResizeObserver(() => { if (this.#resized()) this.draw(); });
    this.observer.observe(pane);
  }

  /** @param {Axis[]} axes two or three */
  setAxes(axes) {
    this.axes = axes; this.n = axes.length ? axes[0].steps.length : 0;
    if (axes.length < 3) { this.solid = false; this.show = [0, 1]; }
    if (this.colouring.groups.length !== this.n) this.colouring = plain(this.n);
    const more = axes.length > 2 ? " Alt and arrow keys turn it." : "";
    this.base.setAttribute("aria-label", `${this.label}, ${this.n} points. Arrow keys move a pointer, Space drags, Enter chooses, plus and minus zoom.${more}`);
    this.soon();
  }
  /** Draw before the next frame, once. */
  soon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }
  remove() { this.observer.disconnect(); this.base.remove(); this.above.remove(); }
  reset() { this.view = { x: 0, y: 0, zoom: 1 }; this.turn = [1, 0, 0, 0, 1, 0, 0, 0, 1]; this.soon(); }

  // From steps to pixels ----------------------------------------------------------------------------------------------

  #resized() {
    const box = this.pane.getBoundingClientRect();
    const ratio = this.n > 300000 ? 1 : Math.min(window.devicePixelRatio || 1, 2);
    const w = Math.max(1, Math.round(box.width)), h = Math.max(1, Math.round(box.height));
    if (w === this.w && h === this.h && ratio === this.ratio) return false;
    this.w = w; this.h = h; this.ratio = ratio;
    for (const canvas of [this.base, this.above]) { canvas.width = w * ratio; canvas.height = h * ratio; }
    this.buffers = null;
    return true;
  }
  /** Pixels are x = a·s + a0, y = b·s + b0 for the steps s of a point on the three axes (two of them, if flat). */
  #project() {
    const { w, h, axes, view } = this;
    const used = this.solid ? [0, 1, 2] : [this.show[0], Math.min(this.show[1], axes.length - 1)];
    const sides = used.map((k) => axes[k].high - axes[k].low);
    const room = [Math.max(10, w - 2 * MARGIN), Math.max(10, h - 2 * MARGIN)];
    let unit = [room[0] / sides[0], room[1] / sides[1]];
    if (this.solid) { const u = Math.min(...room) / Math.hypot(...sides) * 1.15; unit = [u, u]; }
    else if (Math.max(sides[0], sides[1]) <= 8 * Math.min(sides[0], sides[1])) unit = [Math.min(...unit), Math.min(...unit)]; // distances mean something
    const rows = this.solid ? [this.turn.slice(0, 3), this.turn.slice(3, 6)] : [[1, 0], [0, 1]];
    const a = [0, 0, 0], b = [0, 0, 0];
    let a0 = w / 2 + view.x, b0 = h / 2 + view.y;
    used.forEach((_, j) => {
      a[j] = (rows[0][j] * unit[0] * view.zoom * sides[j]) / TOP;
      b[j] = (-rows[1][j] * unit[1] * view.zoom * sides[j]) / TOP;
      a0 -= (a[j] * TOP) / 2; b0 -= (b[j] * TOP) / 2;
    });
    const none = axes[used[0]].steps;
    this.map = { a, b, a0, b0, unit, used, s: [axes[used[0]].steps, axes[used[1]].steps, used.length > 2 ? axes[used[2]].steps : none] };
    return this.map;
  }
  /** Where point i is drawn, or NaN. @param {number} i @returns {number[]} */
  at(i) {
    const { a, b, a0, b0, s } = this.map || this.#project();
    if (s[0][i] === NOWHERE || s[1][i] === NOWHERE) return [NaN, NaN];
    return [a[0] * s[0][i] + a[1] * s[1][i] + a[2] * s[2][i] + a0, b[0] * s[0][i] + b[1] * s[1][i] + b[2] * s[2][i] + b0];
  }
  /** Where a place in data units is drawn. @param {number[]} place */
  atPlace(place) {
    const { a, b, a0, b0, used } = this.map || this.#project();
    const s = used.map((k) => ((place[k] - this.axes[k].low) / (this.axes[k].high - this.axes[k].low)) * TOP);
    return [s.reduce((sum, v, j) => sum + a[j] * v, a0), s.reduce((sum, v, j) => sum + b[j] * v, b0)];
  }
  /** The place under a pixel, in data units; of a turned picture that in the plane through its middle.
   * @param {number} x @param {number} y @returns {number[]} */
  placeAt(x, y) {
    const { unit } = this.map || this.#project(), { zoom } = this.view;
    const u = (x - this.w / 2 - this.view.x) / (unit[0] * zoom), v = -(y - this.h / 2 - this.view.y) / (unit[1] * zoom);
    const middle = this.axes.map((axis) => (axis.low + axis.high) / 2);
    if (this.solid) return middle.map((m, k) => m + this.turn[k] * u + this.turn[3 + k] * v);
    middle[this.show[0]] += u; middle[this.show[1]] += v;
    return middle;
  }

  // Drawing -----------------------------------------------------------------------------------------------------------

  draw() {
    this.#resized();
    const c = /** @type {CanvasRenderingContext2D} */ (this.base.getContext("2d", { alpha: true }));
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.base.width, this.base.height);
    if (!this.axes.length || !this.n) { this.mark(); return; }
    this.#project();
    if (this.n > SHAPED) { this.#splat(c); c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0); this.#lines(c); }
    else { c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0); this.#lines(c); this.#shapes(c); }
    this.mark();
  }
  /** @param {CanvasRenderingContext2D} c */
  #lines(c) {
    if (!this.withEdges || !this.edges) return;
    c.beginPath();
    for (let e = 0; e < this.edges.length; e += 2) {
      const p = this.at(this.edges[e]), q = this.at(this.edges[e + 1]);
      if (p[0] === p[0] && q[0] === q[0]) { c.moveTo(p[0], p[1]); c.lineTo(q[0], q[1]); }
    }
    c.strokeStyle = css("--edge"); c.lineWidth = 0.7; c.stroke();
  }
  get size() { return Math.max(1.1, Math.min(3.4, Math.sqrt((this.w * this.h) / this.n) / 5)) * Math.min(2, Math.sqrt(this.view.zoom)); }
  /** Points of a group in one path; those not chosen lie below. @param {CanvasRenderingContext2D} c */
  #shapes(c) {
    const { groups, looks } = this.colouring, size = this.size, soft = css("--soft");
    /** @type {Map<number, number[]>} */ const members = new Map();
    for (let i = 0; i < this.n; i++) {
      const key = groups[i] + (this.chosen && !this.chosen[i] ? 1000 : 0), held = members.get(key);
      if (held) held.push(i); else members.set(key, [i]);
    }
    for (const key of [...members.keys()].sort((p, q) => Number(q >= 900) - Number(p >= 900) || p - q)) {
      const faint = key >= 900, look = looks[faint ? key - 1000 : key] || { color: soft, shape: 0 };
      c.globalAlpha = faint ? 0.1 : this.n > 3000 ? 0.75 : 0.9;
      c.fillStyle = look.color;
      c.beginPath();
      for (const i of members.get(key) || []) { const p = this.at(i); if (p[0] === p[0]) trace(c, look.shape, p[0], p[1], size); }
      c.fill();
    }
    c.globalAlpha = 1;
  }
  /** Sum weight and colour of every point into its pixels; how solid a pixel is follows from the weight.
   * @param {CanvasRenderingContext2D} c */
  #splat(c) {
    const W = this.base.width, H = this.base.height, n = this.n, { chosen, ratio } = this;
    const { sums, image } = (this.buffers ||= { sums: new Int32Array(4 * W * H), image: c.createImageData(W, H) }), { groups, looks } = this.colouring;
    sums.fill(0);
    // weight, and colours times weight, by group: first of points that are chosen, then of those that are not
    const ink = new Int32Array(4 * 512), soft = [140, 145, 150];
    for (let g = 0; g < 256; g++) {
      const color = [1, ...(looks[g] ? rgb(looks[g].color) : soft)];
      for (let k = 0; k < 4; k++) { ink[4 * g + k] = STRONG * color[k]; ink[4 * (g + 256) + k] = color[k]; }
    }
    const { a, b, a0: left, b0: upper, s } = this.map || this.#project(), [s0, s1, s2] = s, third = this.solid;
    const ax = a[0] * ratio, ay = a[1] * ratio, az = a[2] * ratio, bx = b[0] * ratio, by = b[1] * ratio, bz = b[2] * ratio;
    const side = Math.max(1, Math.round(this.size * ratio * (n > 300000 ? 0.5 : 1))), a0 = left * ratio - side / 2 + 0.5, b0 = upper * ratio - side / 2 + 0.5;
    const right = W - side, bottom = H - side;
    for (let i = 0; i < n; i++) {
      const u = s0[i], v = s1[i];
      if (u === NOWHERE || v === NOWHERE) continue;
      const x = third ? ax * u + ay * v + az * s2[i] + a0 : ax * u + a0, y = third ? bx * u + by * v + bz * s2[i] + b0 : by * v + b0;
      if (!(x >= 0 && y >= 0 && x <= right && y <= bottom)) continue;
      const g = (chosen === null ? groups[i] : groups[i] | ((chosen[i] ^ 1) << 8)) << 2; // no branch: half of them would be guessed wrong
      let at = ((y | 0) * W + (x | 0)) << 2; // 32-bit integers: a million points of weight 8 and colour 255 still fit
      if (side === 1) { sums[at] += ink[g]; sums[at + 1] += ink[g + 1]; sums[at + 2] += ink[g + 2]; sums[at + 3] += ink[g + 3]; continue; }
      for (let j = 0; j < side; j++, at += W << 2) {
        for (let k = 0, p = at; k < side; k++, p += 4) {
          sums[p] += ink[g]; sums[p + 1] += ink[g + 1]; sums[p + 2] += ink[g + 2]; sums[p + 3] += ink[g + 3];
        }
      }
    }
    const once = Math.min(0.9, Math.max(0.25, 2.2 * Math.sqrt((W * H) / (n * side * side)) * 0.25 * Math.max(1, this.view.zoom)));
    const solid = Uint8Array.from({ length: 1024 }, (_, w) => Math.round(255 * (1 - Math.pow(1 - once, w / STRONG))));
    const out = new Uint32Array(image.data.buffer);
    for (let p = 0, q = 0; p < out.length; p++, q += 4) {
      const w = sums[q];
      out[p] = w === 0 ? 0 : (solid[w < 1024 ? w : 1023] << 24) | (((sums[q + 3] / w) | 0) << 16) | (((sums[q + 2] / w) | 0) << 8) | ((sums[q + 1] / w) | 0);
    }
    c.putImageData(image, 0, 0);
  }
  /** What lies above the points: rings, new points, the pointed one with its neighbours, the drag, the pointer of the keyboard. */
  mark() {
    const c = /** @type {CanvasRenderingContext2D} */ (this.above.getContext("2d"));
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.above.width, this.above.height);
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    if (!this.axes.length || !this.n) return;
    const size = this.size, color = css("--mark");
    for (const { rows, color: ring } of this.rings) {
      c.strokeStyle = ring; c.lineWidth = 1.5; c.beginPath();
      for (const i of rows) { const p = this.at(i); if (p[0] === p[0]) { c.moveTo(p[0] + size + 2, p[1]); c.arc(p[0], p[1], size + 2, 0, 6.2832); } }
      c.stroke();
    }
    if (this.placed.length) {
      for (const [wide, ink] of /** @type {[number, string][]} */ ([[4, css("--back")], [2, css("--text")]])) {
        c.strokeStyle = ink; c.lineWidth = wide; c.beginPath();
        for (const place of this.placed) { const [x, y] = this.atPlace(place); c.moveTo(x - 4, y - 4); c.lineTo(x + 4, y + 4); c.moveTo(x - 4, y + 4); c.lineTo(x + 4, y - 4); }
        c.stroke();
      }
    }
    this.#dragged(c, color);
    if (this.cursor) { const [x, y] = this.cursor; c.strokeStyle = color; c.lineWidth = 1; c.beginPath(); c.moveTo(x - 9, y); c.lineTo(x + 9, y); c.moveTo(x, y - 9); c.lineTo(x, y + 9); c.stroke(); }
    if (this.pointed < 0 || this.pointed >= this.n) return;
    const [x, y] = this.at(this.pointed);
    if (x !== x) return;
    c.strokeStyle = color; c.lineWidth = 1; c.beginPath();
    for (const j of this.near) { const p = this.at(j); if (p[0] === p[0]) { c.moveTo(x, y); c.lineTo(p[0], p[1]); } }
    c.stroke();
    c.lineWidth = 2.5; c.beginPath(); c.arc(x, y, size + 4, 0, 6.2832); c.stroke();
    const look = this.colouring.looks[this.colouring.groups[this.pointed]];
    c.fillStyle = look ? look.color : css("--soft"); c.beginPath(); c.arc(x, y, size + 1, 0, 6.2832); c.fill();
  }
  /** @param {CanvasRenderingContext2D} c @param {string} color */
  #dragged(c, color) {
    const path = this.drag || this.route;
    if (!path.length || (this.tool === "move" && this.drag)) return;
    c.strokeStyle = color; c.lineWidth = 1.5; c.setLineDash([4, 3]); c.beginPath();
    if (this.tool === "rectangle" && this.drag) {
      const [p, q] = [path[0], path[path.length - 1]];
      c.rect(Math.min(p[0], q[0]), Math.min(p[1], q[1]), Math.abs(p[0] - q[0]), Math.abs(p[1] - q[1]));
    } else path.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.stroke(); c.setLineDash([]);
  }

  // Pointing and choosing ---------------------------------------------------------------------------------------------

  /** The point nearest to a pixel, or -1. @param {number} x @param {number} y */
  nearest(x, y) {
    if (!this.axes.length) return -1;
    const { a, b, a0, b0, s } = this.map || this.#project(), [s0, s1, s2] = s, third = this.solid;
    let best = -1, least = REACH * REACH;
    for (let i = 0; i < this.n; i++) {
      const u = s0[i], v = s1[i];
      const dx = (third ? a[0] * u + a[1] * v + a[2] * s2[i] : a[0] * u) + a0 - x;
      if (dx * dx >= least) continue;
      const dy = (third ? b[0] * u + b[1] * v + b[2] * s2[i] : b[1] * v) + b0 - y, d = dx * dx + dy * dy;
      if (d < least && u !== NOWHERE && v !== NOWHERE) { least = d; best = i; }
    }
    return best;
  }
  /** Points inside a path of pixels: the path is filled, and every point looks at its pixel. @param {number[][]} path */
  inside(path) {
    const canvas = document.createElement("canvas");
    canvas.width = this.w; canvas.height = this.h;
    const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
    c.beginPath(); path.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y))); c.closePath(); c.fill();
    const mask = new Uint8Array(this.n), filled = Uint8Array.from(new Uint32Array(c.getImageData(0, 0, this.w, this.h).data.buffer), (v) => v >>> 31); // small enough to stay near the processor
    const { a, b, a0, b0, s } = this.map || this.#project(), [s0, s1, s2] = s, third = this.solid, { w, h } = this;
    let count = 0;
    for (let i = 0; i < this.n; i++) {
      const u = s0[i], v = s1[i];
      if (u === NOWHERE || v === NOWHERE) continue;
      const x = (third ? a[0] * u + a[1] * v + a[2] * s2[i] : a[0] * u) + a0, y = (third ? b[0] * u + b[1] * v + b[2] * s2[i] : b[1] * v) + b0;
      if (x >= 0 && y >= 0 && x < w && y < h ) count += mask[i] = filled[(y | 0) * w + (x | 0)];
    }
    return count ? mask : null;
  }
  /** @param {number} x @param {number} y */
  #begin(x, y) { this.drag = [[x, y]]; this.from = { ...this.view, turn: this.turn.slice() }; }
  /** @param {number} x @param {number} y */
  #move(x, y) {
    if (!this.drag) { this.#point(x, y); return; }
    this.drag.push([x, y]);
    if (this.tool === "move") {
      const dx = x - this.drag[0][0], dy = y - this.drag[0][1];
      if (this.solid) this.turn = turned(this.from.turn, dx / 120, dy / 120);
      else { this.view.x = this.from.x + dx; this.view.y = this.from.y + dy; }
      this.soon(); this.on.view?.(this);
    } else this.mark();
  }
  /** @param {number} x @param {number} y @param {boolean} touch */
  #end(x, y, touch = false) {
    const path = this.drag || [[x, y]];
    this.drag = null;
    const still = path.every((p) => Math.abs(p[0] - path[0][0]) + Math.abs(p[1] - path[0][1]) < 6);
    if (this.tool === "ask") { this.on.ask?.(this.placeAt(x, y), this); this.mark(); return; }
    if (still) {
      const i = this.nearest(x, y);
      this.#point(x, y);
      if (i < 0) this.on.choose?.(null, this);
      else if (!touch) { const mask = new Uint8Array(this.n); mask[i] = 1; this.on.choose?.(mask, this); }
    } else if (this.tool === "rectangle") {
      const [p, q] = [path[0], [x, y]];
      this.on.choose?.(this.inside([p, [q[0], p[1]], q, [p[0], q[1]]]), this);
    } else if (this.tool === "lasso") this.on.choose?.(this.inside(path), this);
    else if (this.tool === "path") { this.route = path; this.on.path?.(path.map((p) => this.placeAt(p[0], p[1])), this); }
    this.mark();
  }
  /** @param {number} x @param {number} y */
  #point(x, y) {
    if (this.tool === "ask") this.on.ask?.(this.placeAt(x, y), this);
    this.on.point?.(this.nearest(x, y), this);
  }
  /** Zoom so that the place under the pixel stays. @param {number} factor @param {number} [x] @param {number} [y] */
  zoom(factor, x = this.w / 2, y = this.h / 2) {
    const zoom = Math.max(0.2, Math.min(500, this.view.zoom * factor)), f = zoom / this.view.zoom;
    this.view = { zoom, x: x - this.w / 2 - (x - this.w / 2 - this.view.x) * f, y: y - this.h / 2 - (y - this.h / 2 - this.view.y) * f };
    this.soon(); this.on.view?.(this);
  }
  #listen() {
    const canvas = this.base;
    /** @param {{clientX: number, clientY: number}} event @returns {[number, number]} */
    const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      this.cursor = null; this.#begin(...at(event));
      if (event.pointerType !== "touch") canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => { if (this.drag && event.pointerType === "touch" && !this.touches) return; this.#move(...at(event)); });
    canvas.addEventListener("pointerup", (event) => { if (this.drag) this.#end(...at(event), event.pointerType === "touch"); });
    canvas.addEventListener("pointercancel", () => { this.drag = null; this.mark(); });
    canvas.addEventListener("pointerleave", (event) => { if (!this.drag && event.pointerType !== "touch") this.on.point?.(-1, this); }); // a finger leaves when it is lifted
    canvas.addEventListener("blur", () => { this.cursor = null; this.drag = null; this.on.point?.(-1, this); this.mark(); });
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas) return; // the page scrolls, unless the picture is in use
      event.preventDefault(); this.zoom(Math.exp(-event.deltaY / 300), ...at(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }
  /** Whether a finger drags; else it scrolls the page. @param {boolean} yes */
  set fingers(yes) { this.touches = yes; this.base.style.touchAction = yes ? "none" : "pan-y"; }
  /** @param {KeyboardEvent} event */
  #key(event) {
    /** @type {{[key: string]: number[]}} */ const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const way = ways[event.key];
    if (way && event.altKey && this.solid) { this.turn = turned(this.turn, way[0] * 0.15, way[1] * 0.15); this.soon(); }
    else if (way) {
      const step = event.shiftKey ? 40 : 8, [x, y] = this.cursor || [this.w / 2, this.h / 2];
      this.cursor = [Math.max(0, Math.min(this.w, x + step * way[0])), Math.max(0, Math.min(this.h, y + step * way[1]))];
      this.#move(this.cursor[0], this.cursor[1]); this.mark();
    } else if (event.key === " ") { const [x, y] = this.cursor || (this.cursor = [this.w / 2, this.h / 2]); if (this.drag) this.#end(x, y); else this.#begin(x, y); }
    else if (event.key === "Enter" && this.cursor) { this.drag = null; this.#end(this.cursor[0], this.cursor[1]); }
    else if (event.key === "+" || event.key === "=") this.zoom(1.3);
    else if (event.key === "-") this.zoom(1 / 1.3);
    else if (event.key === "0") this.reset();
    else return;
    event.preventDefault();
  }

  // Taking home -------------------------------------------------------------------------------------------------------

  /** The picture as a PNG, on the page's background. @returns {Promise<Blob | null>} */
  png() {
    const canvas = document.createElement("canvas");
    canvas.width = this.base.width; canvas.height = this.base.height;
    const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    c.fillStyle = css("--back"); c.fillRect(0, 0, canvas.width, canvas.height);
    c.drawImage(this.base, 0, 0); c.drawImage(this.above, 0, 0);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }
}

/** A rotation, turned further about the screen's axes. @param {number[]} R @param {number} x @param {number} y */
function turned(R, x, y) {
  const [cx, sx, cy, sy] = [Math.cos(x), Math.sin(x), Math.cos(y), Math.sin(y)];
  const rows = [R.slice(0, 3), R.slice(3, 6), R.slice(6, 9)];
  const about = (/** @type {number[]} */ p, /** @type {number[]} */ q, /** @type {number} */ c, /** @type {number} */ s) => [p.map((v, k) => c * v + s * q[k]), p.map((v, k) => -s * v + c * q[k])];
  [rows[0], rows[2]] = about(rows[0], rows[2], cx, sx);
  [rows[1], rows[2]] = about(rows[1], rows[2], cy, -sy);
  return rows.flat();
}
