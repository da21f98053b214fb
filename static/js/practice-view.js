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
    const button = view.part("practise");
    button.hidden = practice.address === "";
    button.addEventListener("click", async () => {
      if (!(await practice.again())) view.toast("The server is not reachable. You can practise again when it is back.");
    }, { signal });
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
    }
    return text;
  }

  /** Shows what the researcher says of an answer. @param {Judged} judged */
  judged({ question, right }) {
    const { practice, show, view } = this.parts;
    view.part("practice-title").textContent = right === null ? "The researcher’s answer" : right ? "That is right" : "Not quite";
    const said = question.choice === "rated" ? `${Math.round(50 * ((question.rating ?? 0) + 1)) / 10} of 10` : view.named(side(question));
    view.part("practice-said").textContent = `The researcher says: ${said}.`;
    view.part("practice-note").textContent = question.note;
    view.part("practice-next").textContent = practice.clips.length === 0 ? "Go on to the questions that count" : "Next practice question";
    this.#dialog.dataset.right = right === null ? "" : String(right);
    show(this.#dialog);
  }
}

/** What the right answer is called on screen. @param {Judged["question"]} q */
function side(q) {
  return q.choice === "equal" ? "equal" : q.choice === q.left ? "left" : "right";
}
