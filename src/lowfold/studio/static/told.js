// Words for the person, at the bottom of the page.
import { get, h, paint } from "./dom.js";

/** @type {any} */ let timer;
/** @param {string} words @param {boolean} [passing] goes by itself */
export function tell(words, passing = false) {
  clearTimeout(timer);
  const holder = get("told");
  paint(holder, words ? [h("p", null, words), h("button", { type: "button", id: "told-close", onclick: () => tell("") }, "Close")] : null);
  holder.className = words ? (passing ? "on passing" : "on") : "";
  if (passing && words) timer = setTimeout(() => tell(""), 4000);
}
/** Do something that may be refused; the words are shown. @template T @param {() => Promise<T>} work @returns {Promise<T | undefined>} */
export async function attempt(work) {
  try { return await work(); } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    if (words !== "stopped") tell(words);
    return undefined;
  }
}
