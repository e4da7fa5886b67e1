// The item beside the pointer, small; the panel "Point" has all of it.
import { h } from "./dom.js";
import { state } from "./state.js";

const holder = h("div", { class: "tip", "aria-hidden": "true" });
holder.hidden = true;
const AWAY = 14; // pixels between the point and the item

/** @param {any[]} kids nothing hides it */
export function tip(...kids) {
  const over = state.over, at = over && kids.length && state.pointed >= 0 ? over.at(state.pointed) : [NaN, NaN];
  holder.hidden = !over || Number.isNaN(at[0]);
  if (!over || holder.hidden) return;
  if (holder.parentElement !== over.pane) over.pane.append(holder);
  const [x, y] = at, { style } = holder;
  style.left = x <= over.w / 2 ? `${x + AWAY}px` : "auto"; style.right = x > over.w / 2 ? `${over.w - x + AWAY}px` : "auto";
  style.top = y <= over.h / 2 ? `${y}px` : "auto"; style.bottom = y > over.h / 2 ? `${over.h - y}px` : "auto";
  holder.replaceChildren(...kids.filter(Boolean));
}
