// @ts-check
/** @typedef {{t: string, id: string, [key: string]: any}} Message  an answer or an undo */
/** @typedef {{key: string, message: Message, sent: boolean}} Entry  sent: on the present socket */

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
    this.#prefix = `tiebreak.outbox.${name}.`;
    this.#storage = storage;
    for (const key of this.#keys()) {
      const message = parse(storage?.getItem(key));
      if (message) this.entries.push({ key, message, sent: false });
      else storage?.removeItem(key);
    }
  }

  /** Whether entries outlive the page. */
  get durable() {
    return this.#storage !== null;
  }

  get size() {
    return this.entries.length;
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
    this.entries.push({ key, message: m, sent: false });
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

  #keys() {
    return Object.keys(this.#storage ?? {}).filter((k) => k.startsWith(this.#prefix)).sort();
  }
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
