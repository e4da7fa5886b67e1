// The notebook's side of `lowfold.viz.widget`; the renderer, scatter.js, stands before this text.
const unpacked = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;

export default {
  render({ model, el }) {
    const pane = document.createElement("div"), told = document.createElement("div");
    pane.style.cssText = `position:relative;height:${model.get("height")}px;max-width:${model.get("height") * 1.4}px`;
    told.style.cssText = "font:13px system-ui,sans-serif;min-height:1.4em;opacity:.8";
    const bar = document.createElement("div");
    for (const tool of ["rectangle", "lasso", "move"]) {
      const button = document.createElement("button");
      button.textContent = tool;
      button.addEventListener("click", () => { scatter.tool = tool; scatter.mark(); });
      bar.append(button, " ");
    }
    el.append(bar, pane, told);
    const field = model.get("field"), n = model.get("n");
    const scatter = new Scatter(pane, {
      label: model.get("title"),
      on: {
        point: (i) => { scatter.pointed = i; scatter.mark(); told.textContent = i < 0 ? "" : `row ${i}${field.names ? `, ${field.names[scatter.colouring.groups[i]]}` : ""}`; },
        choose: (mask) => {
          scatter.chosen = mask; scatter.soon();
          const rows = [];
          if (mask) mask.forEach((v, i) => { if (v) rows.push(i); });
          model.set("chosen", rows); model.save_changes();
          told.textContent = mask ? `${rows.length} of ${n} chosen` : "";
        },
      },
    });
    for (const canvas of [scatter.base, scatter.above]) canvas.style.cssText = "position:absolute;inset:0;width:100%;height:100%";
    scatter.above.style.pointerEvents = "none";
    scatter.setAxes(model.get("axes").map((axis) => ({ ...axis, steps: new Uint16Array(unpacked(axis.steps)) })));
    if (scatter.axes.length > 2) { scatter.solid = true; scatter.tool = "move"; }
    scatter.colouring = field.kind === "class" ? byClass(new Uint8Array(unpacked(field.codes)), field.names.length) : field.kind === "number" ? byNumber(new Uint16Array(unpacked(field.steps))) : plain(n);
    scatter.soon();
    model.on("change:chosen", () => {
      const rows = model.get("chosen");
      scatter.chosen = rows.length ? Uint8Array.from({ length: n }) : null;
      for (const i of rows) scatter.chosen[i] = 1;
      scatter.soon();
    });
    return () => scatter.remove();
  },
};
