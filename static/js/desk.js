// @ts-check
import { Questions } from "./questions.js";

/** @typedef {import("./questions.js").Question} Question */
/** @typedef {import("./chooser.js").Input} Input */
/** @typedef {{choice: string, rating?: number, reason?: string}} Reply */

const SLOW = 400; // ms after which an unsaved answer is worth words
const AWAY = 900; // ms without a connection after which it is worth a banner
const RENEW = 30_000; // ms between two renewals of the leases

/**
 * Puts one question after another before the annotator and hands the answers
 * to the courier. It owns what is shown; the courier owns what is under way.
 */
export class Desk {
  #questions = new Questions();
  /** @type {Question|undefined} */ #shown;
  /** @type {Question|undefined} */ #failed; // whose clips did not load
  /** @type {any} */ #status = null;
  #fresh = false; // #status knows of everything we sent
  /** @type {string[]} */ #mine = []; // ids of answers given on this page, for undo
  #painted = 0; // performance.now() of the first frame; 0 while there is none
  #shownAt = ""; // the same moment on the calendar
  #hidden = 0; // ms hidden since
  #hiddenFrom = 0;
  #lostAt = 0; // when the connection went; 0 while it is there
  #busyFrom = 0; // since when the outbox is not empty
  #timer = 0; // repaints the words that depend on the time
  #renewal = 0;

  /**
   * @param {{view: import("./labelview.js").LabelView, player: import("./duo-player.js").DuoPlayer,
   *   chooser: import("./chooser.js").Chooser, courier: import("./courier.js").Courier,
   *   instructions: number, calm: MediaQueryList}} parts calm: matches if motion is unwelcome
   */
  constructor(parts) {
    this.parts = parts;
    const { courier } = parts;
    for (const { message } of courier.outbox.entries) if (message.assignment) this.#questions.close(message.assignment);
    const on = (/** @type {string} */ type, /** @type {(detail: any) => void} */ f) =>
      courier.addEventListener(type, (e) => f(/** @type {CustomEvent} */ (e).detail));
    on("question", (m) => this.#questions.add(m));
    on("status", (m) => this.#update(m));
    on("refused", (r) => this.#refused(r));
    on("change", () => this.#refresh());
  }

  /** @param {AbortSignal} signal */
  start(signal) {
    document.addEventListener("visibilitychange", () => this.#visibility(), { signal });
    this.#renewal = setInterval(() => document.hidden || this.parts.courier.renew(this.#questions.open), RENEW);
    signal.addEventListener("abort", () => {
      clearInterval(this.#renewal);
      clearTimeout(this.#timer);
    });
    this.parts.courier.start();
  }

  /**
   * Answers the question on screen.
   * @param {Reply} reply choice: "left" and "right" are turned into a and b
   * @param {Input} input
   */
  answer(reply, input) {
    const q = this.#shown;
    if (!q) return;
    const now = performance.now();
    const id = uuid();
    this.#mine.push(id);
    this.#fresh = false;
    this.#questions.close(q.assignment);
    this.parts.view.toast("");
    this.parts.courier.post({
      t: "answer", id, assignment: q.assignment, ...named(reply, q.left),
      ...(q.left ? { shown_left: q.left } : {}),
      shown_at: this.#shownAt || new Date().toISOString(),
      answered_ms: this.#painted ? Math.max(0, Math.round(now - this.#painted - this.#hidden)) : 0,
      hidden_ms: Math.round(this.#hidden), loops: this.parts.player.loops, input,
      instructions_version: this.parts.instructions,
    });
    this.#present();
  }

  /** Takes the last answer back. */
  undo() {
    const of = this.#undoable();
    if (!of) return;
    const { courier, view } = this.parts;
    this.#mine = this.#mine.filter((id) => id !== of);
    this.#fresh = false;
    const unsent = courier.recall(of);
    if (unsent) this.#questions.reopen(unsent.assignment);
    else courier.post({ t: "undo", id: uuid(), of });
    view.toast("Taken back. You can answer it again.");
    this.#present();
  }

  /** Tries again to load the clips on screen. */
  reload() {
    if (!this.#shown) return;
    this.#questions.reload(this.#shown);
    this.#failed = this.#shown = undefined;
    this.#present();
  }

  #undoable() {
    return this.#fresh ? this.#status?.undo ?? "" : this.#mine.at(-1) ?? "";
  }

  /** @param {any} status */
  #update(status) {
    this.#status = status;
    if (this.parts.courier.outbox.size === 0) this.#fresh = true;
    this.#questions.order(status.open ?? []);
    this.#present();
  }

  /** @param {{message: any, nak: any}} refusal */
  #refused({ message, nak }) {
    this.parts.view.toast(nak.message || "The server refused the last answer.");
    this.#mine = this.#mine.filter((id) => id !== message?.id);
    if (message?.assignment) this.#questions.reopen(message.assignment);
    this.#present();
  }

  /** Shows the current question if it is not on screen already. */
  #present() {
    const { chooser, player, view } = this.parts;
    const q = this.#questions.current;
    if (q !== this.#shown) {
      chooser.close();
      this.#shown = q;
      this.#painted = 0;
      this.#shownAt = "";
      view.accepting(false);
      view.body.dataset.assignment = q?.assignment ?? "";
      if (!q) player.clear();
      else if (q.clips) this.#paint(q);
      else q.loading.then(() => this.#paint(q), () => this.#broken(q));
    }
    this.#refresh();
  }

  /** @param {Question} q */
  async #paint(q) {
    if (q !== this.#shown || !q.clips) return;
    const { chooser, player, view, calm } = this.parts;
    const painted = await player.load(q.clips, { play: !calm.matches });
    if (q !== this.#shown) return;
    this.#painted = painted;
    this.#shownAt = new Date().toISOString();
    this.#hidden = 0;
    this.#hiddenFrom = document.hidden ? painted : 0;
    chooser.open(painted);
    view.accepting(true);
    this.#refresh();
  }

  /** @param {Question} q */
  #broken(q) {
    if (q !== this.#shown) return;
    this.#failed = q;
    this.#refresh();
  }

  #visibility() {
    const now = performance.now();
    if (document.hidden) this.#hiddenFrom = now;
    else if (this.#hiddenFrom) {
      this.#hidden += now - this.#hiddenFrom;
      this.#hiddenFrom = 0;
    }
  }

  /** Puts the state of everything on the page. */
  #refresh() {
    const { courier, view } = this.parts;
    const now = performance.now();
    const unsent = courier.outbox.size;
    const away = !courier.connected;
    const back = this.#lostAt > 0 && !away;
    this.#lostAt = away ? this.#lostAt || now : 0;
    this.#busyFrom = unsent > 0 ? this.#busyFrom || now : 0;
    view.saved(unsent, unsent > 0 && now - this.#busyFrom > SLOW);
    view.banner(away && now - this.#lostAt > AWAY ? courier.live.state : null, unsent, courier.outbox.durable);
    if (this.#status) view.progress(this.#status);
    /** @type {HTMLButtonElement} */ (view.part("undo")).disabled = this.#undoable() === "";
    const state = this.#state();
    view.body.dataset.state = away && this.#status ? "offline" : state;
    this.#explain();
    clearTimeout(this.#timer);
    if (away || unsent > 0) this.#timer = setTimeout(() => this.#refresh(), 250);
    if (back && this.#failed) this.reload(); // it failed because the server was away
  }

  #state() {
    if (this.#shown) return this.#painted ? "ready" : "loading";
    if (!this.#status) return "loading";
    return this.#status.done ? "done" : "waiting";
  }

  /** What lies over the player: why there is nothing to answer, or nothing at all. */
  #explain() {
    const { courier, view } = this.parts;
    const q = this.#shown;
    if (q && q === this.#failed && courier.connected) view.note("This clip did not load.", { broken: true });
    else if (q) view.note(q.clips ? "" : "Loading the clips …", { busy: true });
    else if (!this.#status) view.note("Connecting …", { busy: true });
    else if (this.#status.done) view.note("All questions are answered. Thank you!", { done: true });
    else if (!courier.connected) view.note("You have answered all that was here. There is more once the server is back.", { busy: true });
    else view.note(this.#status.waiting || "The next question is on its way …", { busy: true });
  }
}

/**
 * Turns sides into clips: an answer never says left or right.
 * @param {Reply} reply
 * @param {"a"|"b"|""} left
 * @returns {Reply}
 */
function named(reply, left) {
  const other = left === "a" ? "b" : "a";
  if (reply.choice === "left") return { choice: left };
  if (reply.choice === "right") return { choice: other };
  return reply;
}

/** A random UUID, also on pages that are not served over TLS. */
function uuid() {
  const b = crypto.getRandomValues(new Uint8Array(16));
  b[6] = (b[6] & 0x0f) | 0x40;
  b[8] = (b[8] & 0x3f) | 0x80;
  const hex = Array.from(b, (v) => v.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
