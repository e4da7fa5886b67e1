// Elements, and numbers as a reader wants them.

/** @typedef {Node | string | number | null | undefined | false | any[]} Kid */

/** An element: `on…` are listeners, `data-…`/`aria-…` attributes, anything else a property or attribute.
 * @param {string} tag @param {{[name: string]: any} | null} [props] @param {...(Kid | Kid[])} kids @returns {any} */
export function h(tag, props, ...kids) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name in element && !name.includes("-") && name !== "list") /** @type {any} */ (element)[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...nodes(kids));
  return element;
}
/** @param {any[]} kids @returns {(Node | string)[]} */
const nodes = (kids) => kids.flat(4).filter((kid) => kid !== null && kid !== undefined && kid !== false && kid !== "").map((kid) => (kid instanceof Node ? kid : String(kid)));

// A button that is replaced between press and release never hears the click, and a field that is replaced
// while somebody types in it loses its place: painting waits until the press or the typing is over.
/** @type {Element | null} */ let pressed = null;
/** @type {Map<HTMLElement, Kid[]>} */ const late = new Map();
addEventListener("pointerdown", (event) => { pressed = event.target instanceof Element ? event.target : null; }, true);
const caughtUp = () => { for (const [holder, kids] of [...late]) { late.delete(holder); paint(holder, ...kids); } };
for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => setTimeout(() => { pressed = null; caughtUp(); }), true);
addEventListener("focusout", () => setTimeout(caughtUp));
/** Whether somebody is typing in there; a search field asks for the painting itself. @param {HTMLElement} holder */
const typing = (holder) => document.activeElement instanceof HTMLInputElement && /text|number/.test(document.activeElement.type) && holder.contains(document.activeElement);

/** Replace what an element holds; the focus stays on the element of the same id, the scroll where it was.
 * @param {HTMLElement} holder @param {...(Kid | Kid[])} kids */
export function paint(holder, ...kids) {
  if ((pressed && holder.contains(pressed)) || typing(holder)) { late.set(holder, /** @type {Kid[]} */ (kids)); return; }
  late.delete(holder);
  const focused = document.activeElement, id = focused && holder.contains(focused) ? focused.id : "";
  const at = focused instanceof HTMLInputElement && /text|search/.test(focused.type) ? focused.selectionStart : null;
  const open = new Map([...holder.querySelectorAll("details[id]")].map((d) => [d.id, /** @type {HTMLDetailsElement} */ (d).open]));
  const top = holder.scrollTop;
  holder.replaceChildren(...nodes(kids));
  for (const [name, was] of open) { const d = /** @type {HTMLDetailsElement | null} */ (holder.querySelector(`#${CSS.escape(name)}`)); if (d) d.open = was; }
  holder.scrollTop = top;
  if (!id) return;
  const again = document.getElementById(id);
  if (again) { again.focus({ preventScroll: true }); if (at !== null && again instanceof HTMLInputElement) again.setSelectionRange(at, at); }
}
/** @param {string} id @returns {HTMLElement} */
export const get = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {number | null | undefined} x @param {number} [digits] */
export const short = (x, digits = 4) => (x === null || x === undefined || !Number.isFinite(x) ? "-" : String(Number(x.toPrecision(digits))));
/** @param {number} n */
export const count = (n) => n.toLocaleString("en");
/** @param {number} n */
export function bytes(n) {
  for (const unit of ["B", "kB", "MB", "GB"]) { if (n < 1000) return `${unit === "B" ? Math.round(n) : n.toFixed(1)} ${unit}`; n /= 1000; }
  return `${n.toFixed(1)} TB`;
}
/** @param {number} s */
export const seconds = (s) => (s < 0.01 ? "<0.01 s" : s < 10 ? `${s.toFixed(2)} s` : s < 100 ? `${s.toFixed(1)} s` : `${Math.round(s)} s`);

/** Wait until the calls cease. @param {(...a: any[]) => void} work @param {number} ms */
export function calm(work, ms) {
  /** @type {any} */ let timer;
  return (/** @type {any[]} */ ...args) => { clearTimeout(timer); timer = setTimeout(() => work(...args), ms); };
}
