// @ts-check
import { uuid } from "./uuid.js";

/** Takes a note about the present question for the researcher. The question stays open. */
export class Flag {
  #parts;
  #assignment = ""; // that the note is about
  #id = "";

  /**
   * @param {object} parts
   * @param {import("./labelview.js").LabelView} parts.view
   * @param {string} parts.address to which notes are sent
   * @param {(dialog: HTMLDialogElement) => boolean} parts.show opens a dialog unless another one is open
   * @param {AbortSignal} parts.signal
   */
  constructor(parts) {
    this.#parts = parts;
    const { view, signal } = parts;
    view.part("flag-form").addEventListener("submit", (e) => {
      e.preventDefault();
      this.#send();
    }, { signal });
    view.part("flag-cancel").addEventListener("click", () => this.#dialog.close(), { signal });
  }

  /** Asks for the note. What was written and not sent is still there. */
  open() {
    const { show, view } = this.#parts;
    const now = view.body.dataset.assignment ?? "";
    if (now === "" || now.startsWith("practice.") || !show(this.#dialog)) return;
    if (now !== this.#assignment) this.#start(now);
    this.#text.focus();
  }

  get #dialog() {
    return /** @type {HTMLDialogElement} */ (this.#parts.view.part("flag-dialog"));
  }

  get #text() {
    return /** @type {HTMLTextAreaElement} */ (this.#parts.view.part("flag-text"));
  }

  /** @param {string} assignment */
  #start(assignment) {
    this.#assignment = assignment;
    this.#id = uuid();
    this.#text.value = "";
    this.#parts.view.part("flag-note").textContent = "";
  }

  async #send() {
    const { address, view } = this.#parts;
    const id = this.#id;
    view.part("flag-note").textContent = "Sending …";
    const sent = JSON.stringify({ id, assignment: this.#assignment, note: this.#text.value });
    const reply = await fetch(address, {
      method: "POST", body: sent, headers: { "Content-Type": "application/json" }, credentials: "same-origin",
    }).catch(() => null);
    if (id !== this.#id) { // another note is being written
      if (!reply?.ok) view.toast("Your note about an earlier question did not reach the researcher.");
      return;
    }
    if (!reply?.ok) {
      const why = !reply || reply.status >= 500 ? "The server is not reachable." : "The server did not accept the note.";
      view.part("flag-note").textContent = `${why} What you wrote stays here: try again, or cancel.`;
      return;
    }
    this.#start("");
    this.#dialog.close();
    view.announcer.say("answer", "Sent to the researcher.");
  }
}
