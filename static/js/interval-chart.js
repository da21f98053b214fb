// @ts-check
import { shape, short } from "./chart.js";

/** @typedef {{id?: string, name: string, note?: string, mean: number, std: number}} Estimate std 0: there is no interval */

/**
 * @typedef {object} How
 * @property {(id: string) => void} [choose] called with the id of the estimate that was clicked
 * @property {string} [chosen] id of the estimate that is marked
 * @property {string} [unit] written after the numbers
 */

const Z = 1.96; // half-width of a 95 % interval, in standard deviations

/**
 * Draws estimates as dots with their 95 % intervals, one below another on one
 * axis that includes 0.
 * @param {HTMLElement} parent its content is replaced
 * @param {Estimate[]} estimates
 * @param {How} [how]
 */
export function intervalChart(parent, estimates, how = {}) {
  const at = axis(estimates);
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  const was = [...parent.children].indexOf(focused), same = estimates.findIndex((e) => e.id === focused.dataset.id);
  parent.replaceChildren(...estimates.map((e) => row(e, at, how)));
  if (was < 0) return;
  const place = same >= 0 ? same : Math.min(was, estimates.length - 1); // if the focused row is gone, the row at its place gets the focus
  /** @type {HTMLElement} */ (parent.children[place]).focus();
}

/**
 * An axis that holds 0 and all intervals: where a value is, in per cent of the width.
 * @param {Estimate[]} estimates
 * @returns {(v: number) => number}
 */
export function axis(estimates) {
  const low = Math.min(0, ...estimates.map((e) => e.mean - Z * e.std));
  const high = Math.max(0, ...estimates.map((e) => e.mean + Z * e.std));
  return (v) => 2 + (96 * (v - low)) / (high - low || 1);
}

/**
 * @param {Estimate} e
 * @param {(v: number) => number} at
 * @param {How} how
 */
function row(e, at, how) {
  const { choose } = how;
  const line = document.createElement(choose ? "button" : "div");
  line.className = "interval-row";
  if (choose) {
    line.setAttribute("type", "button");
    line.setAttribute("aria-pressed", String(e.id === how.chosen));
    line.dataset.id = e.id;
    line.addEventListener("click", () => choose(e.id ?? ""));
  }
  const name = document.createElement("span");
  name.className = "name";
  name.textContent = e.name;
  if (e.note) {
    const note = document.createElement("small");
    note.textContent = e.note;
    name.append(note);
  }
  const value = document.createElement("span");
  value.className = "value";
  value.textContent = `${words(e)}${how.unit ?? ""}`;
  line.append(name, plot(e, at), value);
  return line;
}

/**
 * An estimate in words, with its interval if it has one.
 * @param {Estimate} e
 */
export function words(e) {
  return e.std > 0 ? `${short(e.mean)} ± ${short(Z * e.std)}` : short(e.mean);
}

/**
 * @param {Estimate} e
 * @param {(v: number) => number} at
 */
function plot(e, at) {
  const svg = shape("svg", { class: "plot", height: 18, width: "100%", "aria-hidden": "true" });
  const x = (/** @type {number} */ v) => `${at(v).toFixed(2)}%`;
  svg.append(
    shape("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: 18 }),
    shape("line", { class: "interval", x1: x(e.mean - Z * e.std), x2: x(e.mean + Z * e.std), y1: 9, y2: 9 }),
    shape("circle", { class: "dot", cx: x(e.mean), cy: 9, r: 4.5 }),
  );
  return svg;
}
