// @ts-check
import { fetchPart } from "./fragment.js";
import { Paced } from "./paced.js";

const PAUSE = 2000; // ms between two looks at the server
const LEASES = 30_000; // ms after which leases are looked at again, which may change without an answer

/**
 * Keeps the charts that the server draws up to date: each is replaced if it has changed.
 *
 *   <div data-charts="/sessions/s/charts"></div>
 */
export class ChartsPart {
  #root;
  #paced = new Paced(() => this.#fetch(), PAUSE);

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
    setInterval(() => document.hidden || this.#paced.ask(), LEASES);
  }

  changed() {
    this.#paced.ask();
  }

  async #fetch() {
    const fresh = await fetchPart(this.#root.dataset.charts ?? "");
    if (!fresh) return;
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
  const at = [...was.querySelectorAll(".scroll")].map((s) => s.scrollLeft);
  was.replaceWith(is);
  is.querySelectorAll(".scroll").forEach((s, i) => (s.scrollLeft = at[i] ?? 0));
}
