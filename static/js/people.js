// @ts-check
const PEOPLE = "[data-people]";
const CONTROL = "[data-control]";

/**
 * Keeps the lists of people and links, the form for the number of answers wanted, and
 * what controls the session, as they are on the server, as far as the page has them. The page works without it.
 */
export class People {
  #page;
  #busy = false; // the page is being fetched

  /** @param {HTMLElement} page */
  constructor(page) {
    this.#page = page;
  }

  /** @param {Pick<import("./wire.js").State, "joined"|"budget"|"state">} now */
  show({ joined, budget, state }) {
    const wanted = /** @type {HTMLInputElement|null} */ (this.#page.querySelector("[data-budget]"));
    if (wanted && wanted !== document.activeElement && wanted.value === wanted.defaultValue) {
      wanted.value = wanted.defaultValue = String(budget);
    }
    const stale = [];
    const panel = this.#part(PEOPLE);
    if (panel && Number(panel.dataset.joined) !== joined) stale.push(PEOPLE);
    const control = this.#part(CONTROL);
    if (control && control.dataset.state !== (state || "running")) stale.push(CONTROL);
    if (stale.length) this.#refresh(stale);
  }

  /**
   * @param {string} part
   * @returns {HTMLElement|null}
   */
  #part(part) {
    return this.#page.querySelector(part);
  }

  /** @param {string[]} parts */
  async #refresh(parts) {
    if (this.#busy) return;
    this.#busy = true;
    try {
      const reply = await fetch(location.pathname, { credentials: "same-origin", cache: "no-store" });
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      if (!reply.ok) return;
      for (const part of parts) {
        const fresh = page.querySelector(part);
        const old = this.#part(part);
        if (fresh && old && !inUse(old)) old.replaceWith(fresh);
      }
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
