// @ts-check
import { fetchPart } from "./fragment.js";
import { Paced } from "./paced.js";
import { steady } from "./steady.js";

const PAUSE = 2000; // ms between two looks at the server
const LEASES = 30_000; // ms after which leases are looked at again, which may change without an answer

/**
 * Keeps the charts that the server draws up to date: each is replaced if it has changed. Figures without a section go to the places
 * that the page has for them; all are drawn for the width of the screen, and with a logarithmic scale while the button for it is pressed.
 *
 *   <div data-place="regret"></div>
 *   <div data-charts="/sessions/s/charts?page=learning"></div>
 */
export class ChartsPart {
  #root;
  #phone = matchMedia("(max-width: 40rem)");
  #wide = matchMedia("(min-width: 79rem)"); // a card across the page has room for the widest figures
  #log = false;
  #paced = new Paced(() => this.#fetch(), PAUSE);

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
    for (const width of [this.#phone, this.#wide]) width.addEventListener("change", () => this.changed());
    document.querySelector("[data-log]")?.addEventListener("click", (e) => this.#scale(/** @type {HTMLElement} */ (e.currentTarget)));
    setInterval(() => document.hidden || this.#paced.ask(), LEASES);
  }

  changed() {
    this.#paced.ask();
  }

  /** @param {HTMLElement} button */
  #scale(button) {
    this.#log = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(this.#log));
    const file = /** @type {HTMLAnchorElement} */ (button.parentElement?.querySelector("a[href*='.svg']")); // of the figure on the page
    file.search = this.#log ? "scale=log" : "";
    this.changed();
  }

  async #fetch() {
    const fresh = await fetchPart((this.#root.dataset.charts ?? "") + (this.#phone.matches ? "&narrow=1" : this.#wide.matches ? "&wide=1" : "") + (this.#log ? "&scale=log" : ""));
    if (!fresh) return;
    steady(() => this.#show(fresh));
  }

  /** @param {Element} fresh */
  #show(fresh) {
    for (const figure of fresh.querySelectorAll(":scope > [data-figure]")) place(/** @type {HTMLElement} */ (figure));
    const now = this.#root.firstElementChild;
    const [old, next] = [now ? sections(now) : [], sections(fresh)];
    if (!now || old.length !== next.length) {
      this.#root.replaceChildren(fresh);
      return;
    }
    old.forEach((section, i) => replace(section, next[i]));
    now.setAttribute("data-charts-of", fresh.getAttribute("data-charts-of") ?? "");
  }
}

/**
 * Takes a figure to its place.
 * @param {HTMLElement} figure
 */
function place(figure) {
  const at = document.querySelector(`[data-place="${figure.dataset.figure}"]`);
  figure.remove();
  if (at?.firstElementChild) replace(at.firstElementChild, figure);
  else at?.append(figure);
}

/**
 * @param {Element} of
 * @returns {Element[]}
 */
function sections(of) {
  return [...of.querySelectorAll("[data-chart]")];
}

/**
 * Replaces a chart if it has changed, unless somebody is in it with the keyboard.
 * @param {Element} was
 * @param {Element} is
 */
function replace(was, is) {
  const open = [...was.querySelectorAll("details")].map((d) => d.open);
  is.querySelectorAll("details").forEach((d, i) => (d.open = open[i] ?? false));
  if (was.isEqualNode(is) || was.contains(document.activeElement)) return;
  const at = [...was.querySelectorAll(".scroll")].map((s) => ({ left: s.scrollLeft, top: s.scrollTop }));
  was.replaceWith(is);
  is.querySelectorAll(".scroll").forEach((s, i) => s.scrollTo(at[i] ?? {}));
}
