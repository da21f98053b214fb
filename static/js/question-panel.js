// @ts-check
import { fetchPart } from "./fragment.js";
import { Paced } from "./paced.js";
import { loadPlayers } from "./question-players.js";

const PAUSE = 2000; // ms between two looks at the server

/**
 * Shows one question after another, the newest first, with its clips and why it was asked.
 *
 *   <div data-question-panel="/sessions/s/questions">
 *     <button data-step="newest"></button> <button data-step="newer"></button> <button data-step="older"></button>
 *     <div data-question-place></div>
 *   </div>
 *
 * The newest one is followed until another is chosen, or it is used.
 */
export class QuestionPanel {
  #root;
  #url;
  #place;
  /** @type {string[]} */ #newer = []; // rows of the log that were shown before
  #shown = ""; // row of the log
  #newest = 0; // row of the newest answer
  #paced = new Paced(() => this.#follow(), PAUSE);

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
    this.#url = root.dataset.questionPanel ?? "";
    this.#place = /** @type {HTMLElement} */ (root.querySelector("[data-question-place]"));
    for (const b of root.querySelectorAll("[data-step]")) b.addEventListener("click", () => this.#step(/** @type {HTMLElement} */ (b).dataset.step ?? ""));
    this.#buttons(false);
  }

  /** @param {number} newest row of the newest answer; 0 before there is one */
  changed(newest) {
    this.#newest = newest;
    if (newest > 0) this.#paced.ask();
  }

  /** Shows the newest question, or brings what is said of the one that is shown up to date. */
  async #follow() {
    const used = this.#root.contains(document.activeElement) || this.#root.querySelector("[data-playing]") !== null;
    if (!this.#shown || this.#newer.length === 0 && Number(this.#shown) < this.#newest && !used) {
      await this.#show("");
      return;
    }
    this.#buttons(true);
    const row = this.#shown;
    const fresh = await fetchPart(`${this.#url}?answer=${row}`);
    if (!fresh || row !== this.#shown) return;
    for (const part of ["[data-facts]", "[data-head]"]) {
      const [was, is] = [this.#place.querySelector(part), fresh.querySelector(part)];
      if (was && is && !was.isEqualNode(is)) was.replaceWith(is);
    }
  }

  /** @param {string} where */
  async #step(where) {
    if (where === "older") {
      const from = this.#shown;
      if (await this.#show(`&before=${from}`)) this.#newer.push(from);
      else /** @type {HTMLButtonElement} */ (this.#root.querySelector("[data-step=older]")).disabled = true;
    } else if (where === "newer" && this.#newer.length > 0) {
      await this.#show(`&before=${Number(this.#newer.pop()) + 1}`);
    } else {
      this.#newer = [];
      await this.#show("");
    }
    this.#buttons(where !== "older");
  }

  /**
   * @param {string} which
   * @returns {Promise<boolean>} whether there is one
   */
  async #show(which) {
    const article = await fetchPart(`${this.#url}?part=1${which}`);
    const row = /** @type {HTMLElement|null} */ (article)?.dataset.question ?? "";
    if (!article || !row) return false;
    this.#shown = row;
    this.#place.replaceChildren(article);
    loadPlayers(article);
    this.#buttons(true);
    return true;
  }

  /** @param {boolean} older whether there may be an older one */
  #buttons(older) {
    for (const el of this.#root.querySelectorAll("[data-step]")) {
      const b = /** @type {HTMLButtonElement} */ (el);
      if (b.dataset.step === "newer") b.disabled = this.#newer.length === 0;
      if (b.dataset.step === "newest") b.disabled = this.#newer.length === 0 && Number(this.#shown) >= this.#newest;
      if (b.dataset.step === "older" && older) b.disabled = false;
      if (b.dataset.step === "older" && !this.#shown) b.disabled = true;
    }
  }
}
