// @ts-check
import { fetchPlayed } from "./clip.js";

/** @typedef {import("./clip.js").Clip} Clip */
/** @typedef {Pick<import("./wire.js").Query, "assignment"|"query"|"clips"|"left"|"order"|"seen"|"before">} Asked */

/**
 * @typedef {object} Question
 * @property {string} assignment
 * @property {string} query
 * @property {string[]} urls of the clips, a then b
 * @property {import("./wire.js").Query["left"]} left which clip goes on the left
 * @property {import("./wire.js").Query["order"]} order of the clips of a group
 * @property {import("./wire.js").Query["seen"]} seen of the pictures of all clips of the session
 * @property {string} [before] the assignment that it is asked before, unless that is on the screen already
 * @property {Promise<Clip[]>} loading in the order to show them, left first
 * @property {Clip[]|null} clips once loaded
 * @property {boolean} failed they did not load
 */

/**
 * The questions leased to this annotator, in the order to show them. Their
 * clips are fetched and decoded as soon as they are known.
 */
export class Questions {
  /** @type {Map<string, Question>} */ #known = new Map();
  /** @type {string[]} */ #open = [];
  /** @type {Set<string>} */ #answered = new Set();
  /** @type {Map<string, Promise<Clip>>} */ #clips = new Map();

  /** @param {Asked} m what the server sent of it */
  add(m) {
    const before = this.#known.get(m.assignment);
    if (before && before.clips) return; // sent again after a reconnection
    const loading = Promise.all(m.clips.map((url) => this.#clip(url)))
      .then((clips) => arranged(clips, m));
    /** @type {Question} */
    const q = { assignment: m.assignment, query: m.query, urls: m.clips, left: m.left, order: m.order, seen: m.seen, before: m.before, loading, clips: null, failed: false };
    loading.then((clips) => (q.clips = clips), () => (q.failed = true)); // the caller that shows q handles the failure
    this.#known.set(m.assignment, q);
  }

  /** @param {string[]} assignments the server's list, in the order to show them */
  order(assignments) {
    this.#open = assignments;
    for (const [id, q] of this.#known) {
      if (assignments.includes(id)) continue;
      this.#known.delete(id);
      for (const url of q.urls) if (!this.#wanted(url)) this.#clips.delete(url);
    }
  }

  /** The one to show now. */
  get current() {
    return this.after(undefined);
  }

  /**
   * The one to show where a question is on the screen. What came to be asked before that one comes after it; and a
   * question whose clips are not here yet comes after the one that it is asked before, so that nobody waits for an exchange.
   * @param {Question|undefined} shown
   */
  after(shown) {
    const open = this.open.flatMap((a) => this.#known.get(a) ?? []);
    let first = open[0];
    const behind = () => open.find((q) => q.assignment === first?.before);
    for (let q = behind(); q && (q === shown || !first.clips && q.clips); q = behind()) first = q;
    return first;
  }

  /** Assignments that await an answer. */
  get open() {
    return this.#open.filter((a) => !this.#answered.has(a));
  }

  /**
   * Puts a question behind those whose clips are here or on their way. Returns false if there are none.
   * @param {Question} q whose clips did not load
   */
  pass(q) {
    const other = this.open.some((a) => this.#known.get(a)?.failed === false);
    if (other) this.#open = [...this.#open.filter((a) => a !== q.assignment), q.assignment];
    return other;
  }

  /** @param {string} assignment */
  close(assignment) {
    this.#answered.add(assignment);
  }

  /**
   * Asks again what was taken back or refused.
   * @param {string} assignment
   */
  reopen(assignment) {
    this.#answered.delete(assignment);
  }

  /** @param {Question} q whose clips failed to load: tries afresh */
  reload(q) {
    for (const url of q.urls) this.#clips.delete(url);
    this.#known.delete(q.assignment);
    this.add({ assignment: q.assignment, query: q.query, clips: q.urls, left: q.left, order: q.order, seen: q.seen, before: q.before });
  }

  /** @param {string} url */
  #clip(url) {
    const known = this.#clips.get(url);
    if (known) return known;
    const clip = fetchPlayed(url);
    this.#clips.set(url, clip);
    clip.catch(() => this.#clips.get(url) === clip && this.#clips.delete(url)); // so that it is fetched afresh when it is sent again
    return clip;
  }

  /** @param {string} url */
  #wanted(url) {
    return [...this.#known.values()].some((q) => q.urls.includes(url));
  }
}

/**
 * Clips in the order to show them.
 * @param {Clip[]} clips a, b and so on
 * @param {Asked} m
 */
function arranged(clips, { left, order }) {
  if (order) return [...order].map((side) => clips[side.charCodeAt(0) - "a".charCodeAt(0)]);
  return left === "b" ? clips.reverse() : clips;
}
