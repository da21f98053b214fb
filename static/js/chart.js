// @ts-check
/** @typedef {import("./wire.js").RegretPoint} Point  shares; all but seq from 0 to 1 */

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 300; // CSS pixels
const PAD = { right: 20, top: 12, bottom: 30 };
const LETTER = 8; // width of one on an axis, at most

/**
 * Draws the expected loss over answers with the band up to the 95 % bound, in % of
 * the range from the worst to the best policy, axes, and the numbers under the
 * pointer. More points than pixels are thinned to one a pixel column.
 *
 *   <regret-chart></regret-chart>
 *
 * Set .points and .log (logarithmic scale).
 */
export class RegretChart extends HTMLElement {
  /** @type {Point[]} */ #points = [];
  /** @type {Point[]} */ #thin = [];
  #log = false;
  #width = 0;
  #left = 0; // of the axes: room for the longest label
  #svg = shape("svg", { role: "img", "aria-label": "Expected loss if you stop, by number of replies and withdrawals, in % of the range from the worst to the best policy", height: HEIGHT });
  #readout = document.createElement("p");
  /** @type {ResizeObserver|undefined} */ #resize;
  /** @type {(v: number) => number} */ #x = () => 0;
  /** @type {(v: number) => number} */ #y = () => 0;

  connectedCallback() {
    this.#readout.className = "readout";
    this.replaceChildren(this.#svg, this.#readout);
    this.#svg.addEventListener("pointermove", this.#hover);
    this.#svg.addEventListener("pointerleave", this.#leave);
    this.#resize = new ResizeObserver(() => {
      this.#width = this.clientWidth;
      this.#draw();
    });
    this.#resize.observe(this);
  }

  disconnectedCallback() {
    this.#resize?.disconnect();
    this.#svg.removeEventListener("pointermove", this.#hover);
    this.#svg.removeEventListener("pointerleave", this.#leave);
  }

  /** @param {Point[]} points by seq */
  set points(points) {
    this.#points = points;
    this.#draw();
  }

  /** @param {boolean} on */
  set log(on) {
    this.#log = on;
    this.#draw();
  }

  #draw() {
    if (this.#width === 0) return;
    this.#thin = thin(this.#points, this.#width - PAD.right);
    const most = Math.max(0, ...this.#thin.flatMap((p) => [p.bound, p.mean])) || 1;
    const floor = this.#log ? lowest(this.#thin, most) : 0;
    const top = this.#log ? 10 ** Math.ceil(Math.log10(most) - 1e-9) : covering(most, 4);
    const ticks = this.#log ? decades(floor, top) : steps(top, 4);
    this.#left = 10 + LETTER * Math.max(...ticks.map((v) => percent(v).length));
    const last = Math.max(1, this.#points.at(-1)?.seq ?? 1);
    this.#x = (v) => this.#left + (v / last) * (this.#width - this.#left - PAD.right);
    this.#y = scale(floor, top, this.#log);
    this.#svg.setAttribute("width", String(this.#width));
    this.#svg.setAttribute("viewBox", `0 0 ${this.#width} ${HEIGHT}`);
    this.#svg.replaceChildren(...this.#axes(ticks, steps(last, 6).filter(Number.isInteger)), ...this.#curves(), shape("g", { class: "cursor" }));
    this.#leave();
  }

  /**
   * @param {number[]} ys
   * @param {number[]} xs
   */
  #axes(ys, xs) {
    const right = this.#width - PAD.right;
    const bottom = HEIGHT - PAD.bottom;
    return [
      ...ys.flatMap((v) => [
        shape("line", { class: "grid", x1: this.#left, x2: right, y1: this.#y(v), y2: this.#y(v) }),
        shape("text", { x: this.#left - 8, y: this.#y(v) + 4, "text-anchor": "end" }, percent(v)),
      ]),
      ...xs.map((v) => shape("text", { x: this.#x(v), y: bottom + 18, "text-anchor": "middle" }, String(v))),
      shape("line", { class: "axis", x1: this.#left, x2: right, y1: bottom, y2: bottom }),
    ];
  }

  #curves() {
    if (this.#thin.length === 0) return [];
    const at = (/** @type {Point} */ p, /** @type {number} */ v) => `${this.#x(p.seq).toFixed(1)},${this.#y(v).toFixed(1)}`;
    const mean = this.#thin.map((p) => at(p, p.mean));
    const upper = this.#thin.map((p) => at(p, p.bound));
    const end = /** @type {Point} */ (this.#thin.at(-1));
    return [
      shape("path", { class: "band", d: `M${upper.join("L")}L${[...mean].reverse().join("L")}Z` }),
      shape("path", { class: "line", d: `M${mean.join("L")}` }),
      shape("circle", { class: "dot", r: 4, cx: this.#x(end.seq), cy: this.#y(end.mean) }),
    ];
  }

  /** @param {PointerEvent} e */
  #hover = (e) => {
    if (this.#thin.length === 0) return;
    const x = e.clientX - this.#svg.getBoundingClientRect().left;
    const p = this.#thin.reduce((best, q) => (Math.abs(this.#x(q.seq) - x) < Math.abs(this.#x(best.seq) - x) ? q : best));
    const cursor = this.#svg.querySelector(".cursor");
    cursor?.replaceChildren(
      shape("line", { class: "axis", x1: this.#x(p.seq), x2: this.#x(p.seq), y1: PAD.top, y2: HEIGHT - PAD.bottom }),
      shape("circle", { class: "dot", r: 4, cx: this.#x(p.seq), cy: this.#y(p.mean) }),
    );
    this.#say(p);
  };

  #leave = () => {
    this.#svg.querySelector(".cursor")?.replaceChildren();
    this.#say(this.#points.at(-1));
  };

  /** @param {Point|undefined} p */
  #say(p) {
    this.#readout.textContent = p
      ? `${after(p.seq)}: ${sure(p.p_within)} sure; loss at most ${loss(p.bound, true)} with 95 % certainty, ${loss(p.mean)} expected`
      : "Shown as soon as the first candidates are trained.";
  }
}

/**
 * @param {string} tag
 * @param {Record<string, string|number>} attributes
 * @param {string} [text]
 * @returns {SVGElement}
 */
export function shape(tag, attributes, text) {
  const el = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  for (const [k, v] of Object.entries(attributes)) el.setAttribute(k, String(v));
  if (text !== undefined) el.textContent = text;
  return el;
}

/** When a statement was made, by the rows of the log. @param {number} rows */
function after(rows) {
  if (rows === 0) return "Before the first answer";
  return rows === 1 ? "After the first reply" : `After ${rows} replies and withdrawals`;
}

/** @param {number} share on an axis */
function percent(share) {
  return `${short(100 * share)} %`;
}

/** @param {number} p a probability, rounded down */
function sure(p) {
  return p > 0.99 ? "more than 99 %" : `${Math.floor(100 * p + 1e-9)} %`;
}

/**
 * A loss in the digits of the statement's words: a bound is rounded up.
 * @param {number} share
 * @param {boolean} [up]
 */
function loss(share, up = false) {
  if (share > 0 && share < 0.001) return "less than 0.1 %";
  const steps = share < (up ? 0.02 : 0.1) ? 1000 : 100;
  return `${(100 * (up ? Math.ceil(steps * share - 1e-9) : Math.round(steps * share))) / steps} %`;
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
 * Keeps the last point of every pixel column.
 * @param {Point[]} points
 * @param {number} width
 */
export function thin(points, width) {
  const last = Math.max(1, points.at(-1)?.seq ?? 1);
  const column = (/** @type {Point} */ p) => Math.floor((p.seq / last) * width);
  return points.filter((p, i) => i + 1 === points.length || column(p) !== column(points[i + 1]));
}

/**
 * @param {number} floor
 * @param {number} top
 * @param {boolean} log
 * @returns {(v: number) => number}
 */
function scale(floor, top, log) {
  const room = HEIGHT - PAD.top - PAD.bottom;
  const share = log
    ? (/** @type {number} */ v) => Math.log(Math.max(v, floor) / floor) / Math.log(top / floor)
    : (/** @type {number} */ v) => v / top;
  return (v) => HEIGHT - PAD.bottom - share(v) * room;
}

/**
 * The bottom of a logarithmic axis: the smallest mean, within six decades.
 * @param {Point[]} points
 * @param {number} top
 */
export function lowest(points, top) {
  const means = points.map((p) => p.mean).filter((v) => v > 0);
  return Math.max(top * 1e-6, Math.min(top / 10, ...means));
}

/**
 * @param {number} floor
 * @param {number} top
 */
export function decades(floor, top) {
  const out = [];
  for (let e = Math.ceil(Math.log10(floor)); 10 ** e <= top; e++) out.push(10 ** e);
  return out.length > 0 ? out : [floor, top];
}

/**
 * The end of an axis whose last label is there: the first of the round numbers that is at
 * least most.
 * @param {number} most
 * @param {number} n
 */
export function covering(most, n) {
  const step = steps(most, n)[1];
  return Number((Math.ceil(most / step - 1e-9) * step).toPrecision(12));
}

/**
 * Round numbers from 0 to top, about n of them.
 * @param {number} top
 * @param {number} n
 */
export function steps(top, n) {
  const raw = top / n;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((m) => m * power >= raw) ?? 10) * power;
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}
