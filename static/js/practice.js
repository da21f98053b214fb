// @ts-check
import { Questions } from "./questions.js";

const PREFIX = "tiebreak.practice.";
const CLOSE = 0.4 + 1e-9; // of two ratings on −1 to 1: two points of eleven (idrl.RatingTolerance)
const RETRY = 5_000; // ms until the server is asked again

/** @typedef {import("./wire.js").Answer} Answer */

/**
 * A question for practice, with the researcher's answer.
 * @typedef {object} Exercise
 * @property {number} version
 * @property {string[]} clips addresses, a then b, or one
 * @property {import("./wire.js").Query["left"]} left which clip goes on the left
 * @property {import("./wire.js").Choice} choice
 * @property {number} [rating] in [-1, 1]
 * @property {string} note
 */

/**
 * What is kept across reloads.
 * @typedef {object} Kept
 * @property {Exercise[]} questions
 * @property {number[]} left versions to be answered
 * @property {number} total of this round
 * @property {boolean} again the annotator asked for this round
 * @property {Answer[]} unsent
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
  #wanted = false; // the questions are to be fetched
  #fetching = false;
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
    this.#wanted = address !== "" && due && !this.#kept;
  }

  /** Fetches and sends what has to be. Called again whenever the server is there. */
  start() {
    if (this.#wanted) this.#fetch((list) => list.due, false);
    this.#send();
  }

  /** Starts over with all questions. */
  again() {
    if (this.address === "" || this.on) return;
    this.#wanted = true;
    this.dispatchEvent(new Event("change"));
    this.#fetch((list) => list.questions.map((q) => q.version), true);
  }

  /** Ends it, for somebody who may not answer any more. */
  stop() {
    clearTimeout(this.#timer);
    this.#wanted = this.#judged = false;
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
    kept.unsent.push(m);
    kept.left = kept.left.filter((v) => v !== q.version); // so that it is not asked again after a reload
    this.#keep();
    this.#send();
    return { question: q, right: judge(q, m) };
  }

  /** Goes on after an answer. */
  next() {
    this.#judged = false;
    this.#order();
    this.dispatchEvent(new Event("change"));
  }

  /**
   * @param {(list: {due: number[], questions: Exercise[]}) => number[]} pick the versions to ask
   * @param {boolean} again
   */
  async #fetch(pick, again) {
    if (this.#fetching) return;
    this.#fetching = true;
    clearTimeout(this.#timer);
    const reply = await fetch(this.address, { credentials: "same-origin" }).catch(() => null);
    this.#fetching = false;
    if (!this.#wanted) return;
    const list = reply?.ok ? await reply.json().catch(() => null) : null;
    if (!list) {
      this.#timer = setTimeout(() => this.#wanted && this.#fetch(pick, again), RETRY);
      return;
    }
    const left = pick(list);
    this.#kept = { questions: list.questions, left, total: left.length, again, unsent: this.#kept?.unsent ?? [] };
    this.#wanted = false;
    this.#keep();
    this.#order();
    this.dispatchEvent(new Event("change"));
  }

  #order() {
    const left = this.#exercises;
    for (const q of left) this.questions.add({ assignment: name(q), query: "", clips: q.clips, left: q.left });
    this.questions.order(left.map(name));
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

/** What stands for an assignment. @param {Exercise} q */
function name(q) {
  return `practice.${q.version}`;
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
