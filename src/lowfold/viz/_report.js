"use strict";
(() => {
  const data = JSON.parse(document.getElementById("packed").textContent);
  const NOWHERE = 65535;
  const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
  const STEPS = 64;

  // Numbers -----------------------------------------------------------------------------------------------------------

  function bytes(text) {
    const raw = atob(text), found = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) found[i] = raw.charCodeAt(i);
    return found.buffer;
  }
  const words = (text) => new Uint16Array(bytes(text));
  const n = data.n;
  const names = data.rows === null ? null : new Uint32Array(bytes(data.rows)); // row numbers of the drawn points
  for (const field of data.fields) {
    if (field.kind === "class") field.codes = new Uint8Array(bytes(field.codes));
    if (field.kind === "number") field.steps = words(field.steps);
  }
  for (const graph of data.graphs) {
    graph.edges = n <= 65536 ? words(graph.edges) : new Uint32Array(bytes(graph.edges));
    graph.near = null;
  }
  const valueOf = (field, i) =>
    field.steps[i] === NOWHERE ? NaN : field.low + (field.steps[i] / (NOWHERE - 1)) * (field.high - field.low);
  const short = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(4))) : "-");

  function neighbours(graph, i) {
    if (!graph.near) {
      graph.near = Array.from({ length: n }, () => []);
      for (let e = 0; e < graph.edges.length; e += 2) {
        graph.near[graph.edges[e]].push(graph.edges[e + 1]);
        graph.near[graph.edges[e + 1]].push(graph.edges[e]);
      }
    }
    return graph.near[i];
  }

  // Colours -----------------------------------------------------------------------------------------------------------

  function hex(a) { return [1, 3, 5].map((k) => parseInt(a.slice(k, k + 2), 16)); }
  const scale = Array.from({ length: STEPS }, (_, s) => {
    const at = (s / (STEPS - 1)) * (VIRIDIS.length - 1), k = Math.min(VIRIDIS.length - 2, Math.floor(at)), t = at - k;
    const a = hex(VIRIDIS[k]), b = hex(VIRIDIS[k + 1]);
    return `rgb(${a.map((v, c) => Math.round(v + t * (b[c] - v))).join(",")})`;
  });
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  let field = data.fields[0];
  const palette = (f) => data.palettes[f.names.length <= data.palettes[0].length ? 0 : 1];

  // Every point's group in one picture: points of a group are drawn alike. -1 has no value, -2 no place.
  function groupsOf(picture) {
    const groups = new Int16Array(n);
    for (let i = 0; i < n; i++) {
      if (field.kind === "class") groups[i] = field.codes[i];
      else if (field.kind === "trust") {
        const t = picture.trust[i];
        groups[i] = t === 255 ? -1 : Math.max(0, Math.min(STEPS - 1, Math.floor(((t / 254 - field.low) / (1 - field.low)) * STEPS)));
      } else groups[i] = field.steps[i] === NOWHERE ? -1 : Math.min(STEPS - 1, Math.floor((field.steps[i] / NOWHERE) * STEPS));
    }
    return groups;
  }
  function look(group) {
    if (group < 0) return { color: css("--soft"), shape: 0 };
    if (field.kind !== "class") return { color: scale[group], shape: 0 };
    const colors = palette(field);
    return { color: colors[group % colors.length], shape: Math.floor(group / colors.length) % 5 };
  }
  // circle, triangle, square, diamond, triangle downwards
  function trace(c, shape, x, y, r) {
    if (shape === 0 && r < 1.5) c.rect(x - r, y - r, 2 * r, 2 * r); // too small to be seen round
    else if (shape === 0) { c.moveTo(x + r, y); c.arc(x, y, r, 0, 6.2832); }
    else if (shape === 2) c.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
    else {
      const at = shape === 3 ? [0, -1.3, 1.3, 0, 0, 1.3, -1.3, 0] : shape === 1 ? [0, -1.2, 1.1, 0.8, -1.1, 0.8] : [0, 1.2, 1.1, -0.8, -1.1, -0.8];
      c.moveTo(x + at[0] * r, y + at[1] * r);
      for (let k = 2; k < at.length; k += 2) c.lineTo(x + at[k] * r, y + at[k + 1] * r);
      c.closePath();
    }
  }

  // Pictures ----------------------------------------------------------------------------------------------------------

  let chosen = null; // Uint8Array of selected points, or null
  let pointed = -1;
  let axes = [0, 1];
  let withEdges = false;
  const figures = new Map();
  for (const figure of document.querySelectorAll("figure[data-name]")) figures.set(figure.dataset.name, figure);
  for (const picture of data.pictures) {
    for (const axis of picture.axes) axis.steps = words(axis.steps);
    picture.trust = new Uint8Array(bytes(picture.trust));
    picture.figure = figures.get(picture.name);
    picture.pane = picture.figure.querySelector(".pane");
    [picture.base, picture.above] = ["base", "above"].map((name) => {
      const canvas = document.createElement("canvas");
      canvas.className = name;
      picture.pane.append(canvas);
      return canvas;
    });
    picture.base.tabIndex = 0;
    picture.base.setAttribute("role", "img");
    picture.base.setAttribute("aria-label", `Embedding by ${picture.name}, ${n} points. Arrow keys step through the points.`);
  }

  function place(picture) {
    const box = picture.pane.getBoundingClientRect(), ratio = Math.min(window.devicePixelRatio || 1, 2);
    const w = Math.max(1, box.width), h = Math.max(1, box.height);
    for (const canvas of [picture.base, picture.above]) { canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio); }
    const [a, b] = axes.map((k) => picture.axes[Math.min(k, picture.axes.length - 1)]);
    const sides = [a.high - a.low, b.high - b.low], room = [w - 20, h - 20];
    let unit = [room[0] / sides[0], room[1] / sides[1]];
    if (Math.max(...sides) <= 8 * Math.min(...sides)) unit = [Math.min(...unit), Math.min(...unit)]; // distances mean something
    const x = new Float32Array(n), y = new Float32Array(n), top = NOWHERE - 1;
    const x0 = (w - unit[0] * sides[0]) / 2, y0 = (h + unit[1] * sides[1]) / 2;
    for (let i = 0; i < n; i++) {
      const gone = a.steps[i] === NOWHERE || b.steps[i] === NOWHERE;
      x[i] = gone ? NaN : x0 + (a.steps[i] / top) * sides[0] * unit[0];
      y[i] = gone ? NaN : y0 - (b.steps[i] / top) * sides[1] * unit[1];
    }
    Object.assign(picture, { x, y, w, h, ratio, cells: null, size: Math.max(1.1, Math.min(3.4, Math.sqrt((w * h) / n) / 5)) });
  }

  function draw(picture) {
    if (!picture.x) place(picture);
    const c = picture.base.getContext("2d"), { x, y, size } = picture;
    c.setTransform(picture.ratio, 0, 0, picture.ratio, 0, 0);
    c.clearRect(0, 0, picture.w, picture.h);
    if (withEdges && picture.graph !== null) {
      const edges = data.graphs[picture.graph].edges;
      c.beginPath();
      for (let e = 0; e < edges.length; e += 2) {
        if (!Number.isNaN(x[edges[e]]) && !Number.isNaN(x[edges[e + 1]])) { c.moveTo(x[edges[e]], y[edges[e]]); c.lineTo(x[edges[e + 1]], y[edges[e + 1]]); }
      }
      c.strokeStyle = css("--edge"); c.lineWidth = 0.7; c.stroke();
    }
    const groups = groupsOf(picture), members = new Map();
    for (let i = 0; i < n; i++) {
      if (Number.isNaN(x[i])) continue;
      const key = groups[i] + (chosen && !chosen[i] ? 1000 : 0);
      if (!members.has(key)) members.set(key, []);
      members.get(key).push(i);
    }
    const order = [...members.keys()].sort((a, b) => (b >= 900) - (a >= 900) || a - b); // those not chosen lie below
    for (const key of order) {
      const faint = key >= 900, { color, shape } = look(faint ? key - 1000 : key);
      c.globalAlpha = faint ? 0.1 : n > 3000 ? 0.75 : 0.9;
      c.fillStyle = color;
      c.beginPath();
      for (const i of members.get(key)) trace(c, shape, x[i], y[i], size);
      c.fill();
    }
    c.globalAlpha = 1;
    mark(picture);
  }

  function mark(picture) {
    if (!picture.x) return;
    const c = picture.above.getContext("2d"), { x, y, size } = picture, color = css("--mark");
    c.setTransform(picture.ratio, 0, 0, picture.ratio, 0, 0);
    c.clearRect(0, 0, picture.w, picture.h);
    if (picture.brush) {
      const [x0, y0, x1, y1] = picture.brush;
      c.setLineDash([4, 3]); c.strokeStyle = color; c.strokeRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0)); c.setLineDash([]);
    }
    if (pointed < 0 || Number.isNaN(x[pointed])) return;
    c.strokeStyle = color;
    if (picture.graph !== null) {
      c.lineWidth = 1; c.beginPath();
      for (const j of neighbours(data.graphs[picture.graph], pointed)) { c.moveTo(x[pointed], y[pointed]); c.lineTo(x[j], y[j]); }
      c.stroke();
    }
    c.lineWidth = 2.5; c.beginPath(); c.arc(x[pointed], y[pointed], size + 4, 0, 6.2832); c.stroke();
    c.fillStyle = look(groupsOf(picture)[pointed]).color; c.beginPath(); c.arc(x[pointed], y[pointed], size + 1, 0, 6.2832); c.fill();
  }

  function redraw(again) {
    for (const picture of data.pictures) {
      if (again) picture.x = null;
      draw(picture);
    }
  }
  const remark = () => data.pictures.forEach(mark);
  const sizes = new ResizeObserver((entries) => {
    for (const entry of entries) {
      const picture = data.pictures.find((p) => p.pane === entry.target);
      if (picture.x && (Math.abs(entry.contentRect.width - picture.w) > 2.5 || Math.abs(entry.contentRect.height - picture.h) > 2.5)) {
        picture.x = null;
        draw(picture);
      }
    }
  });
  redraw(true);
  for (const picture of data.pictures) sizes.observe(picture.pane);

  // Pointing and choosing ---------------------------------------------------------------------------------------------

  const CELL = 14;
  function nearest(picture, px, py) {
    if (!picture.cells) {
      picture.cells = new Map();
      for (let i = 0; i < n; i++) {
        if (Number.isNaN(picture.x[i])) continue;
        const key = Math.floor(picture.x[i] / CELL) * 100000 + Math.floor(picture.y[i] / CELL);
        if (!picture.cells.has(key)) picture.cells.set(key, []);
        picture.cells.get(key).push(i);
      }
    }
    let best = -1, least = CELL * CELL;
    const cx = Math.floor(px / CELL), cy = Math.floor(py / CELL);
    for (let a = cx - 1; a <= cx + 1; a++) for (let b = cy - 1; b <= cy + 1; b++)
      for (const i of picture.cells.get(a * 100000 + b) || []) {
        const d = (picture.x[i] - px) ** 2 + (picture.y[i] - py) ** 2;
        if (d < least) { least = d; best = i; }
      }
    return best;
  }

  const told = document.getElementById("told");
  const usual = told.textContent;
  function tell(picture) {
    if (pointed < 0) {
      const count = chosen ? chosen.reduce((a, b) => a + b, 0) : 0;
      told.textContent = chosen ? `${count} of ${n} points chosen; Escape or a click beside the points lets them go.` : usual;
      return;
    }
    const parts = [`row ${(names ? names[pointed] : pointed) + 1}`];
    for (const f of data.fields) {
      if (f.kind === "class") parts.push(`${f.name} ${f.names[f.codes[pointed]]}`);
      if (f.kind === "number") parts.push(`${f.name} ${short(valueOf(f, pointed))}`);
    }
    if (picture && picture.trust[pointed] !== 255) parts.push(`trust in ${picture.name} ${short(picture.trust[pointed] / 254)}`);
    told.textContent = parts.join("; ");
  }
  function point(i, picture) { if (i !== pointed) { pointed = i; remark(); } tell(picture); }
  function choose(points) {
    chosen = null;
    if (points.length) { chosen = new Uint8Array(n); for (const i of points) chosen[i] = 1; }
    redraw(false); tell(null);
    document.getElementById("free").hidden = !chosen;
  }

  for (const picture of data.pictures) {
    const canvas = picture.base;
    const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    let start = null;
    canvas.addEventListener("pointerdown", (event) => {
      start = at(event);
      if (event.pointerType !== "touch") canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const here = at(event);
      if (start && event.pointerType !== "touch") { picture.brush = [...start, ...here]; mark(picture); }
      else point(nearest(picture, ...here), picture);
    });
    canvas.addEventListener("pointerup", (event) => {
      const here = at(event), from = start || here;
      start = null; picture.brush = null;
      if (Math.abs(here[0] - from[0]) + Math.abs(here[1] - from[1]) < 6) {
        const i = nearest(picture, ...here);
        point(i, picture);
        if (i < 0) choose([]);
        else if (event.pointerType !== "touch") choose([i]);
        return;
      }
      const inside = [], [x0, x1] = [from[0], here[0]].sort((a, b) => a - b), [y0, y1] = [from[1], here[1]].sort((a, b) => a - b);
      for (let i = 0; i < n; i++) if (picture.x[i] >= x0 && picture.x[i] <= x1 && picture.y[i] >= y0 && picture.y[i] <= y1) inside.push(i);
      choose(inside);
    });
    canvas.addEventListener("pointercancel", () => { start = null; picture.brush = null; mark(picture); });
    canvas.addEventListener("pointerleave", () => { if (!start) point(-1, picture); });
    canvas.addEventListener("blur", () => point(-1, picture));
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step) { event.preventDefault(); point((Math.max(pointed, step > 0 ? -1 : 0) + step + n) % n, picture); }
      if (event.key === "Enter" && pointed >= 0) choose([pointed]);
    });
    picture.figure.querySelector("h3 button").addEventListener("click", (event) => {
      const big = picture.figure.classList.toggle("big");
      event.target.textContent = big ? "smaller" : "larger";
      picture.x = null; draw(picture);
    });
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && (chosen || pointed >= 0)) { pointed = -1; choose([]); remark(); } });

  // Controls ----------------------------------------------------------------------------------------------------------

  function legend() {
    const holder = document.getElementById("scale");
    holder.textContent = "";
    if (field.kind === "class") {
      field.names.forEach((name, code) => {
        const button = document.createElement("button"), swatch = document.createElement("canvas");
        swatch.width = swatch.height = 14;
        const c = swatch.getContext("2d"), { color, shape } = look(code);
        c.fillStyle = color; c.beginPath(); trace(c, shape, 7, 7, 5); c.fill();
        button.append(swatch, ` ${name}`);
        button.title = "choose the points of this class";
        button.addEventListener("click", () => choose([...field.codes.keys()].filter((i) => field.codes[i] === code)));
        holder.append(button);
      });
      return;
    }
    const bar = document.createElement("span");
    bar.className = "bar";
    bar.style.background = `linear-gradient(to right, ${VIRIDIS.join(",")})`;
    holder.append(short(field.low), bar, short(field.high));
  }
  const by = document.getElementById("by");
  data.fields.forEach((f, i) => by.add(new Option(f.name, i)));
  by.addEventListener("change", () => { field = data.fields[by.value]; legend(); redraw(false); });
  const edges = document.getElementById("edges");
  if (!data.graphs.length) edges.parentElement.hidden = true;
  edges.addEventListener("change", () => { withEdges = edges.checked; redraw(false); });
  const pair = document.getElementById("axes");
  if (!data.pictures.some((p) => p.axes.length > 2)) pair.parentElement.hidden = true;
  pair.addEventListener("change", () => { axes = pair.value.split(",").map(Number); redraw(true); });
  document.getElementById("free").addEventListener("click", () => choose([]));
  legend();

  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    redraw(false);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw(false));

  // The table: a click on a heading sorts, and the pictures follow ----------------------------------------------------

  const table = document.getElementById("ranking"), body = table.tBodies[0];
  const number = (row, k) => { const v = row.cells[k].dataset.v; return v === undefined || v === "" ? null : v; };
  table.tHead.querySelectorAll("button").forEach((button) => {
    const heading = button.closest("th"), k = heading.cellIndex;
    button.addEventListener("click", () => {
      const now = heading.getAttribute("aria-sort");
      const first = heading.dataset.first || "ascending", other = first === "ascending" ? "descending" : "ascending";
      const next = now === first ? other : first;
      table.tHead.querySelectorAll("th").forEach((h) => h.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", next);
      const sign = next === "ascending" ? 1 : -1;
      const key = (row) => (row.classList.contains("failed") ? null : number(row, k));
      const rows = [...body.rows].sort((a, b) => {
        const x = key(a), y = key(b);
        if (x === null || y === null) return (x === null) - (y === null); // without a value: at the end
        return sign * (k === 0 ? x.localeCompare(y) : Number(x) - Number(y));
      });
      body.append(...rows);
      const holder = document.querySelector(".pictures");
      for (const row of rows) { const figure = figures.get(row.dataset.name); if (figure) holder.append(figure); }
    });
  });

  // Curves: pointing at a name brings its line out
  for (const list of document.querySelectorAll(".legend")) {
    const svg = list.parentElement.querySelector("svg.curves");
    const show = (name) => {
      svg.classList.toggle("dim", name !== null);
      svg.querySelectorAll("path").forEach((p) => p.classList.toggle("on", p.dataset.name === name));
    };
    for (const item of list.children) {
      for (const kind of ["pointerenter", "focus"]) item.addEventListener(kind, () => show(item.dataset.name));
      for (const kind of ["pointerleave", "blur"]) item.addEventListener(kind, () => show(null));
    }
  }
  document.documentElement.dataset.ready = "yes";
})();
