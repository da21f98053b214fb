// @ts-check
import { count } from "./count.js";
import { NOTICED } from "./reconnecting-socket.js";
import { aboutTime } from "./sitting.js";

const EVERY = 10; // answers of one's own between two looks at what was learnt
const PATIENT = 120_000; // ms for which the end waits for the last training before it shows what there is

/** @typedef {import("./wire.js").Status} Status */

/**
 * What the page says at the end of what was learnt.
 * @param {Pick<Status, "answers"|"mine"|"skipped"|"learnt"|"same"|"learning">} status
 * @param {boolean} arena nothing is learnt from the answers
 * @param {boolean} patient the last training is waited for
 * @param {boolean} [away] there is no connection, so that it is not known how far the training is
 * @returns {{text: string, clips: boolean, waits: boolean}} clips: show them; waits: more is said once the training is in use
 */
export function ending(status, arena, patient, away = false) {
  const { mine, learnt, learning, same } = status;
  if (mine === 0) return { text: "", clips: learnt, waits: false };
  if (arena || !learnt) return { text: `We have received ${given(status)}.`, clips: learnt, waits: false };
  if (!learning) return { text: `It has learnt from ${given(status)}.${same ? UNCHANGED : ""}`, clips: true, waits: false };
  const { untrained, running, why = "" } = learning;
  if (running && away) return { text: "This page waits for the connection. Then you see what it has learnt.", clips: false, waits: true };
  if (running && patient) return { text: training(learning), clips: false, waits: true };
  const text = [
    running ? "It is still learning from your last answers. You need not wait for it." : "",
    untrained ? "Nothing has been trained from your answers yet." : "This is what it has learnt so far.",
    running || untrained ? "" : `The last ${plural(learning.answers)} in it yet.`,
    why,
  ];
  return { text: text.filter(Boolean).join(" "), clips: !untrained, waits: false };
}

const UNCHANGED = " What it does looks the same as before the first answer: none of the other ways it has found fits the answers better.";

/** @param {number} n */
function plural(n) {
  return n === 1 ? "answer is not" : `${count(n)} answers are not`;
}

/** Says that the last training is waited for. @param {import("./wire.js").Learning} learning */
function training({ waits, left }) {
  if (waits) return "Other sessions are trained first; then it learns from your last answers …";
  return left ? `Learning from your last answers: ${left}. Then you see what it has learnt.` : "Learning from your last answers …";
}

/** @param {Pick<Status, "answers"|"mine"|"skipped">} status */
function given({ answers, mine, skipped }) {
  const own = mine - skipped;
  const all = `${count(answers)} answer${answers === 1 ? "" : "s"}`;
  return own === answers ? `your ${all}` : `${all}, ${count(own)} of them yours`;
}

/**
 * Shows an annotator what was learnt from the answers, every ten of their own and at
 * the end, proposes a break after a long sitting, and ends where more answers change little.
 */
export class Learnt {
  #seen = -1; // looks so far; -1: not known yet
  #onward; // the annotator goes on, though more answers change little
  #timer = 0; // until PATIENT is over
  #endedAt = 0; // performance.now() when the end came on the page; 0 before
  #away = false; // there has been no connection for NOTICED
  #lost = 0; // timer until then; 0 while there is a connection
  /** @type {Status|undefined} */ #status; // the last one
  #parts;

  /**
   * @param {object} parts
   * @param {import("./labelview.js").LabelView} parts.view
   * @param {string} parts.address of what was learnt: /sessions/s/learnt
   * @param {string} parts.name one for a session and an annotator
   * @param {Storage|null} parts.storage
   * @param {import("./sitting.js").Sitting} parts.sitting
   * @param {Pick<import("./telling.js").Telling, "show"|"hide">} parts.telling
   * @param {Pick<import("./label-controller.js").LabelController, "stop"|"stopped">} parts.controller
   * @param {MediaQueryList} parts.calm matches if motion is unwelcome
   * @param {(dialog: HTMLDialogElement) => boolean} parts.show opens a dialog unless another one is open
   * @param {AbortSignal} parts.signal
   */
  constructor(parts) {
    this.#parts = parts;
    const { view, storage, signal } = parts;
    for (const part of view.body.querySelectorAll("[data-effect]")) {
      const button = /** @type {HTMLButtonElement} */ (part.querySelector("[data-effect-play]"));
      button.addEventListener("click", () => play(part, part.querySelector("[paused]") !== null), { signal });
    }
    view.part("code-copy").addEventListener("click", () => this.#copy(), { signal });
    this.#onward = storage?.getItem(this.#key("onward")) === "yes";
    this.#again.checked = storage?.getItem(this.#key("again")) !== "no";
    this.#again.addEventListener("change", () => keep(storage, this.#key("again"), this.#again.checked ? "yes" : "no"), { signal });
    this.#dialog.addEventListener("close", () => play(this.#dialog, false), { signal });
    view.part("rest-close").addEventListener("mousedown", (e) => e.preventDefault(), { signal }); // keys are for answers
    view.part("rest-close").addEventListener("click", () => {
      parts.sitting.rest(Date.now());
      this.#rest();
    }, { signal });
    view.part("resume").addEventListener("click", () => {
      this.#onward = true;
      keep(storage, this.#key("onward"), "yes");
      this.#stop(false);
    }, { signal });
  }

  /** @param {boolean} on whether there is a connection */
  connected(on) {
    if (on === (this.#lost === 0)) return;
    clearTimeout(this.#lost);
    this.#lost = on ? 0 : setTimeout(() => this.#lose(true), NOTICED);
    if (on) this.#lose(false);
  }

  /** @param {boolean} away */
  #lose(away) {
    this.#away = away;
    if (this.#status) this.#end(this.#status);
  }

  /** @param {boolean} on */
  #stop(on) {
    this.#parts.controller.stop(on);
    if (this.#status) this.#end(this.#status);
  }

  /** @param {Status} status */
  update(status) {
    const { controller, storage } = this.#parts;
    const last = this.#status;
    const own = status.mine - status.skipped;
    const looks = Math.floor(own / EVERY);
    if (this.#seen < 0) this.#seen = Number(storage?.getItem(this.#key("looks")) ?? looks);
    this.#status = status;
    const answered = own > 0 && (!last || own > last.mine - last.skipped); // no question is taken from the screen
    if (status.enough && answered && !status.done && !controller.stopped && !this.#onward) controller.stop(true);
    this.#end(status);
    this.#rest();
    if (status.done || controller.stopped) return;
    if (looks > this.#seen && status.learnt && !status.same && this.#again.checked) {
      if (this.#look(status)) this.#note(looks);
      return;
    }
    if (looks < this.#seen) this.#note(looks); // answers were withdrawn
  }

  /** @param {number} looks */
  #note(looks) {
    this.#seen = looks;
    keep(this.#parts.storage, this.#key("looks"), String(looks));
  }

  /** Opens the dialog. @param {Status} status */
  #look(status) {
    const dialog = this.#dialog;
    if (!this.#parts.show(dialog)) return false;
    const text = /** @type {HTMLElement} */ (dialog.querySelector("[data-learnt-text]"));
    text.textContent = `From ${given(status)}.${status.learning ? " The last ones are not in it yet." : ""}`;
    this.#fill(dialog, status);
    return true;
  }

  /** Proposes a break beside the question, or takes that back. */
  #rest() {
    const { controller, sitting, view } = this.#parts;
    const line = view.part("rest");
    const due = sitting.tiring && !controller.stopped && !this.#status?.done;
    if (line.hidden === !due) return;
    line.hidden = !due;
    const text = `You have labelled for ${aboutTime(sitting.long)}. This is a good moment for a short break. Everything is saved.`;
    view.part("rest-text").textContent = due ? text : "";
    if (due) view.announcer.say("rest", text);
  }

  /** What stands on the page at the end. @param {Status} status */
  #end(status) {
    const { controller, telling, view } = this.#parts;
    const end = view.part("end");
    const over = status.done || controller.stopped;
    if (over) view.part("note").tabIndex = 0; // it scrolls where it is higher than the window
    else view.part("note").removeAttribute("tabindex");
    clearTimeout(this.#timer);
    if (!over) {
      if (!end.hidden) this.#hide(end);
      telling.hide();
      end.hidden = true;
      this.#endedAt = 0;
      return;
    }
    end.hidden = false;
    this.#endedAt ||= performance.now();
    this.#tell(status);
    view.part("enough").hidden = status.done || !status.enough;
    view.part("resume").hidden = status.done;
    view.part("code").hidden = !status.code;
    view.part("code-text").textContent = status.code ?? "";
    view.part("return").hidden = !status.return;
    if (status.return) /** @type {HTMLAnchorElement} */ (view.part("return-link")).href = status.return;
  }

  /** Says what was learnt, and waits a while for what is being learnt. @param {Status} status */
  #tell(status) {
    const { telling, view } = this.#parts;
    const end = view.part("end"), text = view.part("end-text");
    const waited = !view.part("end-spinner").hidden; // its progress is not announced
    const wait = this.#endedAt + PATIENT - performance.now();
    const says = ending(status, text.dataset.arena !== undefined, wait > 0, this.#away);
    if (text.textContent !== says.text && !(says.waits && waited)) view.announcer.say("learnt", says.text);
    text.textContent = says.text;
    const bar = /** @type {HTMLProgressElement} */ (view.part("end-progress"));
    const { done = 0, total = 0, waits = false } = status.learning ?? {};
    bar.hidden = !says.waits || this.#away || waits || total === 0;
    bar.max = Math.max(1, total);
    bar.value = done;
    view.part("end-spinner").hidden = !says.waits;
    if (says.waits && !this.#away) this.#timer = setTimeout(() => this.#tell(status), wait);
    if (says.clips && status.learnt) this.#fill(end, status);
    else this.#hide(end);
    if (says.clips && status.learnt && status.mine > 0) telling.show(`${status.answers} ${status.mine} ${status.learning?.answers ?? 0}`);
    else telling.hide();
  }

  /** Takes the clips of what was learnt away. @param {Element} place */
  #hide(place) {
    play(place, false);
    /** @type {HTMLElement} */ (place.querySelector("[data-effect]")).hidden = true;
  }

  /** Copies the completion code; where the browser does not allow that, it is selected. */
  async #copy() {
    const code = this.#parts.view.part("code-text");
    const button = this.#parts.view.part("code-copy");
    try {
      await navigator.clipboard.writeText(code.textContent ?? "");
      button.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(code);
      button.textContent = "Selected";
    }
  }

  /**
   * @param {Element} place
   * @param {Status} status
   */
  #fill(place, status) {
    const { address, calm } = this.#parts;
    const effect = /** @type {HTMLElement} */ (place.querySelector("[data-effect]"));
    const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (effect.querySelector(`[data-${name}]`));
    const now = `${address}/now?answers=${status.answers}&waiting=${status.learning?.answers ?? 0}`;
    part("past").hidden = status.same; // two clips that look the same tell nothing apart
    part("now-text").textContent = status.same ? "Now: the same as before the first answer" : "Now";
    part("now").setAttribute("aria-label", status.same ? "What it does now, the same as before the first answer" : "What it does now");
    if (!effect.hidden && part("now").getAttribute("src") === now) return;
    effect.hidden = false;
    if (!status.same) part("before").setAttribute("src", `${address}/before`);
    part("now").setAttribute("src", now);
    part("effect-play").hidden = !calm.matches;
    play(effect, !calm.matches);
  }

  get #dialog() {
    return /** @type {HTMLDialogElement} */ (this.#parts.view.part("learnt-dialog"));
  }

  get #again() {
    return /** @type {HTMLInputElement} */ (this.#parts.view.part("learnt-again"));
  }

  /** @param {string} what */
  #key(what) {
    return `tiebreak.learnt.${this.#parts.name}.${what}`;
  }
}

/**
 * @param {Element} place
 * @param {boolean} on
 */
function play(place, on) {
  for (const loop of place.querySelectorAll("clip-loop")) loop.toggleAttribute("paused", !on);
  const button = place.querySelector("[data-effect-play]");
  if (button) button.textContent = on ? "Pause" : "Play";
}

/**
 * @param {Storage|null} storage
 * @param {string} key
 * @param {string} value
 */
function keep(storage, key, value) {
  try {
    storage?.setItem(key, value);
  } catch {
    // full: it will be shown once more
  }
}
