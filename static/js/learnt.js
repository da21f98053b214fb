// @ts-check
import { aboutTime } from "./sitting.js";

const EVERY = 10; // answers of one's own between two looks at what was learnt

/** @typedef {import("./wire.js").Status} Status */

/**
 * Shows an annotator what was learnt from the answers, every ten of their own and at
 * the end, and proposes a break after a long sitting.
 */
export class Learnt {
  #seen = -1; // looks so far; -1: not known yet
  #parts;

  /**
   * @param {object} parts
   * @param {import("./labelview.js").LabelView} parts.view
   * @param {string} parts.address of what was learnt: /sessions/s/learnt
   * @param {string} parts.name one for a session and an annotator
   * @param {Storage|null} parts.storage
   * @param {import("./sitting.js").Sitting} parts.sitting
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
    this.#again.checked = storage?.getItem(this.#key("again")) !== "no";
    this.#again.addEventListener("change", () => keep(storage, this.#key("again"), this.#again.checked ? "yes" : "no"), { signal });
    this.#dialog("learnt").addEventListener("close", () => play(this.#dialog("learnt"), false), { signal });
    this.#dialog("break").addEventListener("close", () => parts.sitting.rest(Date.now()), { signal });
  }

  /** @param {Status} status */
  update(status) {
    const { storage, view } = this.#parts;
    const own = status.mine - status.skipped;
    const looks = Math.floor(own / EVERY);
    if (this.#seen < 0) this.#seen = Number(storage?.getItem(this.#key("looks")) ?? looks);
    this.#end(status);
    if (status.done) return;
    if (looks > this.#seen && status.learnt && this.#again.checked) {
      if (this.#look(status)) this.#note(looks);
      return;
    }
    if (looks < this.#seen) this.#note(looks); // answers were withdrawn
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
    text.textContent = `From ${this.#given(status)}.`;
    this.#fill(dialog, status);
    return true;
  }

  /** @param {import("./labelview.js").LabelView} view */
  #rest(view) {
    const { sitting, show } = this.#parts;
    const dialog = this.#dialog("break");
    if (!show(dialog)) return;
    view.part("break-text").textContent = `You have given ${sitting.answers} answers in ${aboutTime(sitting.long)}. Eyes get tired, and tired eyes miss things.`;
  }

  /** What stands on the page at the end. @param {Status} status */
  #end(status) {
    const { view } = this.#parts;
    const end = view.part("end");
    if (end.hidden === !status.done) return;
    end.hidden = !status.done;
    const effect = /** @type {HTMLElement} */ (end.querySelector("[data-effect]"));
    if (!status.done) return play(effect, false);
    const text = view.part("end-text");
    const says = text.dataset.arena === undefined ? "It has learnt from" : "We have got"; // an arena learns nothing
    text.textContent = status.mine > 0 ? `${says} ${this.#given(status)}.` : "";
    if (status.learnt) this.#fill(end, status);
    view.part("code").hidden = !status.code;
    view.part("code-text").textContent = status.code ?? "";
    view.part("return").hidden = !status.return;
    if (status.return) /** @type {HTMLAnchorElement} */ (view.part("return-link")).href = status.return;
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

  /** @param {Status} status */
  #given({ answers, mine, skipped }) {
    const own = mine - skipped;
    const all = `${answers} answer${answers === 1 ? "" : "s"}`;
    return own === answers ? `your ${all}` : `${all}, ${own} of them yours`;
  }

  /**
   * @param {Element} place
   * @param {Status} status
   */
  #fill(place, status) {
    const { address, calm } = this.#parts;
    const effect = /** @type {HTMLElement} */ (place.querySelector("[data-effect]"));
    effect.hidden = false;
    effect.querySelector("[data-before]")?.setAttribute("src", `${address}/before`);
    effect.querySelector("[data-now]")?.setAttribute("src", `${address}/now?answers=${status.answers}`);
    /** @type {HTMLElement} */ (effect.querySelector("[data-effect-play]")).hidden = !calm.matches;
    play(effect, !calm.matches);
  }

  /** @param {"learnt"|"break"} name */
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
