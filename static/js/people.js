// @ts-check
/**
 * Keeps the lists of people and links, and the form for the number of answers
 * wanted, as they are on the server. The page works without it.
 */
export class People {
  #page;
  #busy = false; // the page is being fetched

  /** @param {HTMLElement} page */
  constructor(page) {
    this.#page = page;
  }

  /** @param {Pick<import("./wire.js").State, "joined"|"budget">} state */
  show({ joined, budget }) {
    const wanted = /** @type {HTMLInputElement|null} */ (this.#page.querySelector("[data-budget]"));
    if (wanted && wanted !== document.activeElement && wanted.value === wanted.defaultValue) {
      wanted.value = wanted.defaultValue = String(budget);
    }
    const panel = this.#panel;
    if (panel && Number(panel.dataset.joined) !== joined && !inUse(panel)) this.#refresh();
  }

  /** @returns {HTMLElement|null} */
  get #panel() {
    return this.#page.querySelector("[data-people]");
  }

  async #refresh() {
    if (this.#busy) return;
    this.#busy = true;
    try {
      const reply = await fetch(location.pathname, { credentials: "same-origin", cache: "no-store" });
      const fresh = new DOMParser().parseFromString(await reply.text(), "text/html").querySelector("[data-people]");
      const panel = this.#panel;
      if (reply.ok && fresh && panel && !inUse(panel)) panel.replaceWith(fresh);
    } catch {
      // the next state tries again
    } finally {
      this.#busy = false;
    }
  }
}

/**
 * Whether somebody is at work in the panel, so that it must stay as it is.
 * @param {HTMLElement} panel
 */
function inUse(panel) {
  return panel.contains(document.activeElement) || panel.querySelector("details[open]") !== null;
}
