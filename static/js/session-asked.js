// @ts-check
// The questions that were answered, on the page Questions of a session. The server draws the table of those that are reserved.
import { short } from "./interval-chart.js";
import { QuestionPanel } from "./question-panel.js";
import { part, rows, seconds } from "./session-parts.js";

/** Keeps the panel of one question, and the table of the last ones, up to date, if the page has them. */
export class Asking {
  #table = part("recent");
  #panel;

  constructor() {
    const root = part("question-panel");
    this.#panel = root && new QuestionPanel(root);
  }

  /** Something was answered. @param {import("./wire.js").State} s */
  changed(s) {
    this.#panel?.changed(s.recent[0]?.seq ?? 0);
  }

  /** @param {import("./wire.js").State} s */
  show(s) {
    if (!this.#table) return;
    const none = this.#table.dataset.noPair || "–";
    const names = new Map(s.annotators.map((c) => [c.id, c.name || c.id]));
    rows("recent", s.recent.map((a) => askedCells(a, names, none, this.#table?.dataset.verdicts !== undefined)));
  }
}

/**
 * @param {import("./wire.js").Why} why
 * @param {string} none what is said of a question that tells no two policies apart
 */
function pair({ first, second, rivals, purpose }, none) {
  if (!first) return purpose || none;
  if (purpose === "duel") return `duel: ${first} – ${second}`;
  return `${first} – ${second}${rivals > 1 ? ` and ${rivals - 1} more` : ""}`;
}

/**
 * @param {import("./wire.js").Asked} a
 * @param {Map<string, string>} names of annotators
 * @param {string} none
 * @param {boolean} verdicts whether a rating says if the clip shows a success
 * @returns {import("./session-parts.js").Row}
 */
function askedCells(a, names, none, verdicts) {
  const rated = verdicts ? ["failure", "partial success", "success"][Math.round(a.rating) + 1] : `rated ${short(5 + 5 * a.rating)} of 10`;
  const answers = /** @type {Record<string, string>} */ ({ a: "clip a", b: "clip b", equal: "equal", cant_tell: "can’t tell",
    skip: "skipped", technical_failure: "clip failed", best_worst: "best and worst", rated });
  const answer = document.createElement(a.undone ? "s" : "span");
  answer.textContent = (answers[a.choice] ?? a.choice) + (a.turned ? ", turned" : "");
  const info = a.first ? `${short(a.info)} nats` : "–";
  return { cells: [String(a.seq), names.get(a.annotator) ?? a.annotator, answer, pair(a, none), info, seconds(a.response_ms)], dim: a.undone || a.left_out };
}
