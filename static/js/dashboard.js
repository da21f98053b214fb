// @ts-check
// The researcher's page of one session: shows the state that the socket sends.
import { RegretChart, short } from "./chart.js";
import { fetchClip } from "./clip.js";
import { DuoPlayer } from "./duo-player.js";
import { Live } from "./live.js";
import { whiskers } from "./whiskers.js";

/**
 * @typedef {import("./whiskers.js").Estimate} Estimate
 * @typedef {{assignment: string, annotator: string, first: string, second: string, info: number}} Open
 * @typedef {{seq: number, annotator: string, choice: string, rating: number, undone: boolean,
 *   first: string, second: string, info: number, response_ms: number}} Asked
 * @typedef {{id: string, name: string, answers: number, decisive: number, equal: number, cant_tell: number,
 *   skipped: number, undone: number, median_ms: number, left_share: number, left_low: number, left_high: number,
 *   predicted: number, predicted_n: number}} Annotator
 * @typedef {object} State
 * @property {number} seq
 * @property {number} answers
 * @property {number} budget
 * @property {number} based_on
 * @property {{running: boolean, based_on: number, done: number, total: number, what: string, err: string}} training
 * @property {import("./chart.js").Point[]} regret
 * @property {(Estimate & {id: string, clip: string})[]} candidates the leader first
 * @property {Estimate[]} weights
 * @property {Open[]} open
 * @property {Asked[]} recent newest first
 * @property {Annotator[]} annotators
 */

// Why a policy is a candidate.
const ORIGINS = /** @type {Record<string, string>} */ ({ mean: "Mean-optimal", sample: "Sample" });

customElements.define("duo-player", DuoPlayer);
customElements.define("regret-chart", RegretChart);

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const player = /** @type {DuoPlayer} */ (document.querySelector("duo-player"));
const chart = /** @type {RegretChart} */ (document.querySelector("regret-chart"));
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const live = new Live(main.dataset.watch ?? "");

/** @type {State|undefined} */ let state;
let chosen = ""; // candidate to play; empty for the leader
let playing = ""; // URL of the clip in the player

/**
 * @param {string} name of a data attribute
 * @returns {HTMLElement}
 */
function part(name) {
  return /** @type {HTMLElement} */ (document.querySelector(`[data-${name}]`));
}

/** @param {State} s */
function show(s) {
  state = { ...s, candidates: (s.candidates ?? []).map((c) => ({ ...c, name: `${ORIGINS[c.name] ?? c.name} ${c.id}` })) };
  main.dataset.seq = String(s.seq);
  part("answers").textContent = String(s.answers);
  part("of").textContent = s.budget > 0 ? `of ${s.budget}` : s.answers === 1 ? "answer" : "answers";
  bar("bar", s.answers, s.budget);
  showTraining(s);
  chart.points = s.regret ?? [];
  showCandidates();
  if (s.weights?.length) whiskers(part("weights"), s.weights);
  const names = new Map((s.annotators ?? []).map((c) => [c.id, c.name || c.id]));
  rows("recent", [...(s.open ?? []).map((o) => openCells(o, names)), ...(s.recent ?? []).map((a) => askedCells(a, names))]);
  rows("annotators", (s.annotators ?? []).map(annotatorCells));
}

/** @param {State} s */
function showTraining({ training: t, based_on }) {
  const use = based_on < 0 ? "No candidates yet." : based_on === 0 ? "In use: candidates from before the first answer." : `In use: candidates as of answer ${based_on}.`;
  const from = t.based_on > 0 ? `from answer ${t.based_on}` : "from the prior";
  part("training").textContent = t.running ? `Running ${from}: ${t.what || "starting"}. ${use}` : `Idle. ${use}`;
  bar("training-bar", t.done, t.running ? t.total : 0);
  part("training-error").hidden = !t.err;
  part("training-error").textContent = t.err ? `The last training failed: ${t.err}` : "";
}

function showCandidates() {
  const all = state?.candidates ?? [];
  if (all.length === 0) return;
  const now = all.find((c) => c.id === chosen) ?? all[0];
  whiskers(part("candidates"), all, { chosen: now.id, choose: (id) => {
    chosen = id === all[0].id ? "" : id;
    showCandidates();
  } });
  part("playing-title").textContent = now === all[0] ? "Best policy so far" : "Candidate";
  part("playing-name").textContent = now === all[0] ? `${now.name}, leads` : now.name;
  play(now.clip);
}

/** @param {string} url */
async function play(url) {
  if (!url || url === playing) return;
  playing = url;
  try {
    const clip = await fetchClip(url);
    if (url !== playing) return;
    part("no-clip").hidden = true;
    player.load([clip], { play: !calm.matches });
  } catch {
    if (url === playing) playing = ""; // the next state tries again
  }
}

/**
 * @param {string} name
 * @param {number} value
 * @param {number} max 0 hides the bar
 */
function bar(name, value, max) {
  const el = /** @type {HTMLProgressElement} */ (part(name));
  el.hidden = !(max > 0);
  el.max = Math.max(1, max);
  el.value = value;
}

/**
 * @typedef {{cells: (string|Node)[], dim?: boolean}} Row
 * @param {string} name of the table
 * @param {Row[]} list
 */
function rows(name, list) {
  const body = /** @type {HTMLElement} */ (part(name).querySelector("tbody"));
  body.replaceChildren(...list.map(({ cells, dim }) => {
    const tr = document.createElement("tr");
    tr.classList.toggle("dim", Boolean(dim));
    for (const c of cells) {
      const td = document.createElement("td");
      td.append(c);
      tr.append(td);
    }
    return tr;
  }));
}

/** @param {{first: string, second: string}} why */
function pair({ first, second }) {
  return first ? `${first} – ${second}` : part("recent").dataset.noPair || "–";
}

/**
 * @param {Open} o
 * @param {Map<string, string>} names of annotators
 * @returns {Row}
 */
function openCells(o, names) {
  return { cells: ["…", names.get(o.annotator) ?? o.annotator, "asked now", pair(o), info(o), ""], dim: true };
}

/**
 * @param {Asked} a
 * @param {Map<string, string>} names of annotators
 * @returns {Row}
 */
function askedCells(a, names) {
  const answers = /** @type {Record<string, string>} */ ({ a: "clip a", b: "clip b", equal: "equal", cant_tell: "can’t tell",
    skip: "skipped", technical_failure: "clip failed", rated: `rated ${short(5 + 5 * a.rating)} of 10` });
  const answer = document.createElement(a.undone ? "s" : "span");
  answer.textContent = answers[a.choice] ?? a.choice;
  return { cells: [String(a.seq), names.get(a.annotator) ?? a.annotator, answer, pair(a), info(a), seconds(a.response_ms)], dim: a.undone };
}

/** @param {{first: string, info: number}} why */
function info(why) {
  return why.first ? `${short(why.info)} nats` : "–";
}

/**
 * @param {Annotator} a
 * @returns {Row}
 */
function annotatorCells(a) {
  const percent = (/** @type {number} */ v) => `${Math.round(100 * v)} %`;
  const left = a.left_low > 0 || a.left_high < 1 ? `${percent(a.left_share)} (${percent(a.left_low)} – ${percent(a.left_high)})` : "–";
  const predicted = a.predicted_n > 0 ? `${percent(a.predicted)} of ${a.predicted_n}` : "–";
  return { cells: [a.name || a.id, ...[a.answers, a.decisive, a.equal, a.cant_tell, a.skipped, a.undone].map(String),
    seconds(a.median_ms), left, predicted] };
}

/** @param {number} ms */
function seconds(ms) {
  return ms > 0 ? `${(ms / 1000).toFixed(1)} s` : "–";
}

/** @param {Event} e */
function log(e) {
  const button = /** @type {HTMLElement} */ (e.currentTarget);
  const on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(on));
  chart.log = on;
}

/** @param {Event} e */
async function copy(e) {
  const field = /** @type {HTMLInputElement} */ (part("invite-link"));
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    /** @type {HTMLElement} */ (e.target).textContent = "Copied";
  } catch {
    /** @type {HTMLElement} */ (e.target).textContent = "Press Ctrl C"; // not allowed here; the link is selected
  }
}

live.addEventListener("message", (e) => {
  const m = /** @type {CustomEvent} */ (e).detail;
  if (m.t === "state") show(m);
  if (m.t === "bye") live.resume(m.retry_ms ?? 1000);
});
live.addEventListener("state", () => {
  const { state: s } = live.state;
  if (s !== "connecting") main.dataset.connection = s === "open" ? "open" : "away";
  part("away").hidden = s === "open" || s === "connecting";
});
part("log").addEventListener("click", log);
document.querySelector("[data-copy]")?.addEventListener("click", copy);
live.start();
