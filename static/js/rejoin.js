// @ts-check
const PREFIX = "tiebreak.rejoin.";

/**
 * @typedef {object} Remembered  an annotator that this browser was
 * @property {string} session
 * @property {string} annotator
 * @property {string} name may be empty
 * @property {string} title of the session
 * @property {string} key signs in the same annotator again
 * @property {number} at of the last visit, ms on Date.now()'s clock
 */

/**
 * The annotators that this browser was, the latest first.
 * @param {Storage|null} storage
 * @param {string} [session] of this session only
 * @returns {Remembered[]}
 */
export function remembered(storage, session = "") {
  return Object.keys(storage ?? {}).filter((k) => k.startsWith(PREFIX))
    .map((k) => parse(storage?.getItem(k)))
    .filter((r) => r !== null && (session === "" || r.session === session))
    .map((r) => /** @type {Remembered} */ (r))
    .sort((a, b) => b.at - a.at);
}

/** How people call an annotator. @param {{annotator: string, name?: string}} r */
export function called({ annotator, name }) {
  return name ? `${name} (${annotator})` : `annotator ${annotator}`;
}

/**
 * Asks the server for a key of the annotator that this browser is, or renews
 * the one that is here.
 * @param {Storage|null} storage
 * @param {{session: string, annotator: string, title: string}} page
 */
export async function keepKey(storage, { session, annotator, title }) {
  const held = remembered(storage, session).find((r) => r.annotator === annotator)?.key ?? "";
  const reply = await post(session, "key", held);
  if (reply?.status !== 200) return; // the next visit asks again
  /** @type {import("./wire.js").Key} */ const got = await reply.json();
  const key = got.key || held;
  if (got.annotator !== annotator || !key) return; // the browser is somebody else by now
  store(storage, { session, annotator, name: got.name, title, key, at: Date.now() });
}

/**
 * Makes this browser the annotator again. It returns the status of the reply,
 * 0 if there was none; 200 is success, and after 403 the key is forgotten.
 * @param {Storage|null} storage
 * @param {Remembered} r
 */
export async function rejoin(storage, r) {
  const reply = await post(r.session, "rejoin", r.key);
  if (reply?.status === 403) storage?.removeItem(name(r));
  if (reply?.status === 200) store(storage, { ...r, at: Date.now() });
  return reply?.status ?? 0;
}

/** @param {Remembered} r */
const name = (r) => `${PREFIX}${r.session}.${r.annotator}`;

/**
 * @param {Storage|null} storage
 * @param {Remembered} r
 */
function store(storage, r) {
  try {
    storage?.setItem(name(r), JSON.stringify(r));
  } catch {
    // full or forbidden: the login itself still works
  }
}

/**
 * @param {string} session
 * @param {string} what
 * @param {string} key
 * @returns {Promise<Response|null>} null if the server does not answer
 */
function post(session, what, key) {
  const url = `/sessions/${encodeURIComponent(session)}/${what}`;
  return fetch(url, { method: "POST", body: new URLSearchParams({ key }), credentials: "same-origin" }).catch(() => null);
}

/**
 * @param {string|null|undefined} text
 * @returns {Remembered|null}
 */
function parse(text) {
  try {
    const r = JSON.parse(text ?? "");
    return [r?.session, r?.annotator, r?.key].every((v) => typeof v === "string" && v !== "") ? r : null;
  } catch {
    return null;
  }
}
