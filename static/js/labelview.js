// @ts-check
import { Announcer } from "./announcer.js";
import { count } from "./count.js";

const TOAST = 3500; // ms
const SIGNS = /** @type {Record<string, string>} */ ({ equal: "=", cant_tell: "?" }); // a chosen clip has a tick of its own
const NAMES = /** @type {Record<string, string>} */ ({ left: "Left", right: "Right", equal: "Equal", cant_tell: "Can’t tell", both_bad: "Both bad", both_good: "Both good" });
const MUCH = /^much:/;
const COLUMN = /** @type {Record<string, string>} */ ({ left: "Upper", right: "Lower" });

/**
 * What the question on screen waits for before it takes an answer: "" there is no
 * question, "play" the clips have not been played, "settle" it has only just
 * appeared, "open" nothing. The page shows "covered" while a dialog is open.
 * @typedef {""|"play"|"settle"|"open"} Gate
 */

/**
 * What the annotator's page shows around the player. It reads nothing back:
 * each method puts one thing on the page.
 */
export class LabelView {
  #toastTimer = 0;
  #unsaved = ""; // what was announced of unsaved answers
  #gate = /** @type {Gate} */ ("");
  #covered = false;

  /** @param {HTMLElement} body */
  constructor(body) {
    this.body = body;
    this.announcer = new Announcer(this.part("announce"));
  }

  /**
   * @param {string} name of a data attribute
   * @returns {HTMLElement}
   */
  part(name) {
    return /** @type {HTMLElement} */ (this.body.querySelector(`[data-${name}]`));
  }

  /**
   * @param {Pick<import("./wire.js").Status, "answers"|"mine"|"skipped"|"budget"|"learning">} status skipped: those of mine
   *   that do not count towards the budget
   * @param {string} left how much is left, in words
   */
  progress({ answers, mine, skipped, budget, learning }, left) {
    const bar = /** @type {HTMLProgressElement} */ (this.part("progress-bar"));
    const total = budget > 0 ? `${count(answers)} / ${count(budget)}` : `${count(answers)} answer${answers === 1 ? "" : "s"}`;
    const counted = mine - skipped;
    this.part("progress-text").textContent = counted === answers ? total : `${total}, ${count(counted)} by you`;
    const more = this.part("left-text");
    more.textContent = left;
    more.hidden = left === "";
    const waits = learning?.running && learning.answers > 1 ? learning.answers : 0; // one is learnt from at once, as a rule
    const learns = this.part("learning-text");
    const text = learning?.waits ? `${waits} answers wait for other sessions` : `learning from the last ${waits} answers …`;
    learns.textContent = waits > 0 ? text : "";
    learns.hidden = waits === 0;
    bar.hidden = budget <= 0;
    bar.max = Math.max(1, budget);
    bar.value = answers;
    this.body.dataset.answered = String(mine);
  }

  /**
   * @param {number} unsent
   * @param {boolean} slow say so in words: it takes longer than a blink
   */
  saved(unsent, slow) {
    this.body.dataset.unsent = String(unsent);
    const part = this.part("saved");
    part.querySelectorAll("i").forEach((dot, i, dots) => dot.toggleAttribute("data-open", dots.length - i <= unsent));
    part.toggleAttribute("data-late", slow);
    const text = slow ? `${unsent} unsent` : "saved";
    const label = this.part("saved-text");
    if (label.textContent !== text) label.textContent = text;
    const was = this.#unsaved;
    this.#unsaved = slow ? `${unsent} not saved yet.` : unsent > 0 ? was || " " : "";
    if (this.#unsaved === was) return;
    this.announcer.say("saved", unsent > 0 ? this.#unsaved.trim() : "Saved.");
  }

  /**
   * Lays a message over the player, or takes it away if text is empty.
   * @param {string} text
   * @param {{busy?: boolean, broken?: boolean, done?: boolean, consent?: string}} [how] consent: where the annotator is to agree
   */
  note(text, how = {}) {
    this.part("note").hidden = text === "";
    const label = this.part("note-text");
    if (label.textContent !== text) {
      label.textContent = text;
      this.announcer.say("note", text);
    }
    this.part("spinner").hidden = !how.busy;
    this.part("tick").toggleAttribute("hidden", !how.done); // an SVG has no .hidden
    this.part("note-broken").hidden = !how.broken;
    this.part("consent").hidden = !how.consent;
    if (how.consent) /** @type {HTMLAnchorElement} */ (this.part("consent-link")).href = how.consent;
  }

  /** @param {string} choice "" for none */
  preview(choice) {
    this.part("stage").dataset.preview = choice.replace(MUCH, "");
    this.part("stage").toggleAttribute("data-much", MUCH.test(choice));
    this.part("sign").textContent = choice.startsWith("rate:") ? this.rated(choice) : SIGNS[choice] ?? "";
    this.buttons((b) => b.toggleAttribute("data-held", b.dataset.choice === choice && choice !== ""));
  }

  /**
   * Confirms a choice: its button lights up for a moment.
   * @param {string} choice
   */
  flash(choice) {
    this.buttons((b) => {
      if (b.dataset.choice !== choice) return;
      b.classList.remove("flash");
      void b.offsetWidth; // starts the animation anew
      b.classList.add("flash");
    });
  }

  /** @param {string} text says it for a few seconds */
  toast(text) {
    const toast = this.part("toast");
    toast.textContent = text;
    if (text) this.announcer.say("toast", text);
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(() => (toast.textContent = ""), TOAST);
  }

  /** @param {boolean} on whether a question is on screen */
  painted(on) {
    this.body.dataset.painted = String(on);
  }

  /** @param {Gate} gate */
  gate(gate) {
    this.#gate = gate;
    this.cover(this.#covered);
    const shut = gate === "" || gate === "play";
    this.buttons((b) => b.setAttribute("aria-disabled", String(shut)));
  }

  /** @param {boolean} on whether a dialog is open */
  cover(on) {
    this.#covered = on;
    this.body.dataset.gate = on ? "covered" : this.#gate;
  }

  /**
   * Puts the keys of a layout on the buttons. What stands on them follows by CSS.
   * @param {import("./keys.js").Layout} layout
   */
  layout(layout) {
    this.body.dataset.layout = layout;
    this.buttons((b) => {
      const keys = b.dataset[layout === "row" ? "rowKeys" : "columnKeys"];
      if (keys) b.setAttribute("aria-keyshortcuts", keys);
    });
  }

  /**
   * What a rating is called: its number, or the name that its button has.
   * @param {string} choice
   * @param {string} [of] follows a number
   */
  rated(choice, of = "") {
    const button = /** @type {HTMLElement|null} */ (this.body.querySelector(`button[data-choice="${choice}"]`));
    return button?.dataset.name ?? choice.slice(5) + of;
  }

  /**
   * What a choice is called on screen.
   * @param {string} choice
   * @returns {string}
   */
  named(choice) {
    if (choice.startsWith("rate:")) return this.rated(choice);
    if (MUCH.test(choice)) return `${this.named(choice.replace(MUCH, ""))}, much better`;
    if (choice.startsWith("pick:")) return `Clip ${choice.slice(5)}`;
    return (this.body.dataset.layout === "column" && COLUMN[choice]) || (NAMES[choice] ?? "");
  }

  /** @param {import("./wire.js").Remark|""} remark that is said about the clips on screen */
  remark(remark) {
    this.remarks((b) => b.setAttribute("aria-pressed", String(b.dataset.remark === remark)));
  }

  /**
   * Calls f with the buttons for remarks, and returns how many there are.
   * @param {(b: HTMLElement) => void} [f]
   */
  remarks(f = () => {}) {
    const list = /** @type {NodeListOf<HTMLElement>} */ (this.body.querySelectorAll("button[data-remark]"));
    list.forEach((b) => f(b));
    return list.length;
  }

  /** @param {(b: HTMLElement) => void} f */
  buttons(f) {
    this.body.querySelectorAll("button[data-choice]").forEach((b) => f(/** @type {HTMLElement} */ (b)));
  }
}
