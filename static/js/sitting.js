// @ts-check
const APART = 5 * 60_000; // ms without an answer after which another sitting begins
const LONG = 20 * 60_000; // ms and
const MANY = 150; // answers after which a break does good
const RECENT = 20; // answers that the pace is of
const FEW = 5; // answers before which no pace is told

/** @typedef {{from: number, last: number, answers: number}} State times in ms on Date.now()'s clock */

/**
 * How long, and how fast, somebody has been answering without a break. It is kept in
 * the tab, so that a reload does not end it.
 */
export class Sitting {
  #key;
  #storage;
  /** @type {State} */ #now = { from: 0, last: 0, answers: 0 };
  /** @type {number[]} */ #steps = []; // ms between the last answers

  /**
   * @param {string} name one for a session and an annotator
   * @param {Pick<Storage, "getItem"|"setItem">|null} storage null keeps it in memory only
   */
  constructor(name, storage) {
    this.#key = `tiebreak.sitting.${name}`;
    this.#storage = storage;
    try {
      const kept = JSON.parse(storage?.getItem(this.#key) ?? "");
      if ([kept.from, kept.last, kept.answers].every(Number.isFinite)) this.#now = kept;
    } catch {
      // nothing was kept, or not by us
    }
  }

  /** Notes an answer. @param {number} now */
  note(now) {
    const { last } = this.#now;
    if (now - last > APART || now < last) this.rest(now);
    else this.#steps = [...this.#steps, now - last].slice(-RECENT);
    this.#now.answers++;
    this.#now.last = now;
    this.#keep();
  }

  /** Begins anew, after a break. @param {number} now */
  rest(now) {
    this.#now = { from: now, last: now, answers: 0 };
    this.#steps = [];
    this.#keep();
  }

  get answers() {
    return this.#now.answers;
  }

  /** ms from the first answer to the last */
  get long() {
    return this.#now.last - this.#now.from;
  }

  /** Whether a break would do good. */
  get tiring() {
    return this.answers > 0 && (this.answers >= MANY || this.long >= LONG);
  }

  /** Median ms from one answer to the next; 0 while that is not known. */
  get pace() {
    if (this.#steps.length < FEW) return 0;
    return this.#steps.toSorted((a, b) => a - b)[this.#steps.length >> 1];
  }

  #keep() {
    try {
      this.#storage?.setItem(this.#key, JSON.stringify(this.#now));
    } catch {
      // full or switched off
    }
  }
}

/** Says a time to a person. @param {number} ms */
export function aboutTime(ms) {
  if (ms < 50_000) return `${Math.max(1, Math.round(ms / 10_000)) * 10} seconds`;
  const minutes = Math.max(1, Math.round(ms / 60_000));
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}

/**
 * Says how much is left to an annotator.
 * @param {number|undefined} left answers of everybody; undefined: not known
 * @param {number} pace of this annotator, ms; 0: not known
 * @param {boolean} limited whether there is a number of answers to reach, which the page shows
 */
export function aboutLeft(left, pace, limited) {
  if (left === undefined) return "";
  if (left === 0) return limited ? "" : "more answers change little";
  const time = pace > 0 ? `about ${aboutTime(left * pace)}` : "";
  if (limited) return time && `${time} left`;
  return `about ${left} left${time && `, ${time}`}`;
}
