// @ts-check
/** @typedef {import("./wire.js").Answer | import("./wire.js").Undo} Message */
/**
 * @typedef {object} Entry
 * @property {string} key in the storage
 * @property {Message} message
 * @property {boolean} adopted it was found in the storage: an earlier visit or another tab gave it
 * @property {boolean} sent on the present socket
 * @property {boolean} tried it may have reached the server: it went out on some socket, or was adopted
 * @property {string} refused why the server will not record it; "" while it may. It stays until somebody has seen to it.
 */

const PREFIX = "tiebreak.outbox.";

/**
 * Keeps what was not acknowledged, in order, through reloads and restarts of
 * the browser. Each entry has a key of its own in the storage, so that two tabs
 * do not overwrite one another; where both send the same entry, the server
 * knows its id and records it once.
 */
export class Outbox {
  #prefix;
  #storage;
  /** @type {Entry[]} */ entries = [];
  #count = 0;

  /**
   * @param {string} name one for a session and an annotator
   * @param {Storage|null} storage null keeps entries in memory only
   */
  constructor(name, storage) {
    this.#prefix = `${PREFIX}${name}.`;
    this.#storage = storage;
    this.adopt();
  }

  /** Takes in what other tabs and earlier visits left in the storage. */
  adopt() {
    this.release();
    for (const key of keys(this.#storage, this.#prefix)) {
      if (this.entries.some((e) => e.key === key)) continue;
      const message = parse(this.#storage?.getItem(key));
      if (message) this.entries.push({ key, message, adopted: true, sent: false, tried: true, refused: "" });
      else this.#storage?.removeItem(key);
    }
  }

  /** Lets go of what was taken in and is gone from the storage: another tab saw it acknowledged, or it was taken back there. */
  release() {
    const storage = this.#storage;
    if (storage) this.entries = this.entries.filter((e) => !e.adopted || storage.getItem(e.key) !== null);
  }

  /** Whether entries outlive the page. */
  get durable() {
    return this.#storage !== null;
  }

  get size() {
    return this.entries.length;
  }

  /** Entries that are still to be sent, or to be acknowledged. */
  get pending() {
    return this.entries.filter((e) => !e.refused);
  }

  get refused() {
    return this.entries.filter((e) => e.refused);
  }

  /** @returns {string[]} */
  ids() {
    return this.entries.map((e) => e.message.id);
  }

  /**
   * Adds m at the end. It is in the storage when add returns.
   * @param {Message} m
   */
  add(m) {
    const key = this.#prefix + String(Date.now()).padStart(15, "0") + String(this.#count++).padStart(6, "0") + m.id;
    try {
      this.#storage?.setItem(key, JSON.stringify(m));
    } catch {
      this.#storage = null; // full or forbidden
    }
    this.entries.push({ key, message: m, adopted: false, sent: false, tried: false, refused: "" });
  }

  /**
   * Removes the entry with that id and returns it, if there is one.
   * @param {string} id
   * @returns {Entry|undefined}
   */
  remove(id) {
    const i = this.entries.findIndex((e) => e.message.id === id);
    if (i < 0) return undefined;
    const [entry] = this.entries.splice(i, 1);
    this.#storage?.removeItem(entry.key);
    return entry;
  }

  /** Marks all as not sent: the socket they went out on is gone. */
  rewind() {
    for (const e of this.entries) e.sent = false;
  }
}

/**
 * @param {Storage|null} storage
 * @param {string} prefix
 */
function keys(storage, prefix) {
  return Object.keys(storage ?? {}).filter((k) => k.startsWith(prefix)).sort();
}

/**
 * What lies in the outboxes of a session, by the annotator who gave it.
 * @param {Storage|null} storage
 * @param {string} session
 * @returns {{annotator: string, keys: string[], messages: Message[]}[]}
 */
export function left(storage, session) {
  const prefix = `${PREFIX}${session}.`;
  /** @type {Map<string, {annotator: string, keys: string[], messages: Message[]}>} */ const groups = new Map();
  for (const key of keys(storage, prefix)) {
    const annotator = /^([^.]+)\.\d{21}/.exec(key.slice(prefix.length))?.[1];
    const message = parse(storage?.getItem(key));
    if (!annotator || !message) continue;
    const group = groups.get(annotator) ?? { annotator, keys: [], messages: [] };
    groups.set(annotator, group);
    group.keys.push(key);
    group.messages.push(message);
  }
  return [...groups.values()];
}

/**
 * The browser's storage for this site, or null where it is switched off.
 * @returns {Storage|null}
 */
export function storage() {
  try {
    localStorage.setItem("tiebreak.probe", "1");
    localStorage.removeItem("tiebreak.probe");
    return localStorage;
  } catch {
    return null;
  }
}

/**
 * @param {string|null|undefined} text
 * @returns {Message|null}
 */
function parse(text) {
  try {
    const m = JSON.parse(text ?? "");
    return typeof m?.id === "string" && typeof m?.t === "string" ? m : null;
  } catch {
    return null;
  }
}

/**
 * Removes what the browser keeps of a session: unsent answers, questions, the key by which
 * it signs in again, and what was seen.
 * @param {Storage|null} storage
 * @param {string} session
 */
export function forget(storage, session) {
  for (const key of Object.keys(storage ?? {})) {
    if (key.startsWith("tiebreak.") && key.split(".").includes(session)) storage?.removeItem(key);
  }
}
