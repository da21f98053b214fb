// @ts-check
const WAIT = 300; // ms in which messages gather, so that an answer is one announcement

/**
 * Speaks to screen readers through one polite live region. Messages of a kind
 * replace one another until they are spoken.
 */
export class Announcer {
  /** @type {Map<string, string>} kind → text */ #pending = new Map();
  #timer = 0;
  #again = false;

  /** @param {HTMLElement} region with aria-live */
  constructor(region) {
    this.region = region;
  }

  /**
   * @param {string} kind
   * @param {string} text "" takes back what is not spoken yet
   */
  say(kind, text) {
    this.#pending.delete(kind);
    if (!text) return;
    this.#pending.set(kind, text);
    this.#timer ||= setTimeout(() => this.#speak(), WAIT);
  }

  #speak() {
    this.#timer = 0;
    if (this.#pending.size === 0) return;
    this.#again = !this.#again; // the same words twice must read as a change
    this.region.textContent = [...this.#pending.values()].join(" ") + (this.#again ? "" : "\u00a0");
    this.#pending.clear();
  }
}
