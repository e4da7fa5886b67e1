// The WebSocket for commands and events, and what is fetched: columns, rows, uploads.

/** @typedef {import("./protocol.js").AnyEvent} AnyEvent */
/** @typedef {import("./protocol.js").Column} Column */

let number = 0;
/** @type {Map<number, {done: (result: any) => void, failed: (error: Error) => void}>} */
const asked = new Map();
/** @type {WebSocket | null} */ let socket = null;

/** @param {(event: AnyEvent) => void} hear @param {(there: boolean) => void} state */
export function connect(hear, state) {
  const now = new WebSocket(`ws://${location.host}/ws`);
  socket = now;
  now.onopen = () => state(true);
  now.onmessage = (message) => {
    /** @type {AnyEvent} */ const event = JSON.parse(message.data);
    if (event.say === "answer" || (event.say === "refused" && event.id)) {
      const waiting = asked.get(event.id);
      asked.delete(event.id);
      if (event.say === "answer") waiting?.done(event.result);
      else waiting?.failed(new Error(event.words));
    } else hear(event);
  };
  now.onclose = () => {
    for (const one of asked.values()) one.failed(new Error("the studio has been closed"));
    asked.clear(); state(false);
    setTimeout(() => connect(hear, state), 1500);
  };
}
/** Send a command; its result, or an Error in words. @param {string} what @param {{[field: string]: any}} [fields] @returns {Promise<any>} */
export function send(what, fields = {}) {
  return new Promise((done, failed) => {
    if (!socket || socket.readyState !== 1) { failed(new Error("the studio has been closed; start it again")); return; }
    asked.set(++number, { done, failed });
    socket.send(JSON.stringify({ do: what, id: number, ...fields }));
  });
}

/** @type {Map<string, Promise<any>>} */ const columns = new Map();
const KEPT = 80;
/** The numbers of a column: Uint16Array of steps, Uint8Array of codes, Uint32Array of pairs. @param {Column} one @returns {Promise<any>} */
export function numbers(one) {
  let found = columns.get(one.hash);
  if (!found) {
    found = fetch(`/col/${one.hash}`).then(async (answer) => {
      if (!answer.ok) throw new Error("a column is not there any more");
      const raw = await answer.arrayBuffer();
      return one.kind === "steps" ? new Uint16Array(raw) : one.kind === "codes" ? new Uint8Array(raw) : new Uint32Array(raw);
    });
    found.catch(() => columns.delete(one.hash));
  } else columns.delete(one.hash);
  columns.set(one.hash, found);
  if (columns.size > KEPT) columns.delete(/** @type {string} */ (columns.keys().next().value));
  return found;
}
/** One row of the data. @param {string} data @param {number} row @returns {Promise<Float32Array>} */
export const row = (data, row) => fetch(`/item/${data}/${row}`).then(async (answer) => new Float32Array(await answer.arrayBuffer()));

/** Send files; the name of the upload. @param {{file: File, name: string}[]} list @param {(share: number) => void} progress @returns {Promise<string>} */
export async function upload(list, progress) {
  const { batch } = await send("batch");
  let sent = 0;
  for (const { file, name } of list) {
    const answer = await fetch(`/upload/${batch}`, { method: "POST", body: file, headers: { "X-Name": encodeURIComponent(name) } });
    if (!answer.ok) throw new Error(await answer.text());
    progress(++sent / list.length);
  }
  return batch;
}
