// @ts-check
import { Questions } from "./questions.js";

const PREFIX = "tiebreak.practice.";
const CLOSE = 0.4 + 1e-9; // of two ratings on −1 to 1: two points of eleven (record.RatingTolerance)
const RETRY = 5_000; // ms until the server is asked again

/** @typedef {import("./wire.js").Answer} Answer */

/**
 * A question for practice, with the researcher's answer if there is one.
 * @typedef {object} Exercise
 * @property {number} version
 * @property {string[]} clips addresses, a then b, or one
 * @property {import("./wire.js").Query["left"]} left which clip goes on the left
 * @property {import("./wire.js").Choice} [choice] none where the program chose the question: nobody knows
 * @property {number} [rating] in [-1, 1]
 * @property {string} note
 */

/** @typedef {{due: number[], questions: Exercise[], examples?: boolean}} List examples: the program chose them */

/**
 * What is kept across reloads.
 * @typedef {object} Kept
 * @property {Exercise[]} questions
 * @property {number[]} left versions to be answered
 * @property {number} total of this round
 * @property {boolean} again the annotator asked for this round
 * @property {Answer[]} unsent
 * @property {boolean} [examples] the program chose the questions: answers stay on this page
 * @property {boolean} [finished] these are answered or skipped, or there were none
 */

/**
 * The questions for practice: those that come before an annotator's first question, and
 * again when they ask for it. It works without network once they are here: answers are
 * judged on the page, and sent when the server is there. It emits "change".
 */
export class Practice extends EventTarget {
  /** For the clips of what is left. */
  questions = new Questions();
  /** @type {Kept|null} */ #kept = null; // null: nothing to practise is known
  #stale = false; // the server is to be asked which are due
  #wanted = false; // nothing else is asked before it has said so
  #fetching = false;
  /** @type {Set<string>} */ #answered = new Set(); // what the server need not know of yet
  #judged = false; // the present one is answered, and what the researcher says is being read
  #sending = false;
  #timer = 0;

  /**
   * @param {object} parts
   * @param {string} parts.name one for a session and an annotator
   * @param {Storage|null} parts.storage
   * @param {string} parts.address of the questions; empty if the session has none
   * @param {boolean} parts.due some come before the first question
   */
  constructor({ name, storage, address, due }) {
    super();
    this.key = PREFIX + name;
    this.storage = storage;
    this.address = address;
    this.#kept = this.#load();
    if (this.#kept && !due && !this.#kept.again) this.#kept.left = [];
    if (this.#kept) this.#order();
    for (const m of this.#kept?.unsent ?? []) this.#answered.add(m.assignment);
    if (this.#kept?.examples) for (const q of this.#kept.questions) if (!this.#kept.left.includes(q.version)) this.#answered.add(named(q.version));
    this.#stale = address !== "" && due;
    this.#wanted = this.#stale && !this.#kept;
  }

  /** Fetches and sends what has to be. Called again whenever the server is there. */
  start() {
    if (this.#stale) this.#fetchDue();
    this.#send();
  }

  /** Starts over with all questions. Returns how many there are; undefined if the server does not say. */
  async again() {
    if (this.on) return this.place.total;
    const list = await this.#list();
    if (list && list.questions.length > 0 && !this.on) this.#begin(list, list.questions.map((q) => q.version), true);
    return list?.questions.length;
  }

  /** Whether what is left may be skipped: no researcher asks for it. */
  get skippable() {
    return !this.#judged && (this.#kept?.examples ?? false) && (this.#kept?.left.length ?? 0) > 0;
  }

  /** Leaves out what is left. */
  skip() {
    if (!this.skippable) return;
    const kept = /** @type {Kept} */ (this.#kept);
    kept.left = [];
    kept.finished = true;
    this.#keep();
    this.next();
  }

  /** Ends it, for somebody who may not answer any more. */
  stop() {
    clearTimeout(this.#timer);
    this.#stale = this.#wanted = this.#judged = false;
    if (this.#kept) this.#kept.left = [];
  }

  /** Whether it comes before other questions. */
  get on() {
    return this.#wanted || this.#judged || (this.#kept?.left.length ?? 0) > 0;
  }

  /** Whether the present question is answered and its answer being read. */
  get judged() {
    return this.#judged;
  }

  /** Which question it is: 1 of 2. */
  get place() {
    const { total = 0, left = [] } = this.#kept ?? {};
    return { number: Math.min(total, total - left.length + 1), total };
  }

  /** Addresses of the clips of what is left. */
  get clips() {
    return this.#exercises.flatMap((q) => q.clips);
  }

  get #exercises() {
    const { questions = [], left = [] } = this.#kept ?? {};
    return questions.filter((q) => left.includes(q.version));
  }

  /**
   * Takes the answer to the present question, and says what the researcher answers. next()
   * goes on.
   * @param {Answer} m
   */
  answer(m) {
    const kept = /** @type {Kept} */ (this.#kept);
    const q = /** @type {Exercise} */ (this.#exercises[0]);
    this.#judged = true;
    if (!kept.examples) kept.unsent.push(m);
    this.#answered.add(m.assignment);
    kept.left = kept.left.filter((v) => v !== q.version); // so that it is not asked again after a reload
    if (kept.examples && kept.left.length === 0) kept.finished = true;
    this.#keep();
    this.#send();
    return { question: q, answer: m, right: q.choice ? judge(q, m) : null };
  }

  /** Goes on after an answer. */
  next() {
    this.#judged = false;
    this.#order();
    this.dispatchEvent(new Event("change"));
  }

  /** Asks the server which questions are due: there may be new ones since the last visit. */
  async #fetchDue() {
    if (this.#fetching) return;
    this.#fetching = true;
    clearTimeout(this.#timer);
    const list = await this.#list();
    this.#fetching = false;
    if (!this.#stale || this.#judged || this.#kept?.again) return;
    if (!list) {
      this.#timer = setTimeout(() => this.#fetchDue(), RETRY);
      return;
    }
    this.#stale = this.#wanted = false;
    const due = list.examples && this.#kept?.finished ? [] : list.due;
    this.#begin(list, due.filter((v) => !this.#answered.has(named(v))), false);
  }

  /** @returns {Promise<List|null>} what the server has; null if it does not say */
  async #list() {
    const reply = await fetch(this.address, { credentials: "same-origin" }).catch(() => null);
    return reply?.ok ? reply.json().catch(() => null) : null;
  }

  /**
   * Begins a round, or goes on with the one that is under way.
   * @param {List} list
   * @param {number[]} left versions to be answered
   * @param {boolean} again
   */
  #begin({ questions, examples = false }, left, again) {
    const { total = 0, left: before = [], unsent = [], finished = false } = this.#kept ?? {};
    const done = before.length > 0 ? total - before.length : 0;
    this.#kept = { questions, left, total: done + left.length, again, unsent, examples, finished: finished || (examples && left.length === 0) };
    this.#keep();
    this.#order();
    this.dispatchEvent(new Event("change"));
  }

  #order() {
    const left = this.#exercises;
    for (const q of left) this.questions.add({ assignment: named(q.version), query: "", clips: q.clips, left: q.left });
    this.questions.order(left.map((q) => named(q.version)));
  }

  async #send() {
    if (this.#sending || !this.#kept) return;
    this.#sending = true;
    const { unsent } = this.#kept;
    while (unsent.length > 0) {
      const reply = await fetch(this.address, {
        method: "POST", body: JSON.stringify(unsent[0]), headers: { "Content-Type": "application/json" }, credentials: "same-origin",
      }).catch(() => null);
      if (!reply || reply.status >= 500 || reply.status === 401 || reply.status === 429) break; // start() tries again
      unsent.shift(); // recorded, or never taken
      this.#keep();
    }
    this.#sending = false;
  }

  #keep() {
    try {
      this.storage?.setItem(this.key, JSON.stringify(this.#kept));
    } catch {
      // full: it lasts as long as the page
    }
  }

  /** @returns {Kept|null} */
  #load() {
    try {
      const kept = JSON.parse(this.storage?.getItem(this.key) ?? "");
      const { questions, left, unsent } = kept;
      return [questions, left, unsent].every(Array.isArray) && questions.every(usable) ? kept : null;
    } catch {
      return null; // nothing is kept, or not by us
    }
  }
}

/** What stands for an assignment. @param {number} version */
function named(version) {
  return `practice.${version}`;
}

/** @param {Exercise} q */
function usable(q) {
  return Array.isArray(q.clips) && q.clips.every((url) => /^\/sessions\/[^/]+\/clips\/[^/]+$/.test(url));
}

/**
 * Whether an answer is the researcher's; null where it says nothing.
 * @param {Pick<Exercise, "choice"|"rating">} q
 * @param {Pick<Answer, "choice"|"rating">} a
 * @returns {boolean|null}
 */
export function judge(q, a) {
  if (a.choice === "rated") return Math.abs((a.rating ?? NaN) - (q.rating ?? NaN)) <= CLOSE;
  return a.choice === "a" || a.choice === "b" || a.choice === "equal" ? a.choice === q.choice : null;
}
