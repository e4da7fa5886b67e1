{
  // The page of a report; the renderer, scatter.js, stands before this text in the same script.
  const data = JSON.parse(document.getElementById("packed").textContent);

  // Numbers -----------------------------------------------------------------------------------------------------------

  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
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

  // Pictures ----------------------------------------------------------------------------------------------------------

  let field = data.fields.find((f) => f.kind !== "text"), chosen = null, pointed = -1;
  const figures = new Map();
  for (const figure of document.querySelectorAll("figure[data-name]")) figures.set(figure.dataset.name, figure);
  for (const picture of data.pictures) {
    for (const axis of picture.axes) axis.steps = words(axis.steps);
    picture.trust = new Uint8Array(bytes(picture.trust));
    picture.figure = figures.get(picture.name);
    const on = { point: (i) => point(i, picture), choose };
    picture.scatter = new Scatter(picture.figure.querySelector(".pane"), { label: `Embedding by ${picture.name}`, on });
    picture.scatter.setAxes(picture.axes);
    if (picture.graph !== null) picture.scatter.edges = data.graphs[picture.graph].edges;
  }
  // Trust is kept as bytes, 255 for none; the scale begins at the least trust of all pictures.
  const trustSteps = (trust) => Uint16Array.from(trust, (t) => (t === 255 ? NOWHERE : Math.round((t / 254) * (NOWHERE - 1))));
  function colouringOf(picture) {
    if (field.kind === "class") return byClass(field.codes, field.names.length);
    return field.kind === "trust" ? byNumber(trustSteps(picture.trust), field.low) : byNumber(field.steps);
  }
  function redraw() {
    for (const { scatter, ...picture } of data.pictures) {
      scatter.colouring = colouringOf(picture);
      scatter.chosen = chosen;
      scatter.draw();
    }
  }

  // Pointing and choosing ---------------------------------------------------------------------------------------------

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
      if (f.kind === "text") parts.push(`${f.name} ${f.values[pointed]}`);
    }
    picture && thumbnail();
    if (picture && picture.trust[pointed] !== 255) parts.push(`trust in ${picture.name} ${short(picture.trust[pointed] / 254)}`);
    told.textContent = parts.join("; ");
  }
  const thumb = document.getElementById("thumb"), pixels = data.thumbs && new Uint8Array(bytes(data.thumbs.pixels));
  function thumbnail() {
    if (!pixels) return;
    const { height, width, channels } = data.thumbs, first = pointed * height * width * channels;
    thumb.width = width; thumb.height = height; thumb.hidden = false;
    const c = thumb.getContext("2d"), image = c.createImageData(width, height);
    for (let p = 0; p < width * height; p++) {
      for (let k = 0; k < 3; k++) image.data[4 * p + k] = pixels[first + p * channels + (channels === 3 ? k : 0)];
      image.data[4 * p + 3] = 255;
    }
    c.putImageData(image, 0, 0);
  }
  // Chosen rows as a table: their numbers, and all that is known of them.
  function chosenRows() {
    const quoted = (v) => (/[",\n\r]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v));
    const known = data.fields.filter((f) => f.kind !== "trust");
    const lines = [["row", ...known.map((f) => f.name)].map(quoted).join(",")];
    for (let i = 0; i < n; i++) {
      if (!chosen[i]) continue;
      const values = known.map((f) => (f.kind === "class" ? f.names[f.codes[i]] : f.kind === "text" ? f.values[i] : valueOf(f, i)));
      lines.push([(names ? names[i] : i) + 1, ...values].map(quoted).join(","));
    }
    return `${lines.join("\n")}\n`;
  }
  function point(i, picture) {
    if (i !== pointed) {
      pointed = i;
      for (const { scatter, graph } of data.pictures) {
        scatter.pointed = i;
        scatter.near = i < 0 || graph === null ? [] : neighbours(data.graphs[graph], i);
        scatter.mark();
      }
    }
    tell(picture);
  }
  function choose(mask) {
    chosen = mask;
    redraw(); tell(null);
    document.getElementById("free").hidden = document.getElementById("save").hidden = !chosen;
  }
  for (const { figure, scatter } of data.pictures) {
    figure.querySelector("h3 button").addEventListener("click", (event) => {
      const big = figure.classList.toggle("big");
      event.target.textContent = big ? "smaller" : "larger";
      scatter.draw();
    });
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && (chosen || pointed >= 0)) { point(-1, null); choose(null); } });

  // Controls ----------------------------------------------------------------------------------------------------------

  function legend() {
    const holder = document.getElementById("scale");
    holder.textContent = "";
    if (field.kind === "class") {
      field.names.forEach((name, code) => {
        const button = document.createElement("button"), swatch = document.createElement("canvas");
        swatch.width = swatch.height = 14;
        const c = swatch.getContext("2d"), { color, shape } = classLook(code, field.names.length);
        c.fillStyle = color; c.beginPath(); trace(c, shape, 7, 7, 5); c.fill();
        button.append(swatch, ` ${name}`);
        button.title = "choose the points of this class";
        button.addEventListener("click", () => choose(Uint8Array.from(field.codes, (v) => Number(v === code))));
        holder.append(button);
      });
      return;
    }
    const bar = document.createElement("span");
    bar.className = "bar";
    bar.style.background = gradient();
    holder.append(short(field.low), bar, short(field.high));
  }
  const by = document.getElementById("by");
  data.fields.forEach((f, i) => { if (f.kind !== "text") by.add(new Option(f.name, i)); });
  by.addEventListener("change", () => { field = data.fields[by.value]; legend(); redraw(); });
  const edges = document.getElementById("edges");
  if (!data.graphs.length) edges.parentElement.hidden = true;
  edges.addEventListener("change", () => { for (const { scatter } of data.pictures) scatter.withEdges = edges.checked; redraw(); });
  const pair = document.getElementById("axes");
  if (!data.pictures.some((p) => p.axes.length > 2)) pair.parentElement.hidden = true;
  pair.addEventListener("change", () => { for (const { scatter } of data.pictures) scatter.show = pair.value.split(",").map((k) => Math.min(Number(k), scatter.axes.length - 1)); redraw(); });
  document.getElementById("free").addEventListener("click", () => choose(null));
  document.getElementById("save").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([chosenRows()], { type: "text/csv" }));
    link.download = "chosen.csv"; link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  const tool = document.getElementById("tool");
  tool.addEventListener("change", () => { for (const { scatter } of data.pictures) { scatter.tool = tool.value; scatter.fingers = tool.value !== "rectangle"; } });
  document.getElementById("whole").addEventListener("click", () => { for (const { scatter } of data.pictures) scatter.reset(); });
  legend(); redraw();

  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    legend(); redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { legend(); redraw(); });

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
}
