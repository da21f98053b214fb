// @ts-check
import { Questions } from "./questions.js";
import { NOTICED } from "./reconnecting-socket.js";
import { aboutLeft } from "./sitting.js";
import { uuid } from "./uuid.js";

/** @typedef {import("./questions.js").Question} Question */
/** @typedef {import("./chooser.js").Input} Input */
/** @typedef {import("./wire.js").Choice} Choice */
/** @typedef {import("./wire.js").Remark} Remark */
/**
 * @template C
 * @typedef {{choice: C, rating?: number, reason?: string, much?: boolean, best?: Side, worst?: Side}} ReplyOf
 */
/** @typedef {import("./wire.js").Side} Side */
/** @typedef {ReplyOf<Choice|"left"|"right"> & {places?: [number, number]}} Reply places: of the best and the worst, from 1 on */

const YIELD = 30; // ms for which a solid scene, dear to draw, lets the acknowledgement of the last answer go first
const SLOW = 400; // ms after which an unsaved answer is worth words
const KEPT = "The server has not confirmed your last answers yet. They are kept here.";
const LATE = `${KEPT} The next question comes when the server is back.`;
const DONE = "You are done. Thank you!";
const STORED = "All your answers are stored.";
const REMOVED = 410; // HTTP status to somebody whose part in the session has ended
const PREFERENCES = ["left", "right", "equal"];
const RENEW = 30_000; // ms between two renewals of the leases

/**
 * Puts one question after another before the annotator and hands the answers
 * to the answer queue. It owns what is shown; the queue owns what is under way.
 */
export class LabelController {
  #questions = new Questions();
  /** @type {Question|undefined} */ #shown;
  /** @type {Question|undefined} */ #failed; // whose clips did not load
  /** @type {import("./wire.js").Status|null} */ #status = null;
  #fresh = false; // #status knows of everything we sent
  /** @type {string[]} */ #mine = []; // ids of answers given on this page, for undo
  #painted = 0; // performance.now() of the first frame; 0 while there is none
  #shownAt = ""; // the same moment on the calendar
  #hidden = 0; // ms hidden since, by another window or a dialog
  #hiddenFrom = 0;
  #covered = false; // by a dialog
  #remark = /** @type {Remark|""} */ (""); // about the clips on screen
  #stopped = false; // the annotator is done, though there are questions
  #unplayed = false; // the clips wait to be played before they can be answered
  #lostAt = 0; // when the connection went; 0 while it is there
  #busyFrom = 0; // since when the outbox is not empty
  #timer = 0; // repaints the words that depend on the time
  #renewal = 0;

  /**
   * @param {{view: import("./labelview.js").LabelView, banner: import("./banner.js").Banner, player: import("./duo-player.js").DuoPlayer,
   *   chooser: import("./chooser.js").Chooser, queue: import("./answer-queue.js").AnswerQueue,
   *   sitting: import("./sitting.js").Sitting, kept: import("./kept-questions.js").KeptQuestions,
   *   practice: import("./practice.js").Practice, practiceView: import("./practice-view.js").PracticeView, instructions: () => number, calm: MediaQueryList}} parts calm: matches if motion is unwelcome
   */
  constructor(parts) {
    this.parts = parts;
    const { queue } = parts;
    for (const { message } of queue.outbox.entries) if (message.t === "answer") this.#questions.close(message.assignment);
    queue.on("question", (m) => this.#questions.add(m));
    queue.on("status", (m) => this.#update(m));
    queue.on("refused", (r) => this.#refused(r));
    queue.on("change", () => this.#refresh());
    queue.on("hello", () => parts.practice.start());
    parts.practice.addEventListener("change", () => this.#present());
    parts.player.addEventListener("watched", () => {
      if (this.#painted && this.#unplayed) this.#admit(performance.now());
    });
    parts.chooser.addEventListener("open", () => parts.view.gate("open"));
    parts.chooser.addEventListener("early", () => {
      if (this.#painted) parts.view.toast(this.#unplayed ? "Play to the end first, then answer." : "Too soon: look first, then answer.");
    });
  }

  /** @param {AbortSignal} signal */
  start(signal) {
    document.addEventListener("visibilitychange", () => this.#visibility(), { signal });
    this.#renewal = setInterval(() => document.hidden || this.#stopped || this.parts.queue.renew(this.#questions.open), RENEW);
    signal.addEventListener("abort", () => {
      clearInterval(this.#renewal);
      clearTimeout(this.#timer);
    });
    this.parts.queue.start();
    this.parts.practice.start();
    this.#present();
  }

  /** The questions that are asked now: those for practice come first. */
  get #asked() {
    return this.#practising ? this.parts.practice.questions : this.#questions;
  }

  get #practising() {
    return this.parts.practice.on && !this.#status?.done;
  }

  /**
   * Answers the question on screen.
   * @param {Reply} reply choice: "left" and "right" are turned into a and b, and places into clips
   * @param {Input} input
   */
  answer(reply, input) {
    const q = this.#shown;
    const { practice, practiceView, queue, sitting, view } = this.parts;
    if (!q || practice.judged) return;
    const now = performance.now();
    const id = uuid();
    /** @type {import("./wire.js").Answer} */
    const message = {
      t: "answer", id, assignment: q.assignment, ...named(reply, q), ...(q.order ? { shown_order: q.order } : {}),
      ...(this.#remark && PREFERENCES.includes(reply.choice) ? { remark: this.#remark } : {}),
      ...(q.left ? { shown_left: q.left } : {}),
      shown_at: this.#shownAt || new Date().toISOString(),
      answered_ms: this.#painted ? Math.max(0, Math.round(now - this.#painted - this.#hidden)) : 0,
      hidden_ms: Math.round(this.#hidden), loops: this.parts.player.loops, input,
      instructions_version: this.parts.instructions(),
    };
    view.toast("");
    if (this.#practising) {
      practiceView.judged(practice.answer(message));
      return this.#refresh();
    }
    sitting.note(Date.now(), message.answered_ms);
    this.#mine.push(id);
    this.#fresh = false;
    this.#questions.close(q.assignment);
    queue.post(message);
    this.#present();
  }

  /**
   * Under a dialog the clips rest, nothing is answered, and the time counts as
   * hidden, not as thinking.
   * @param {boolean} on
   */
  cover(on) {
    this.#covered = on;
    this.parts.chooser.cover(on);
    this.parts.player.hold(on);
    this.parts.view.cover(on);
    this.#visibility();
  }

  get covered() {
    return this.#covered;
  }

  /** Whether the clips wait to be played: the question can be skipped, not answered. */
  get unplayed() {
    return this.#painted > 0 && this.#unplayed;
  }

  /**
   * Remarks about both clips on screen, or takes that back if it is said already. It goes with
   * the answer, if that states a preference.
   * @param {Remark} remark
   */
  remark(remark) {
    if (!this.#painted || this.#covered || !this.parts.view.remarks()) return;
    this.#say(this.#remark === remark ? "" : remark);
    this.parts.view.announcer.say("remark", this.#remark ? `${this.parts.view.named(remark)}. It goes with your answer.` : "Remark removed.");
  }

  /** @param {Remark|""} remark */
  #say(remark) {
    this.#remark = remark;
    this.parts.view.remark(remark);
  }

  /** Asks nothing more, or goes on. @param {boolean} on */
  stop(on) {
    this.#stopped = on;
    this.#present();
  }

  get stopped() {
    return this.#stopped;
  }

  /** Takes the last answer back. */
  undo() {
    const of = this.#undoable();
    if (of) this.withdraw(of);
  }

  /**
   * Takes an answer back, so that it is asked again at once.
   * @param {string} of its id
   */
  withdraw(of) {
    const { queue, view } = this.parts;
    this.#stopped = false;
    this.#mine = this.#mine.filter((id) => id !== of);
    this.#fresh = false;
    const unsent = queue.recall(of);
    if (unsent?.t === "answer") this.#questions.reopen(unsent.assignment);
    else queue.post({ t: "undo", id: uuid(), of });
    view.toast(unsent || queue.connected ? "Answer withdrawn. You can answer again." : "Answer withdrawn. Its question returns when the server is back.");
    this.#present();
  }

  /** Tries again to load the clips on screen. */
  reload() {
    if (!this.#shown) return;
    this.#asked.reload(this.#shown);
    this.#failed = this.#shown = undefined;
    this.#present();
  }

  #undoable() {
    if (this.#practising) return "";
    return this.#fresh ? this.#status?.undo ?? "" : this.#mine.at(-1) ?? "";
  }

  /** @param {import("./wire.js").Status} status */
  #update(status) {
    this.#status = status;
    if (this.parts.queue.outbox.pending.length === 0) this.#fresh = true;
    this.#questions.order(status.open ?? []);
    this.#present();
  }

  /** @param {import("./answer-queue.js").Refusal} refusal */
  #refused({ message, nak, kept }) {
    if (!kept) this.parts.view.toast(nak.message || "The server refused the last answer."); // else the banner says it
    this.#mine = this.#mine.filter((id) => id !== message?.id);
    if (message?.t === "answer" && !kept) this.#questions.reopen(message.assignment);
    this.#present();
  }

  /** Shows the current question if it is not on screen already. @returns {void} */
  #present() {
    const { chooser, player, practice, view } = this.parts;
    if (practice.judged) return this.#refresh(); // the clips stay while the answer is read
    const q = this.#stopped ? undefined : this.#asked.after(this.#shown);
    if (q !== this.#shown) {
      chooser.close();
      this.#shown = q;
      this.#painted = 0;
      this.#shownAt = "";
      this.#say("");
      view.painted(false);
      view.gate("");
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
    const { player, queue, view, calm } = this.parts;
    if (q.clips.some((c) => c.dim === 3)) {
      player.freeze();
      await queue.settled(YIELD);
    }
    if (q !== this.#shown) return;
    const play = !calm.matches;
    const painted = await player.load(q.clips, { play, seen: q.seen }).catch(() => undefined);
    if (q !== this.#shown) return;
    if (painted === undefined) return this.#broken(q);
    this.#painted = painted;
    this.#shownAt = new Date().toISOString();
    this.#hidden = 0;
    this.#hiddenFrom = this.#away ? painted : 0;
    this.#unplayed = !play && !player.watched;
    view.painted(true);
    if (this.#unplayed) view.gate("play");
    else this.#admit(painted);
    const mark = this.parts.practiceView.mark(this.#practising);
    const next = mark ? `${mark}.` : "Next question.";
    view.announcer.say("question", this.#unplayed ? `${next} Play it to the end, then answer.` : next);
    this.#refresh();
  }

  /** Lets the question be answered. @param {number} from performance.now() */
  #admit(from) {
    this.#unplayed = false;
    this.parts.view.gate("settle");
    this.parts.chooser.open(from);
  }

  /** @param {Question} q */
  #broken(q) {
    if (q !== this.#shown) return;
    if (!this.parts.queue.connected && this.#asked.pass(q)) return this.#present(); // others have their clips here
    this.#failed = q;
    this.#refresh();
  }

  get #away() {
    return document.hidden || this.#covered;
  }

  #visibility() {
    const now = performance.now();
    if (this.#away) this.#hiddenFrom ||= now;
    else if (this.#hiddenFrom) {
      this.#hidden += now - this.#hiddenFrom;
      this.#hiddenFrom = 0;
    }
  }

  /** Whether a researcher has ended this annotator's part. */
  get #removed() {
    const { state, status } = this.parts.queue.socket.state;
    return state === "refused" && status === REMOVED;
  }

  /** Puts the state of everything on the page. */
  #refresh() {
    const { banner, queue, view } = this.parts;
    if (this.#removed && this.#shown) {
      this.parts.practice.stop();
      this.#questions.order([]);
      return this.#present();
    }
    const now = performance.now();
    const away = !queue.connected;
    const { pending, refused } = queue.outbox;
    const stuck = refused.length + banner.others.reduce((n, g) => n + g.messages.length, 0);
    const unsent = pending.length + stuck;
    const back = this.#lostAt > 0 && !away;
    this.#lostAt = away ? this.#lostAt || now : 0;
    this.#busyFrom = unsent > 0 ? this.#busyFrom || now : 0;
    view.saved(unsent, unsent > 0 && (away || stuck > 0 || this.#late));
    const long = away && (queue.socket.restarting || now - this.#lostAt > NOTICED);
    banner.show(long);
    if (long && !this.#status && !this.#removed) this.#restore();
    const known = this.#status && long ? { ...this.#status, learning: undefined } : this.#status; // how far a training is by now is not known
    if (known) view.progress(known, aboutLeft(known.to_go, this.parts.sitting.pace, known.budget > 0));
    /** @type {HTMLButtonElement} */ (view.part("undo")).disabled = this.#undoable() === "" || this.#removed;
    this.parts.practiceView.mark(this.#practising);
    const state = this.#state();
    view.body.dataset.state = this.#removed ? "removed" : away && (this.#status || long) ? "offline" : state;
    this.#explain(long);
    clearTimeout(this.#timer);
    if (away || unsent > 0) this.#timer = setTimeout(() => this.#refresh(), 250);
    if (back && this.#failed) this.reload(); // it failed because the server was away
  }

  /** Asks what an earlier visit kept, while the server is away. */
  #restore() {
    const kept = this.parts.kept.load(Date.now());
    if (!kept || this.parts.queue.socket.state.state === "refused") return;
    for (const q of kept.queries) this.#questions.add(q);
    this.#status = kept.status;
    this.#questions.order(kept.status.open);
    this.#present();
  }

  #state() {
    if (this.#shown) return this.#painted ? "ready" : "loading";
    if (!this.#status || this.#practising) return "loading";
    return this.#status.done || this.#stopped ? "done" : "waiting";
  }

  /**
   * What lies over the player: why there is nothing to answer, or nothing at all.
   * @param {boolean} away for more than a moment
   */
  #explain(away) {
    const { queue, view } = this.parts;
    const q = this.#shown;
    const over = this.#status?.done || this.#stopped;
    if (q && q === this.#failed && queue.connected) view.note("This clip did not load.", { broken: true });
    else if (q && q === this.#failed) view.note("The clips of this question are not here yet. They come when the server is back.", { busy: true });
    else if (q) view.note(q.clips ? "" : "Loading the clips …", { busy: true });
    else if (this.#removed) view.note("A researcher has ended your part in this session. There is nothing more to do; thank you for your answers.");
    else if (queue.socket.state.state === "refused") view.note("Your questions return when you are signed in.");
    else if (this.#practising) view.note(away ? "The server is not reachable. Practice begins as soon as it is back." : "Loading the practice questions …", { busy: true });
    else if (!this.#status) view.note(away ? "The server is not reachable. Questions come as soon as it is back." : "Connecting …", { busy: true });
    else if (over && queue.outbox.pending.length > 0) view.note(this.#late ? KEPT : "Saving your last answer …", { busy: true });
    else if (this.#status.done) view.note(this.#done(away), { done: true });
    else if (this.#stopped) view.note(this.#status.enough ? DONE : "Your answers are saved. Thank you! More of them would help again.", { done: true });
    else if (!queue.connected && queue.outbox.size === 0) view.note(`${STORED} This page waits for the connection and then goes on.`, { busy: true });
    else if (!queue.connected) view.note("You have answered all loaded questions. More follow when the server is back.", { busy: true });
    else if (this.#status.consent) view.note(this.#status.waiting, { consent: this.#status.consent });
    else if (queue.outbox.pending.length > 0) view.note(this.#late ? LATE : "Saving your last answer …", { busy: true });
    else view.note(this.#status.waiting || "The next question is on its way …", { busy: true });
  }

  /** What is said at the end. @param {boolean} away the server, for more than a moment */
  #done(away) {
    const { waiting, mine } = /** @type {import("./wire.js").Status} */ (this.#status);
    const text = waiting || (mine > 0 ? DONE : "All questions are answered. Thank you!");
    return away && mine > 0 && this.parts.queue.outbox.size === 0 ? `${text} ${STORED}` : text;
  }

  /** Whether an answer has been unsaved for longer than a blink. */
  get #late() {
    return this.#busyFrom > 0 && performance.now() - this.#busyFrom > SLOW;
  }
}

/**
 * Turns places into clips: an answer never says left or right.
 * @param {Reply} reply
 * @param {Question} q
 * @returns {ReplyOf<Choice>}
 */
function named({ choice, places, ...rest }, { left, order }) {
  if (places) {
    const [best, worst] = places.map((place) => /** @type {Side} */ (order?.[place - 1]));
    return { choice: "best_worst", best, worst };
  }
  if (choice !== "left" && choice !== "right") return { choice, ...rest };
  return { choice: (choice === "left") === (left === "a") ? "a" : "b", ...rest };
}
