// @ts-check
/** @typedef {import("./live.js").State} State */

const TOAST = 3500; // ms
const SIGNS = /** @type {Record<string, string>} */ ({ left: ">", right: "<", equal: "=", cant_tell: "?" });

/**
 * What the annotator's page shows around the player. It reads nothing back:
 * each method puts one thing on the page.
 */
export class LabelView {
  #toastTimer = 0;

  /** @param {HTMLElement} body */
  constructor(body) {
    this.body = body;
  }

  /**
   * @param {string} name of a data attribute
   * @returns {HTMLElement}
   */
  part(name) {
    return /** @type {HTMLElement} */ (this.body.querySelector(`[data-${name}]`));
  }

  /** @param {{answers: number, mine: number, budget: number}} status */
  progress({ answers, mine, budget }) {
    const bar = /** @type {HTMLProgressElement} */ (this.part("progress-bar"));
    const total = budget > 0 ? `${answers} / ${budget}` : `${answers} answer${answers === 1 ? "" : "s"}`;
    this.part("progress-text").textContent = mine === answers ? total : `${total} (${mine})`;
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
  }

  /**
   * Says that the server is away, or nothing if it is not.
   * @param {State|null} state
   * @param {number} unsent
   * @param {boolean} durable
   */
  banner(state, unsent, durable) {
    const banner = this.part("banner");
    banner.hidden = state === null;
    if (!state) return;
    const kept = unsent === 0 ? "Nothing is lost" : durable
      ? `Your answers are kept in this browser (${unsent} unsent)`
      : `Keep this page open: ${unsent} unsent`;
    const seconds = Math.max(0, Math.ceil((state.retryAt - Date.now()) / 1000));
    const text = state.state === "refused"
      ? `The server does not let this browser in any more (${state.status}). Open your link again. ${kept}.`
      : `Tiebreak is not reachable. ${kept}; ${state.state === "connecting" || seconds === 0 ? "trying again now" : `trying again in ${seconds} s`}.`;
    const label = this.part("banner-text");
    if (label.textContent !== text) label.textContent = text;
  }

  /**
   * Lays a message over the player, or takes it away if text is empty.
   * @param {string} text
   * @param {{busy?: boolean, broken?: boolean, done?: boolean}} [how]
   */
  note(text, how = {}) {
    this.part("note").hidden = text === "";
    const label = this.part("note-text");
    if (label.textContent !== text) label.textContent = text;
    this.part("spinner").hidden = !how.busy;
    this.part("tick").toggleAttribute("hidden", !how.done); // an SVG has no .hidden
    this.part("note-broken").hidden = !how.broken;
  }

  /** @param {string} choice "" for none */
  preview(choice) {
    this.part("stage").dataset.preview = choice;
    this.part("sign").textContent = choice.startsWith("rate:") ? choice.slice(5) : SIGNS[choice] ?? "";
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
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(() => (toast.textContent = ""), TOAST);
  }

  /** @param {boolean} on whether answers count */
  accepting(on) {
    this.body.dataset.painted = String(on);
    this.buttons((b) => b.setAttribute("aria-disabled", String(!on)));
  }

  /** @param {(b: HTMLElement) => void} f */
  buttons(f) {
    this.body.querySelectorAll("button[data-choice]").forEach((b) => f(/** @type {HTMLElement} */ (b)));
  }
}
