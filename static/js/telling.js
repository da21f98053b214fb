// @ts-check
import { answerRow } from "./last-answers.js";

/**
 * Says how the annotator's answers helped.
 * @param {Pick<import("./wire.js").Telling, "of"|"unexpected">} of
 */
export function helped({ of, unexpected }) {
  if (of === 0) return "";
  const how = unexpected === 0 ? `In none of your last ${of} answers had it expected another one.`
    : `It learns most from what it does not expect. In ${unexpected} of your last ${of} answers it had expected another one.`;
  return `${of === 1 ? "" : how} What it expected least:`.trim();
}

/** Shows the annotator's most telling answers at the end. */
export class Telling {
  #parts;
  #shown = ""; // state of the session of which they are shown

  /** @param {{view: import("./labelview.js").LabelView, address: string, calm: MediaQueryList}} parts */
  constructor(parts) {
    this.#parts = parts;
  }

  /**
   * Shows them, once for each state.
   * @param {string} state
   */
  async show(state) {
    if (this.#shown === state) return;
    this.#shown = state;
    const { address, calm, view } = this.#parts;
    /** @type {import("./wire.js").Telling} */ let found;
    try {
      const reply = await fetch(address, { credentials: "same-origin", cache: "no-store" });
      if (!reply.ok) return this.#retry(state);
      found = await reply.json();
    } catch {
      return this.#retry(state);
    }
    if (this.#shown !== state) return;
    view.part("telling").hidden = found.answers.length === 0;
    view.part("telling-text").textContent = helped(found);
    view.part("telling-list").replaceChildren(...found.answers.map((g) => {
      const row = answerRow(view, g, calm.matches);
      row.querySelector("button")?.remove();
      return row;
    }));
  }

  /** Lets the next call try again: the server is away or busy. @param {string} state */
  #retry(state) {
    if (this.#shown === state) this.#shown = "";
  }

  hide() {
    this.#shown = "";
    this.#parts.view.part("telling").hidden = true;
  }
}
