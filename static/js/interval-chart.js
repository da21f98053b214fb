// @ts-check

/** @typedef {{id: string, name: string, note: string, clip: string, mean: number, std: number}} Estimate std 0: there is no interval; clip: address of one to show, or empty */

/**
 * @typedef {object} How
 * @property {(id: string) => void} choose called with the id of the estimate that was clicked
 * @property {string} chosen id of the estimate that is marked
 * @property {string} unit written after the numbers
 * @property {number} [decimals] of the numbers; default: three digits of each
 * @property {boolean} paused clips do not move
 */

const SVG = "http://www.w3.org/2000/svg";
const Z = 1.96; // half-width of a 95 % interval, in standard deviations

/**
 * Lists estimates with their clips as buttons, of which one is chosen, each with a dot and its 95 % interval on one
 * axis that includes 0. A list to choose from, with clips that move, is more than a figure of the server can be. A row that
 * is there already stays, so that its clip plays on.
 * @param {HTMLElement} parent its content is replaced
 * @param {Estimate[]} estimates
 * @param {How} how
 */
export function intervalChart(parent, estimates, how) {
  const at = axis(estimates);
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  const was = [...parent.children].indexOf(focused);
  const old = new Map([...parent.children].map((line) => [/** @type {HTMLElement} */ (line).dataset.id, /** @type {HTMLElement} */ (line)]));
  const lines = estimates.map((e) => fill(old.get(e.id) ?? row(e, how), e, at, how));
  if (lines.some((line, i) => parent.children[i] !== line) || parent.children.length !== lines.length) parent.replaceChildren(...lines);
  if (was < 0) return;
  const place = lines.includes(focused) ? lines.indexOf(focused) : Math.min(was, lines.length - 1); // if the focused row is gone, the row at its place gets the focus
  lines[place].focus();
}

/**
 * An axis that holds 0 and all intervals: where a value is, in per cent of the width.
 * @param {{mean: number, std: number}[]} estimates
 * @returns {(v: number) => number}
 */
export function axis(estimates) {
  const low = Math.min(0, ...estimates.map((e) => e.mean - Z * e.std));
  const high = Math.max(0, ...estimates.map((e) => e.mean + Z * e.std));
  return (v) => 2 + (96 * (v - low)) / (high - low || 1);
}

/**
 * An empty row.
 * @param {Estimate} e
 * @param {How} how
 */
function row(e, { choose }) {
  const line = document.createElement("button");
  line.className = "interval-row";
  line.dataset.id = e.id;
  line.setAttribute("type", "button");
  line.addEventListener("click", () => choose(e.id));
  return line;
}

/**
 * Makes a row say what is known now.
 * @param {HTMLElement} line
 * @param {Estimate} e
 * @param {(v: number) => number} at
 * @param {How} how
 */
function fill(line, e, at, how) {
  line.setAttribute("aria-pressed", String(e.id === how.chosen));
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
  value.textContent = `${words(e, how.decimals)}${how.unit}`;
  const rest = [name, plot(e, at), value];
  if (!e.clip) {
    line.replaceChildren(...rest);
    return line;
  }
  let clip = /** @type {HTMLElement|null} */ (line.querySelector("clip-loop"));
  if (clip) while (clip.nextSibling) clip.nextSibling.remove();
  else line.replaceChildren(clip = document.createElement("clip-loop"));
  if (clip.getAttribute("src") !== e.clip) clip.setAttribute("src", e.clip);
  if (clip.hasAttribute("paused") !== Boolean(how.paused)) clip.toggleAttribute("paused", how.paused);
  line.append(...rest);
  return line;
}

/**
 * An estimate in words, with its interval if it has one.
 * @param {{mean: number, std: number}} e
 * @param {number} [decimals] as many as the server's figures have; default: three digits of each number
 */
export function words(e, decimals) {
  const number = (/** @type {number} */ v) => (decimals === undefined || !Number.isFinite(v) ? short(v) : fixed(v, decimals));
  return e.std > 0 ? `${number(e.mean)} ± ${number(Z * e.std)}` : number(e.mean);
}

/**
 * @param {number} v
 * @param {number} decimals
 */
function fixed(v, decimals) {
  return v.toFixed(decimals).replace(/^-(?=[0.]*$)/, "").replace("-", "−");
}

/** @param {number} v a number in three digits */
export function short(v) {
  if (!Number.isFinite(v)) return "–";
  if (v === 0) return "0";
  const a = Math.abs(v);
  if (a < 1e-3 || a >= 1e5) return v.toExponential(1).replaceAll("-", "−");
  return v.toFixed(Math.max(0, 2 - Math.floor(Math.log10(a)))).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "").replace("-", "−");
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

/**
 * @param {string} tag
 * @param {Record<string, string|number>} attributes
 * @returns {SVGElement}
 */
function shape(tag, attributes) {
  const el = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  for (const [k, v] of Object.entries(attributes)) el.setAttribute(k, String(v));
  return el;
}
