// @ts-check
const PREFIX = "tiebreak.questions.";
const LATE = 2 * 3_600_000; // ms after the end of a lease for which a question may still be asked: late answers are taken and marked

/** @typedef {import("./wire.js").Query} Query */
/** @typedef {import("./wire.js").Status} Status */
/** @typedef {{status: Status, queries: Query[]}} Kept */

/**
 * Keeps the questions that this annotator holds, so that a page which is opened while the
 * server is away can ask them. Their clips are the service worker's (offline.js).
 */
export class KeptQuestions {
  #key;
  #storage;
  /** @type {Map<string, Query>} */ #queries = new Map();
  #last = ""; // what was stored last

  /**
   * @param {string} name one for a session and an annotator
   * @param {Storage|null} storage
   */
  constructor(name, storage) {
    this.#key = PREFIX + name;
    this.#storage = storage;
  }

  /** @param {Query} q that the server sent */
  add(q) {
    this.#queries.set(q.assignment, q);
  }

  /**
   * Stores the questions that are open, and returns the addresses of their clips if they
   * are others than before, else null.
   * @param {Status} status
   */
  keep(status) {
    const open = status.open ?? [];
    for (const id of this.#queries.keys()) if (!open.includes(id)) this.#queries.delete(id);
    const queries = open.map((id) => this.#queries.get(id)).filter((q) => q !== undefined);
    const text = JSON.stringify({ status: { ...status, open: queries.map((q) => q.assignment) }, queries });
    if (text === this.#last) return null;
    this.#last = text;
    try {
      this.#storage?.setItem(this.#key, text);
    } catch {
      // full: the questions are there as long as the page is
    }
    return queries.flatMap((q) => q.clips);
  }

  /**
   * What an earlier visit kept and may still be answered, or that all was done; null for nothing.
   * @param {number} now ms on Date.now()'s clock
   * @returns {Kept|null}
   */
  load(now) {
    try {
      const { status, queries } = /** @type {Kept} */ (JSON.parse(this.#storage?.getItem(this.#key) ?? ""));
      const left = queries.filter((q) => usable(q) && now < Date.parse(q.lease_until) + LATE);
      for (const q of left) this.add(q);
      return left.length > 0 || status.done ? { status: { ...status, open: left.map((q) => q.assignment) }, queries: left } : null;
    } catch {
      return null; // nothing is kept, or not by us
    }
  }
}

/** @param {Query} q */
function usable(q) {
  return typeof q.assignment === "string" && Array.isArray(q.clips) && q.clips.every((url) => /^\/sessions\/[^/]+\/clips\/[^/]+$/.test(url));
}
