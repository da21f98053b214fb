// @ts-check
import { shape } from "./chart.js";

/**
 * @typedef {import("./wire.js").Conditions} Message
 * @typedef {import("./wire.js").Condition} Condition
 * @typedef {import("./wire.js").ConditionPoint} Point
 */

const HEIGHT = 260; // CSS pixels
const PAD = { left: 52, right: 20, top: 12, bottom: 44 };

/** The section of a session's page that compares its conditions. */
export class Conditions {
  #root;

  /** @param {ParentNode} root where the section is, if the page has it */
  constructor(root) {
    this.#root = /** @type {HTMLElement|null} */ (root.querySelector("[data-conditions]"));
  }

  /** @param {Message} m */
  show(m) {
    const root = this.#root;
    if (!root) return;
    this.#part("sum").textContent = m.sum;
    this.#part("empty").hidden = !m.empty;
    this.#part("empty").textContent = m.empty;
    const equal = root.querySelector("[data-conditions-equal]");
    if (equal && m.equal) equal.textContent = m.equal;
    const body = /** @type {HTMLElement} */ (root.querySelector("tbody"));
    body.replaceChildren(...m.rows.map((row, i) => line(row, i, Boolean(equal))));
    const chart = /** @type {ConditionChart} */ (root.querySelector("condition-chart"));
    chart.hidden = !m.rows.some((row) => row.points.length > 1);
    chart.rows = m.rows.slice(0, -1); // all together has no curve
  }

  /** @param {string} name */
  #part(name) {
    return /** @type {HTMLElement} */ (this.#root?.querySelector(`[data-conditions-${name}]`));
  }
}

/**
 * @param {Condition} row
 * @param {number} i
 * @param {boolean} several
 */
function line(row, i, several) {
  const tr = document.createElement("tr");
  tr.dataset.condition = row.name;
  const name = document.createElement("td");
  if (row.points.length > 1) {
    const key = shape("svg", { class: "curve-key", width: 28, height: 12, "aria-hidden": "true" });
    key.append(shape("line", { class: `curve c${i % 5}`, x1: 0, x2: 28, y1: 6, y2: 6 }), mark(i, 14, 6));
    name.append(key);
  }
  name.append(row.name);
  tr.append(name, ...[row.share, row.questions, row.answers, row.accuracy, row.log_loss, ...(several ? [row.even, row.lead] : [])].map((text) => {
    const td = document.createElement("td");
    td.textContent = text;
    return td;
  }));
  return tr;
}

/**
 * The mark of a condition, of another form for each of five.
 * @param {number} i
 * @param {number} x
 * @param {number} y
 */
function mark(i, x, y) {
  const r = 4.5;
  const at = (/** @type {number[][]} */ corners) => `M${corners.map(([dx, dy]) => `${(x + dx * r).toFixed(1)},${(y + dy * r).toFixed(1)}`).join("L")}Z`;
  const forms = [
    [],
    [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
    [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]],
    [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
    [[0, 1.2], [1.1, -0.8], [-1.1, -0.8]],
  ];
  const form = forms[i % forms.length];
  return form.length ? shape("path", { class: `mark c${i % 5}`, d: at(form) }) : shape("circle", { class: `mark c${i % 5}`, cx: x, cy: y, r });
}

/**
 * Where numbers of answers are on a logarithmic axis from 5 on, from 0 to 1.
 * @param {number} most
 * @returns {(answers: number) => number}
 */
export function places(most) {
  const first = Math.log(4);
  const whole = Math.log(Math.max(most, 10)) - first;
  return (answers) => Math.max(0, (Math.log(Math.max(1, answers)) - first) / whole);
}

/**
 * The numbers of answers that an axis names: 5, 10, 20, 40 and so on.
 * @param {number} most
 */
export function named(most) {
  const out = [5];
  for (let n = 10; n <= Math.max(most, 10); n *= 2) out.push(n);
  return out;
}

/**
 * Draws for each condition how large a share of held-out answers its posterior predicts right,
 * with 95 % intervals, by the number of answers that it has learnt from.
 *
 *   <condition-chart></condition-chart>
 *
 * Set .rows. The table beside it says the same in words.
 */
export class ConditionChart extends HTMLElement {
  /** @type {Condition[]} */ #rows = [];
  #width = 0;
  #svg = shape("svg", { role: "img", "aria-label": "Share of held-out answers predicted right, by the answers that each condition has learnt from", height: HEIGHT });
  /** @type {ResizeObserver|undefined} */ #resize;

  connectedCallback() {
    this.replaceChildren(this.#svg);
    this.#resize = new ResizeObserver(() => {
      this.#width = this.clientWidth;
      this.#draw();
    });
    this.#resize.observe(this);
  }

  disconnectedCallback() {
    this.#resize?.disconnect();
  }

  /** @param {Condition[]} rows */
  set rows(rows) {
    this.#rows = rows;
    this.#draw();
  }

  #draw() {
    if (this.#width === 0) return;
    const points = this.#rows.flatMap((row) => row.points);
    const most = Math.max(10, ...points.map((p) => p.answers));
    const floor = Math.min(0.4, ...points.map((p) => Math.floor(10 * p.low) / 10));
    const place = places(most);
    const x = (/** @type {number} */ answers) => PAD.left + place(answers) * (this.#width - PAD.left - PAD.right);
    const y = (/** @type {number} */ share) => PAD.top + ((1 - share) / (1 - floor)) * (HEIGHT - PAD.top - PAD.bottom);
    this.#svg.setAttribute("width", String(this.#width));
    this.#svg.setAttribute("viewBox", `0 0 ${this.#width} ${HEIGHT}`);
    const shares = Array.from({ length: 11 }, (_, i) => i / 10).filter((v) => v >= floor - 1e-9 && Math.round(10 * (1 - v)) % 2 === 0);
    this.#svg.replaceChildren(
      ...shares.flatMap((v) => [
        shape("line", { class: v === 0.5 ? "grid half" : "grid", x1: PAD.left, x2: this.#width - PAD.right, y1: y(v), y2: y(v) }),
        shape("text", { x: PAD.left - 8, y: y(v) + 4, "text-anchor": "end" }, `${Math.round(100 * v)} %`),
      ]),
      ...named(most).map((n) => shape("text", { x: x(n), y: HEIGHT - PAD.bottom + 18, "text-anchor": "middle" }, String(n))),
      shape("text", { x: (PAD.left + this.#width - PAD.right) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, "answers to its own questions"),
      ...this.#rows.flatMap((row, i) => curve(row, i, (n) => x(n) + 5 * (i - (this.#rows.length - 1) / 2), y)),
    );
  }
}

/**
 * @param {Condition} row
 * @param {number} i
 * @param {(answers: number) => number} x
 * @param {(share: number) => number} y
 */
function curve({ points }, i, x, y) {
  if (points.length === 0) return [];
  const c = `c${i % 5}`;
  const path = points.map((p) => `${x(p.answers).toFixed(1)},${y(p.accuracy).toFixed(1)}`).join("L");
  return [
    ...points.map((p) => shape("line", { class: `whisker ${c}`, x1: x(p.answers), x2: x(p.answers), y1: y(p.low), y2: y(p.high) })),
    shape("path", { class: `curve ${c}`, d: `M${path}` }),
    ...points.map((p) => mark(i, x(p.answers), y(p.accuracy))),
  ];
}
