// @ts-check

/** @typedef {import("./practice.js").Practice} Practice */
/** @typedef {ReturnType<Practice["answer"]>} Judged */

/**
 * What the annotator's page shows of practice: the mark above the question, and after an
 * answer what the researcher says.
 */
export class PracticeView {
  /**
   * @param {object} parts
   * @param {import("./labelview.js").LabelView} parts.view
   * @param {Practice} parts.practice
   * @param {(dialog: HTMLDialogElement) => void} parts.show opens a dialog over the clips
   * @param {AbortSignal} parts.signal
   */
  constructor(parts) {
    this.parts = parts;
    const { practice, signal, view } = parts;
    this.#dialog.addEventListener("close", () => practice.next(), { signal });
    view.part("practise").addEventListener("click", async () => {
      const n = await practice.again();
      if (n === undefined) view.toast("The server is not reachable. You can practise again when it is back.");
      if (n === 0) view.toast("There are no clips to practise with yet.");
    }, { signal });
    view.part("practice-skip").addEventListener("click", () => practice.skip(), { signal });
  }

  get #dialog() {
    return /** @type {HTMLDialogElement} */ (this.parts.view.part("practice-dialog"));
  }

  /** Says above the question that it is for practice, if it is. Returns that, for screen readers. @param {boolean} is */
  mark(is) {
    const { practice, view } = this.parts;
    const { number, total } = practice.place;
    const on = is && total > 0;
    const text = on ? `Practice ${number} of ${total}` : "";
    if (!practice.judged) {
      view.part("practice-mark").textContent = on ? `${text}, which does not count:` : "";
      view.body.dataset.practice = on ? `${number}/${total}` : "";
      view.part("practice-skip").hidden = !(on && practice.skippable);
    }
    return text;
  }

  /** Shows what the researcher says of an answer; where nobody does, what the answer was. @param {Judged} judged */
  judged({ question, answer, right }) {
    const { practice, show, view } = this.parts;
    const known = question.choice !== undefined;
    view.part("practice-title").textContent = !known ? "That is how it works" : right === null ? "The researcher’s answer" : right ? "That is right" : "Not quite";
    view.part("practice-said").textContent = known ? `The researcher says: ${this.#words(question, question.left)}.` : `You answered: ${this.#words(answer, question.left)}.`;
    view.part("practice-keys").hidden = known;
    view.part("practice-note").textContent = known ? question.note : "This answer does not count, and none was right or wrong. Decide the next ones by what you are asked to look for.";
    view.part("practice-next").textContent = practice.clips.length === 0 ? "Go on to the questions that count" : "Next practice question";
    this.#dialog.dataset.right = right === null ? "" : String(right);
    show(this.#dialog);
  }

  /**
   * What an answer is called on screen.
   * @param {{choice?: string, rating?: number}} answer
   * @param {Judged["question"]["left"]} left which clip is on the left
   */
  #words({ choice = "", rating = 0 }, left) {
    if (choice === "rated") return this.parts.view.rated(`rate:${Math.round(50 * (rating + 1)) / 10}`, " of 10");
    if (choice === "skip") return "Skip";
    if (choice === "technical_failure") return "The clips did not load";
    return this.parts.view.named(choice === "a" || choice === "b" ? (choice === left ? "left" : "right") : choice);
  }
}
