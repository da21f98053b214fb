// @ts-check
const APART = 5 * 60_000; // ms without an answer after which another sitting begins
const LONG = 20 * 60_000; // ms of labelling after which a break does good
const MOST = 60_000; // ms of one question that count as labelling: after that the person is likely not there
const RECENT = 20; // answers that the pace is of
const FEW = 5; // answers before which no pace is told
const MINUTE = 60_000; // ms

/** @typedef {{last: number, active: number, answers: number}} State last: ms on Date.now()'s clock; active: ms */

/**
 * How long, and how fast, somebody has been answering without a break. Only time in which a question was
 * in view counts. It is kept in the tab, so that a reload does not end it.
 */
export class Sitting {
  #key;
  #storage;
  /** @type {State} */ #now = { last: 0, active: 0, answers: 0 };
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
      if ([kept.last, kept.active, kept.answers].every(Number.isFinite)) this.#now = kept;
    } catch {
      // nothing was kept, or not by us
    }
  }

  /**
   * Notes an answer.
   * @param {number} now
   * @param {number} viewed ms for which its question was in view
   */
  note(now, viewed) {
    const { last } = this.#now;
    if (now - last > APART || now < last) this.rest(now);
    else this.#steps = [...this.#steps, now - last].slice(-RECENT);
    this.#now.answers++;
    this.#now.active += Math.min(viewed, MOST);
    this.#now.last = now;
    this.#keep();
  }

  /** Begins anew, after a break. @param {number} now */
  rest(now) {
    this.#now = { last: now, active: 0, answers: 0 };
    this.#steps = [];
    this.#keep();
  }

  get answers() {
    return this.#now.answers;
  }

  /** ms of labelling */
  get long() {
    return this.#now.active;
  }

  /** Whether a break would do good. */
  get tiring() {
    return this.long >= LONG;
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

/** Says a time to a person, who need not hurry: no seconds. @param {number} ms */
export function aboutTime(ms) {
  const minutes = Math.round(ms / MINUTE);
  if (minutes < 1) return "less than a minute";
  return minutes === 1 ? "about a minute" : `about ${minutes} minutes`;
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
  const time = pace > 0 ? aboutTime(left * pace) : "";
  if (limited) return time && `${time} left`;
  return `about ${left} left${time && `, ${time}`}`;
}
