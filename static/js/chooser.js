// @ts-check
import { command } from "./keys.js";

const PREVIEW = 150; // ms of holding after which the choice is previewed
const SETTLE = 250; // ms after the first frame in which nothing counts

/** @typedef {Exclude<import("./wire.js").Input, "api">} Input */

/**
 * Turns keys and pointers into choices. A choice counts when its key is
 * released, so a wrong press is put right by pressing another key before
 * letting go: the last one released wins. Escape takes it back. Keys that went
 * down before the gate opened, or that repeat, do not count; a held Enter presses
 * no button twice.
 *
 * Events: "preview" (detail: choice or ""), "commit" (detail: {choice, input}),
 * "open" when input begins to count, and "early" when it came before.
 */
export class Chooser extends EventTarget {
  #openFrom = Infinity; // performance.now() from which input counts
  /** @type {Map<string, string>} held keys → choice, in the order pressed */ #held = new Map();
  #covered = false; // by a dialog: nothing counts
  #opening = 0; // timer of "open"
  #timer = 0; // of the preview
  #preview = "";

  /** @param {(e: KeyboardEvent) => string} choiceOf the choice a key stands for, or "" */
  constructor(choiceOf) {
    super();
    this.choiceOf = choiceOf;
  }

  /** @param {AbortSignal} signal ends listening */
  listen(signal) {
    addEventListener("keydown", (e) => this.#down(e), { signal });
    addEventListener("keyup", (e) => this.#up(e), { signal });
    addEventListener("blur", () => this.cancel(), { signal });
    addEventListener("keydown", (e) => {
      if (e.repeat && e.key === "Enter") e.preventDefault(); // also in dialogs: what opened one must not answer it
    }, { signal, capture: true });
  }

  /**
   * Lets input count from SETTLE after the question was painted.
   * @param {number} painted performance.now() of the first frame
   */
  open(painted) {
    this.#openFrom = painted + SETTLE;
    this.#announce();
  }

  /** Lets nothing count until the next open. */
  close() {
    this.#openFrom = Infinity;
    clearTimeout(this.#opening);
    this.cancel();
  }

  /** @param {boolean} on whether a dialog lies over the question */
  cover(on) {
    this.#covered = on;
    this.cancel();
  }

  get accepting() {
    return !this.#covered && performance.now() >= this.#openFrom;
  }

  /** Forgets what is held. */
  cancel() {
    this.#held.clear();
    this.#show("");
  }

  /**
   * Makes a button answer to pointers.
   * @param {HTMLElement} el
   * @param {() => string} choice
   * @param {AbortSignal} signal
   */
  attach(el, choice, signal) {
    let input = /** @type {Input} */ ("keyboard");
    el.addEventListener("pointerdown", (e) => {
      input = e.pointerType === "mouse" ? "mouse" : "touch";
      if (e.button === 0 && this.accepting) this.#later(choice());
    }, { signal });
    el.addEventListener("mousedown", (e) => e.preventDefault(), { signal }); // a click must not take the focus: Space would repeat it
    for (const end of ["pointerleave", "pointercancel"]) el.addEventListener(end, () => this.#show(""), { signal });
    el.addEventListener("click", (e) => this.commit(choice(), e.detail === 0 ? "keyboard" : input), { signal });
  }

  /**
   * @param {string} choice
   * @param {Input} input
   */
  commit(choice, input) {
    if (!this.accepting) return this.#early();
    this.cancel();
    this.dispatchEvent(new CustomEvent("commit", { detail: { choice, input } }));
  }

  #announce() {
    clearTimeout(this.#opening);
    const wait = this.#openFrom - performance.now();
    if (wait > 0) this.#opening = setTimeout(() => this.#announce(), Math.ceil(wait));
    else this.dispatchEvent(new Event("open"));
  }

  #early() {
    if (!this.#covered) this.dispatchEvent(new Event("early"));
  }

  /** @param {KeyboardEvent} e */
  #down(e) {
    if (e.key === "Escape") this.cancel();
    const choice = this.#reads(e) ? this.choiceOf(e) : "";
    if (!choice) return;
    e.preventDefault();
    if (e.repeat) return;
    if (!this.accepting) return this.#early();
    const id = e.code || e.key; // a screen keyboard may send no code
    this.#held.delete(id);
    this.#held.set(id, choice);
    this.#later(choice);
  }

  /** @param {KeyboardEvent} e */
  #up(e) {
    const id = e.code || e.key;
    const choice = this.#held.get(id);
    if (choice === undefined) return;
    this.#held.delete(id);
    if (this.#held.size === 0) this.commit(choice, "keyboard");
    else this.#show([...this.#held.values()].at(-1) ?? "");
  }

  /** @param {KeyboardEvent} e */
  #reads(e) {
    const el = /** @type {Element} */ (e.target);
    return !this.#covered && !command(e) && !el.closest?.("dialog, input, textarea");
  }

  /** @param {string} choice */
  #later(choice) {
    clearTimeout(this.#timer);
    if (this.#preview) this.#show(choice); // already previewing: follow at once
    else this.#timer = setTimeout(() => this.#show(choice), PREVIEW);
  }

  /** @param {string} choice */
  #show(choice) {
    clearTimeout(this.#timer);
    if (choice === this.#preview) return;
    this.#preview = choice;
    this.dispatchEvent(new CustomEvent("preview", { detail: choice }));
  }
}
