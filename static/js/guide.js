// @ts-check
// What annotators are told to look for: shown before the first question of a version, and
// whenever they ask for it.

/**
 * @typedef {object} Parts
 * @property {HTMLElement} main with data-instructions-version, data-acknowledged (digits both) and data-acknowledge (a URL)
 * @property {HTMLDialogElement} dialog
 * @property {(dialog: HTMLDialogElement) => boolean} show opens a dialog over the clips, unless there is one
 * @property {AbortSignal} signal
 */

/**
 * Opens the dialog where its version has not been acknowledged. Closing it acknowledges
 * that; what cannot be sent is sent by retry().
 */
export class Guide {
  #fetching = false; // a later version
  #unsent = 0; // version that the server does not know of; 0 for none

  /** @param {Parts} parts */
  constructor(parts) {
    this.parts = parts;
    this.#copy(document);
    parts.dialog.addEventListener("close", () => this.#read(), { signal: parts.signal });
  }

  /** The version that is on the page. */
  get version() {
    return Number(this.parts.main.dataset.instructionsVersion);
  }

  get #acknowledged() {
    return Number(this.parts.main.dataset.acknowledged);
  }

  /** Shows the instructions if they are new to the annotator. */
  open() {
    const { dialog, show } = this.parts;
    if (this.#acknowledged >= this.version || (!dialog.open && !show(dialog))) return;
    const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (dialog.querySelector(`[data-${name}]`));
    part("close").hidden = true;
    part("news").hidden = this.#acknowledged === 0;
    part("start").textContent = this.#acknowledged === 0 ? "Start" : "Go on";
    part("start").focus({ preventScroll: true });
    dialog.scrollTop = 0;
  }

  /**
   * Takes a later version from the server and shows it.
   * @param {number} version that is in use
   */
  async renew(version) {
    if (!(version > this.version)) return this.open(); // if another dialog was in its way before
    if (this.#fetching) return;
    this.#fetching = true;
    try {
      const reply = await fetch(location.pathname, { credentials: "same-origin" });
      if (reply.ok && !reply.redirected) this.#replace(new DOMParser().parseFromString(await reply.text(), "text/html"));
    } catch {
      // the server is away: its next status asks again, as it does while it sends people to its consent page
    }
    this.#fetching = false;
  }

  /** Takes what the guide says from another copy of the page. @param {Document} page */
  #replace(page) {
    const main = page.querySelector("main");
    if (!(Number(main?.dataset.instructionsVersion) > this.version)) return; // an older page, or another one
    this.#copy(page);
    this.parts.main.dataset.instructionsVersion = main?.dataset.instructionsVersion;
    this.open();
  }

  /** Puts what the dialog and the heading of a page say wherever the guide is shown. @param {Document} page */
  #copy(page) {
    for (const part of document.querySelectorAll("[data-guide]")) {
      const from = page.querySelector(`:is(dialog, h1) [data-guide=${/** @type {HTMLElement} */ (part).dataset.guide}]`);
      if (from && from !== part) part.replaceChildren(...from.cloneNode(true).childNodes);
    }
  }

  /** Sends again what the server does not know of. */
  retry() {
    if (this.#unsent > 0) this.#send(this.#unsent);
  }

  #read() {
    const { dialog, main } = this.parts;
    const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (dialog.querySelector(`[data-${name}]`));
    part("close").hidden = false;
    part("news").hidden = true;
    part("start").textContent = "Go on";
    if (this.#acknowledged >= this.version) return;
    main.dataset.acknowledged = String(this.version);
    this.#send(this.version);
  }

  /** @param {number} version */
  async #send(version) {
    this.#unsent = version;
    const url = this.parts.main.dataset.acknowledge ?? "";
    const reply = await fetch(url, { method: "POST", body: new URLSearchParams({ version: String(version) }), credentials: "same-origin" })
      .catch(() => null);
    if (reply && reply.status < 500 && this.#unsent === version) this.#unsent = 0;
  }
}
