// @ts-check
const WORDS = /** @type {Record<string, string>} */ ({
  equal: "Equal", cant_tell: "Can’t tell", skip: "Skipped", technical_failure: "The clip failed",
  best_worst: "The best, and the worst",
});

/** @typedef {import("./wire.js").Given} Given */

/**
 * Which of the clips was chosen, by its place from the left; -1 for none.
 * @param {Given} g
 */
export function chosen({ choice, left }) {
  if (choice === "best_worst") return 0;
  if (choice !== "a" && choice !== "b") return -1;
  return choice === left ? 0 : 1;
}

/**
 * The clips to show, in their order; of a group the best and the worst.
 * @param {Given} g
 */
export function shown({ clips, left, best, worst }) {
  if (best && worst) return [best, worst].map((side) => clips[side.charCodeAt(0) - "a".charCodeAt(0)]);
  return left === "b" ? clips.toReversed() : clips;
}

/**
 * What an answer said, in words.
 * @param {Given} g
 * @param {(choice: string, of: string) => string} rated what a rating is called
 */
export function said(g, rated) {
  if (g.choice === "rated") return rated(`rate:${Math.round((g.rating ?? 0) * 5 + 5)}`, " of 10");
  const words = [WORDS[g.choice] ?? ["Left", "Right"][chosen(g)]];
  if (g.much) words.push("much better");
  if (g.remark) words.push(g.remark === "both_bad" ? "both bad" : "both good");
  return words.join(", ");
}

/**
 * A row with an answer: its clips, and what was said of them.
 * @param {import("./labelview.js").LabelView} view
 * @param {Given} g
 * @param {boolean} paused
 */
export function answerRow(view, g, paused) {
  const row = /** @type {DocumentFragment} */ (/** @type {HTMLTemplateElement} */ (view.part("last-row")).content.cloneNode(true));
  const clips = /** @type {HTMLElement} */ (row.querySelector("[data-last-clips]"));
  shown(g).forEach((url, i) => {
    const loop = document.createElement("clip-loop");
    loop.setAttribute("src", url);
    loop.toggleAttribute("paused", paused);
    loop.toggleAttribute("data-chosen", i === chosen(g));
    clips.append(loop);
  });
  /** @type {HTMLElement} */ (row.querySelector("[data-last-said]")).textContent = said(g, view.rated.bind(view));
  return row;
}

/** Shows the annotator's last answers, each of which can be changed. */
export class LastAnswers {
  #parts;

  /**
   * @param {object} parts
   * @param {import("./labelview.js").LabelView} parts.view
   * @param {string} parts.address of the list
   * @param {MediaQueryList} parts.calm matches if motion is unwelcome
   * @param {(dialog: HTMLDialogElement) => boolean} parts.show opens a dialog unless another one is open
   * @param {(id: string) => void} parts.change takes an answer back, so that it is asked again
   */
  constructor(parts) {
    this.#parts = parts;
  }

  async open() {
    const { address, show, view } = this.#parts;
    const dialog = /** @type {HTMLDialogElement} */ (view.part("last-dialog"));
    if (!show(dialog)) return;
    const list = view.part("last-list");
    list.replaceChildren();
    this.#say("Loading …");
    try {
      const reply = await fetch(address, { credentials: "same-origin", cache: "no-store" });
      if (!reply.ok) throw new Error(`status ${reply.status}`);
      const answers = /** @type {Given[]} */ (await reply.json());
      list.replaceChildren(...answers.map((g) => this.#row(g, dialog)));
      this.#say(answers.length > 0 ? "" : "There is no answer that can be changed yet.");
    } catch {
      this.#say("The server is not reachable. Your answers are kept; open this again when it is back.");
    }
  }

  /**
   * @param {Given} g
   * @param {HTMLDialogElement} dialog
   */
  #row(g, dialog) {
    const { calm, change, view } = this.#parts;
    const row = answerRow(view, g, calm.matches);
    const words = said(g, view.rated.bind(view));
    /** @type {HTMLElement} */ (row.querySelector("[data-last-told]")).hidden = !g.told;
    const button = /** @type {HTMLButtonElement} */ (row.querySelector("button"));
    button.setAttribute("aria-label", `Change this answer: ${words}`);
    button.addEventListener("click", () => {
      dialog.close();
      change(g.id);
    });
    return row;
  }

  /** @param {string} text */
  #say(text) {
    this.#parts.view.part("last-note").textContent = text;
  }
}
