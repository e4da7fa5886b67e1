// Which of the three parts a narrow window shows.

/** @param {string} name "left", "centre" or "right" */
export function view(name) {
  document.body.dataset.view = name;
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#views button"))) one.setAttribute("aria-current", String(one.dataset.view === name));
}
