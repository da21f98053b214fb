// @ts-check
import { aboutTime } from "./sitting.js";

const EVERY = 10; // answers of one's own between two looks at what was learnt
const PATIENT = 120_000; // ms for which the end waits for the last training before it shows what there is

/** @typedef {import("./wire.js").Status} Status */

/**
 * What the page says at the end of what was learnt.
 * @param {Pick<Status, "answers"|"mine"|"skipped"|"learnt"|"learning">} status
 * @param {boolean} arena nothing is learnt from the answers
 * @param {boolean} patient the last training is waited for
 * @returns {{text: string, clips: boolean, waits: boolean}} clips: show them; waits: more is said once the training is in use
 */
export function ending(status, arena, patient) {
  const { mine, learnt, learning } = status;
  if (mine === 0) return { text: "", clips: learnt, waits: false };
  if (arena || !learnt) return { text: `We have received ${given(status)}.`, clips: learnt, waits: false };
  if (!learning) return { text: `It has learnt from ${given(status)}.`, clips: true, waits: false };
  if (!learning.running) return { text: "This is what it has learnt so far. Your last answers are not in it yet.", clips: true, waits: false };
  if (patient) return { text: "Learning from your last answers …", clips: false, waits: true };
  return { text: "It is still learning from your last answers. You need not wait for it: this is what it has learnt so far.", clips: true, waits: false };
}

/** @param {Pick<Status, "answers"|"mine"|"skipped">} status */
function given({ answers, mine, skipped }) {
  const own = mine - skipped;
  const all = `${answers} answer${answers === 1 ? "" : "s"}`;
  return own === answers ? `your ${all}` : `${all}, ${own} of them yours`;
}

/**
 * Shows an annotator what was learnt from the answers, every ten of their own and at
 * the end, proposes a break after a long sitting, and an end where more answers change little.
 */
export class Learnt {
  #seen = -1; // looks so far; -1: not known yet
  #enough; // it was said that one can stop
  #timer = 0; // until PATIENT is over
  #endedAt = 0; // performance.now() when the end came on the page; 0 before
  /** @type {Status|undefined} */ #status; // the last one
  #parts;

  /**
   * @param {object} parts
   * @param {import("./labelview.js").LabelView} parts.view
   * @param {string} parts.address of what was learnt: /sessions/s/learnt
   * @param {string} parts.name one for a session and an annotator
   * @param {Storage|null} parts.storage
   * @param {import("./sitting.js").Sitting} parts.sitting
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
    this.#enough = storage?.getItem(this.#key("enough")) === "yes";
    this.#again.checked = storage?.getItem(this.#key("again")) !== "no";
    this.#again.addEventListener("change", () => keep(storage, this.#key("again"), this.#again.checked ? "yes" : "no"), { signal });
    this.#dialog("learnt").addEventListener("close", () => play(this.#dialog("learnt"), false), { signal });
    this.#dialog("break").addEventListener("close", () => parts.sitting.rest(Date.now()), { signal });
    this.#dialog("stop").addEventListener("close", () => this.#dialog("stop").returnValue === "stop" && this.#stop(true), { signal });
    view.part("resume").addEventListener("click", () => this.#stop(false), { signal });
  }

  /** @param {boolean} on */
  #stop(on) {
    this.#parts.controller.stop(on);
    if (this.#status) this.#end(this.#status);
  }

  /** @param {Status} status */
  update(status) {
    const { controller, show, storage, view } = this.#parts;
    const own = status.mine - status.skipped;
    const looks = Math.floor(own / EVERY);
    if (this.#seen < 0) this.#seen = Number(storage?.getItem(this.#key("looks")) ?? looks);
    this.#status = status;
    this.#end(status);
    if (status.done || controller.stopped) return;
    if (looks > this.#seen && status.learnt && !status.same && this.#again.checked) {
      if (this.#look(status)) this.#note(looks);
      return;
    }
    if (looks < this.#seen) this.#note(looks); // answers were withdrawn
    if (status.to_go === 0 && status.budget === 0 && own > 0 && !this.#enough) {
      this.#enough = show(this.#dialog("stop"));
      if (this.#enough) keep(storage, this.#key("enough"), "yes");
      return;
    }
    if (this.#parts.sitting.tiring) this.#rest(view);
  }

  /** @param {number} looks */
  #note(looks) {
    this.#seen = looks;
    keep(this.#parts.storage, this.#key("looks"), String(looks));
  }

  /** Opens the dialog. @param {Status} status */
  #look(status) {
    const dialog = this.#dialog("learnt");
    if (!this.#parts.show(dialog)) return false;
    const text = /** @type {HTMLElement} */ (dialog.querySelector("[data-learnt-text]"));
    text.textContent = `From ${given(status)}.${status.learning ? " The last ones are not in it yet." : ""}`;
    this.#fill(dialog, status);
    return true;
  }

  /** @param {import("./labelview.js").LabelView} view */
  #rest(view) {
    const { sitting, show } = this.#parts;
    const dialog = this.#dialog("break");
    if (!show(dialog)) return;
    view.part("break-text").textContent = `You have given ${sitting.answers} answers in ${aboutTime(sitting.long)}. Tired eyes overlook differences.`;
  }

  /** What stands on the page at the end. @param {Status} status */
  #end(status) {
    const { controller, view } = this.#parts;
    const end = view.part("end");
    const over = status.done || controller.stopped;
    clearTimeout(this.#timer);
    if (!over) {
      if (!end.hidden) this.#hide(end);
      end.hidden = true;
      this.#endedAt = 0;
      return;
    }
    end.hidden = false;
    this.#endedAt ||= performance.now();
    this.#tell(status);
    view.part("resume").hidden = status.done;
    view.part("code").hidden = !status.code;
    view.part("code-text").textContent = status.code ?? "";
    view.part("return").hidden = !status.return;
    if (status.return) /** @type {HTMLAnchorElement} */ (view.part("return-link")).href = status.return;
  }

  /** Says what was learnt, and waits a while for what is being learnt. @param {Status} status */
  #tell(status) {
    const { view } = this.#parts;
    const end = view.part("end"), text = view.part("end-text");
    const wait = this.#endedAt + PATIENT - performance.now();
    const says = ending(status, text.dataset.arena !== undefined, wait > 0);
    if (text.textContent !== says.text) view.announcer.say("learnt", says.text);
    text.textContent = says.text;
    view.part("end-spinner").hidden = !says.waits;
    if (says.waits) this.#timer = setTimeout(() => this.#tell(status), wait);
    if (says.clips && status.learnt) this.#fill(end, status);
    else this.#hide(end);
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

  /** @param {"learnt"|"break"|"stop"} name */
  #dialog(name) {
    return /** @type {HTMLDialogElement} */ (this.#parts.view.part(`${name}-dialog`));
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
