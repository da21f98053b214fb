// @ts-check
import { left } from "./outbox.js";
import { refusal } from "./reconnecting-socket.js";
import { called, rejoin, remembered } from "./rejoin.js";

/** @typedef {import("./answer-queue.js").AnswerQueue} AnswerQueue */
/** @typedef {import("./rejoin.js").Remembered} Remembered */
/** @typedef {import("./outbox.js").Message} Message */

const AWAY = "Tiebreak is not reachable";
const RESTARTS = "The server is restarting";

/**
 * What the banner says, and which of its buttons are there.
 * @typedef {object} Notice
 * @property {string} text
 * @property {string} [when] what follows it and is not announced, as it changes every second
 * @property {boolean} [retry]
 * @property {Remembered} [as] whom to continue as
 * @property {string} [stay] whom else this browser is
 * @property {{annotator: string, keys: string[], messages: Message[]}} [save] answers that can be saved as a file
 */

/**
 * The line above the questions while answers are not saved: why, and what the
 * person can do about it. No answer leaves the browser's storage but by an
 * acknowledgement, or by the person's own hand after it was saved as a file.
 */
export class Banner {
  #banner;
  #session;
  #storage;
  #queue;
  #announcer;
  #away = false;
  /** @type {Notice|null} */ #notice = null;
  /** @type {Set<string>} */ #saved = new Set(); // keys of answers that were saved as a file
  #failed = ""; // what went wrong with the last button
  #spoken = ""; // first sentence of what was announced last

  /**
   * @param {HTMLElement} banner
   * @param {{session: string, storage: Storage|null, queue: AnswerQueue, announcer: import("./announcer.js").Announcer, signal: AbortSignal}} parts
   */
  constructor(banner, { session, storage, queue, announcer, signal }) {
    this.#banner = banner;
    this.#session = session;
    this.#storage = storage;
    this.#queue = queue;
    this.#announcer = announcer;
    const on = (/** @type {string} */ name, /** @type {() => void} */ f) => this.#part(name).addEventListener("click", f, { signal });
    on("retry", () => queue.socket.retry());
    on("continue", () => this.#continue());
    on("stay", () => location.reload());
    on("download", () => this.#download());
    on("remove", () => this.#remove());
  }

  /** Answers of other annotators that wait in this browser. */
  get others() {
    return left(this.#storage, this.#session).filter((g) => g.annotator !== this.#queue.annotator);
  }

  /** @param {boolean} [away] whether the server has been away for a moment; as before if left out */
  show(away = this.#away) {
    this.#away = away;
    if (this.#queue.connected) this.#failed = "";
    const notice = (this.#notice = this.#say());
    this.#banner.hidden = notice === null;
    this.#speak(notice ? this.#failed || notice.text : "");
    if (!notice) return;
    put(this.#part("banner-text"), this.#failed || [notice.text, notice.when].join(" ").trim());
    this.#part("retry").hidden = !notice.retry;
    this.#part("continue").hidden = !notice.as;
    if (notice.as) put(this.#part("continue"), `Continue as ${called(notice.as)}`);
    this.#part("stay").hidden = !notice.stay;
    if (notice.stay) put(this.#part("stay"), `Go on as ${notice.stay}`);
    this.#part("download").hidden = !notice.save;
    this.#part("remove").hidden = !this.#removable;
  }

  /** Announces a text, once: counts in its later sentences may change. @param {string} text */
  #speak(text) {
    const [first] = text.split(".");
    if (first === this.#spoken) return;
    this.#announcer.say("banner", text || ([AWAY, RESTARTS].includes(this.#spoken) ? "Tiebreak is reachable again." : ""));
    this.#spoken = first;
  }

  /** @returns {Notice|null} */
  #say() {
    const { socket, outbox, annotator } = this.#queue;
    const { state, status, retryAt } = socket.state;
    const me = this.#known(annotator);
    if (state === "refused") return this.#refused(status, me);
    if (this.#away && socket.restarting) return { text: `${RESTARTS}. ${this.#kept()}. This page goes on by itself.` };
    if (this.#away) {
      const seconds = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
      const when = state === "connecting" || seconds === 0 ? "Trying again now." : `Trying again in ${seconds} s.`;
      return { text: `${AWAY}. ${this.#kept()}.`, when, retry: true };
    }
    const [other] = this.others;
    if (other) {
      const as = this.#known(other.annotator);
      const n = other.messages.length;
      return { text: `${answers(n)} given as ${called(as ?? other)} ${n === 1 ? "is" : "are"} kept in this browser and not saved.`, as, save: other };
    }
    const [first] = outbox.refused;
    if (!first) return null;
    return { text: `${answers(outbox.refused.length)} not saved: ${first.refused}`, save: this.#own(outbox.refused) };
  }

  /**
   * @param {number} status
   * @param {Remembered|undefined} me
   * @returns {Notice|null}
   */
  #refused(status, me) {
    const { outbox, other } = this.#queue;
    const save = outbox.size > 0 ? this.#own(outbox.entries) : undefined;
    if (status === 409) {
      const stay = called(this.#known(other) ?? { annotator: other });
      return { text: `This browser now answers as ${stay}. ${this.#kept()}.`, as: me, stay, save: me ? undefined : save };
    }
    if (status === 401 || status === 403) {
      if (me) return { text: `You have been signed out. ${this.#kept()}.`, as: me };
      return { text: `You have been signed out. ${this.#kept()}. Open the link that you were sent.`, save };
    }
    if (status === 410) return save ? { text: `A researcher has ended your part in this session. ${this.#kept()}.`, save } : null;
    return { text: `This session is no longer on the server. ${this.#kept()}.`, save };
  }

  /** Whether the answers of the notice were saved as a file, and may go. */
  get #removable() {
    return this.#notice?.save?.keys.every((k) => this.#saved.has(k)) ?? false;
  }

  #kept() {
    const { outbox } = this.#queue;
    if (outbox.size === 0) return "Nothing is lost";
    return outbox.durable ? `Your answers are kept in this browser (${outbox.size} unsent)` : `Keep this page open: ${outbox.size} unsent`;
  }

  /** @param {string} annotator */
  #known(annotator) {
    return remembered(this.#storage, this.#session).find((r) => r.annotator === annotator);
  }

  /** @param {import("./outbox.js").Entry[]} entries */
  #own(entries) {
    return { annotator: this.#queue.annotator, keys: entries.map((e) => e.key), messages: entries.map((e) => e.message) };
  }

  /** Makes this browser the annotator of the notice. */
  async #continue() {
    const { socket, annotator } = this.#queue;
    const as = this.#notice?.as;
    if (!as) return;
    const here = as.annotator === annotator;
    if (here && socket.state.status !== 409 && (await refusal()) === 0) return socket.retry(); // another tab has done it
    const status = await rejoin(this.#storage, as);
    this.#failed = status === 200 || status === 403 ? "" : "The server does not answer. Try again in a moment.";
    if (status !== 200) return this.show();
    if (here) socket.retry();
    else location.reload();
  }

  /** Saves the answers of the notice as a file. */
  #download() {
    const save = this.#notice?.save;
    if (!save) return;
    const content = { session: this.#session, annotator: save.annotator, answers: save.messages };
    const url = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2)], { type: "application/json" }));
    const a = document.createElement("a");
    a.href = url;
    a.download = `tiebreak-answers-${this.#session}-${save.annotator}.json`;
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    for (const key of save.keys) this.#saved.add(key);
    this.show();
  }

  /** Removes the answers of the notice, which were saved as a file. */
  #remove() {
    const save = this.#notice?.save;
    if (!save || !this.#removable) return;
    for (const key of save.keys) this.#storage?.removeItem(key);
    this.#queue.discard(save.keys);
    this.show();
  }

  /**
   * @param {string} name of a data attribute
   * @returns {HTMLElement}
   */
  #part(name) {
    return /** @type {HTMLElement} */ (this.#banner.querySelector(`[data-${name}]`));
  }
}

/** @param {number} n */
const answers = (n) => (n === 1 ? "1 answer" : `${n} answers`);

/**
 * @param {HTMLElement} part
 * @param {string} text
 */
function put(part, text) {
  if (part.textContent !== text) part.textContent = text;
}
