// @ts-check
/** @typedef {import("./chooser.js").Input} Input */

const ASKS = { best: "Which clip is the best?", worst: "And which is the worst?" };

/**
 * Picks the best and then the worst of several clips. What is picked stands on the clips,
 * and the question above them says which of the two is asked for.
 */
export class GroupPicker {
  #best = 0; // place of the best from 1 on; 0 while none is picked
  #parts;

  /**
   * @param {object} parts
   * @param {import("./labelview.js").LabelView} parts.view
   * @param {HTMLElement} parts.player
   * @param {(best: number, worst: number, input: Input) => void} parts.answer takes places from 1 on
   */
  constructor(parts) {
    this.#parts = parts;
  }

  /**
   * @param {number} place from 1 on
   * @param {Input} input
   */
  pick(place, input) {
    const { answer, view } = this.#parts;
    if (this.#best === place) return view.toast(`Clip ${place} is the best already. Pick the worst of the others, or press Esc to choose again.`);
    if (this.#best > 0) return answer(this.#best, place, input);
    this.#mark(place);
    view.announcer.say("question", `Clip ${place} is the best. ${ASKS.worst}`);
  }

  /** Takes the first pick back. It reports whether there was one. */
  undo() {
    if (this.#best === 0) return false;
    this.#mark(0);
    this.#parts.view.announcer.say("question", `Taken back. ${ASKS.best}`);
    return true;
  }

  /** Begins a question. */
  reset() {
    this.#mark(0);
  }

  /** @param {number} best */
  #mark(best) {
    const { player, view } = this.#parts;
    this.#best = best;
    view.body.dataset.picking = best > 0 ? "worst" : "best";
    view.part("step").textContent = best > 0 ? ASKS.worst : ASKS.best;
    view.part("again").toggleAttribute("disabled", best === 0);
    player.querySelectorAll(".frame").forEach((frame, i) => frame.toggleAttribute("data-best", i + 1 === best));
  }
}
