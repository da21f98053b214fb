// @ts-check
// The researcher's page of one session: shows the state that the socket sends.
import { RegretChart, short } from "./chart.js";
import { ChartsPart } from "./charts-part.js";
import { ClipLoop } from "./clip-loop.js";
import { fetchClip } from "./clip.js";
import { ConditionChart, Conditions } from "./conditions.js";
import { DuoPlayer } from "./duo-player.js";
import { intervalChart } from "./interval-chart.js";
import { People } from "./people.js";
import { QuestionPanel } from "./question-panel.js";
import { ReconnectingSocket } from "./reconnecting-socket.js";

/**
 * @typedef {import("./wire.js").State} State
 * @typedef {import("./wire.js").Candidate} Candidate
 * @typedef {import("./wire.js").ToWatcher} Message
 */

// Why a policy was a candidate. Those of the pool were none; their names say so.
const ORIGINS = /** @type {Record<string, string>} */ ({ mean: "Mean-optimal ", sample: "Sample ", library: "Library ", prior: "", draft: "" });

const AWAY = "The server is not reachable. This page may be out of date; it reconnects by itself.";
const RESTARTS = "The server is restarting. This page goes on by itself.";
const SIGNED_OUT = "This browser is not signed in any more. Open a sign-in link, and then this page again.";

customElements.define("clip-loop", ClipLoop);
customElements.define("condition-chart", ConditionChart);
customElements.define("duo-player", DuoPlayer);
customElements.define("regret-chart", RegretChart);

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const player = /** @type {DuoPlayer} */ (document.querySelector(".leader duo-player"));
const chart = /** @type {RegretChart|null} */ (document.querySelector("regret-chart")); // null where no regret is stated
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const socket = new ReconnectingSocket(main.dataset.watch ?? "");
const people = new People(main);
const questions = new QuestionPanel(/** @type {HTMLElement} */ (document.querySelector("[data-question-panel]")));
const charts = new ChartsPart(/** @type {HTMLElement} */ (document.querySelector("[data-charts]")));
const conditions = new Conditions(main);

/** @type {State|undefined} */ let state;
let chosen = ""; // candidate to play; empty for the leader
let playing = ""; // URL of the clip in the player
let still = calm.matches; // the clips of the candidates do not move

/**
 * @param {string} name of a data attribute
 * @returns {HTMLElement}
 */
function part(name) {
  return /** @type {HTMLElement} */ (document.querySelector(`[data-${name}]`));
}

/** @param {State} s */
function show(s) {
  if (main.dataset.seq !== String(s.seq)) {
    questions.changed(s.recent[0]?.seq ?? 0);
    charts.changed();
  } else if (state?.training.running !== s.training.running) {
    charts.changed(); // a training has ended, or begun
  }
  state = { ...s, candidates: s.candidates.map((c) => ({ ...c, name: c.title ? `${c.title} (${c.id})` : `${ORIGINS[c.name] ?? `${c.name} `}${c.id}` })) };
  main.dataset.seq = String(s.seq);
  part("answers").textContent = String(s.answers);
  part("of").textContent = s.budget > 0 ? `of ${s.budget}` : s.answers === 1 ? "answer" : "answers";
  bar("bar", s.answers, s.budget);
  part("skipped").hidden = !s.skipped;
  part("skipped").textContent = `${s.skipped} more without a preference: skipped, can’t tell, or the clip failed`;
  people.show(s);
  showTraining(s);
  showRegret(s);
  showCandidates();
  if (s.weights.length && part("weights")) intervalChart(part("weights"), s.weights);
  showNetwork(s);
  const names = new Map(s.annotators.map((c) => [c.id, c.name || c.id]));
  rows("recent", [...s.open.map((o) => openCells(o, names)), ...s.recent.map((a) => askedCells(a, names))]);
  rows("annotators", s.annotators.map(annotatorCells));
}

/** @param {State} s */
function showTraining({ training: t, based_on, unlearnt }) {
  const inUse = based_on < 0 ? "No candidates yet." : based_on === 0 ? "In use: candidates from before the first answer." : `In use: candidates as of answer ${based_on}.`;
  const use = unlearnt > 0 ? `${inUse} No training has used the last ${unlearnt === 1 ? "answer" : `${unlearnt} answers`} yet.` : inUse;
  const from = t.based_on > 0 ? `From answer ${t.based_on}` : "From the prior";
  const rest = t.cancelled ? "Cancelled. The next training begins after the next answer." : "Idle.";
  part("training").textContent = t.running ? `${from}: ${t.what || "starting"}. ${use}` : `${rest} ${use}`;
  part("left").hidden = !t.left;
  part("left").textContent = t.left ? `${t.left[0].toUpperCase()}${t.left.slice(1)} left.` : "";
  bar("training-bar", t.done, t.running ? t.total : 0);
  const cancel = /** @type {HTMLDetailsElement|null} */ (document.querySelector("[data-cancel]")); // null for those who may not change the session
  if (cancel) cancel.hidden = !t.cancel;
  if (cancel && !t.cancel) cancel.open = false;
  part("fixed").hidden = !t.fixed;
  part("fixed").textContent = t.fixed ? `It cannot be cancelled: ${t.fixed}.` : "";
  part("training-error").hidden = !t.err;
  part("training-error").textContent = t.err ? `The last training failed: ${t.err}` : "";
}

/** @param {State} s */
function showNetwork({ network }) {
  if (!network || !part("network")) return;
  part("network-predictions").textContent = network.predictions;
  part("network-calibration").textContent = network.calibration;
  part("network-use").textContent = network.use;
}

/** @param {import("./wire.js").Objection} o */
function objection({ code, words }) {
  const li = document.createElement("li");
  li.dataset.objection = code;
  li.textContent = words;
  return li;
}

/** @param {State} s */
function showRegret({ statement, regret, earlier }) {
  if (!chart) return;
  chart.points = regret;
  part("statement").hidden = !statement;
  if (statement) {
    part("headline").textContent = statement.headline;
    part("limit").textContent = statement.limit;
    part("expected").textContent = statement.expected;
    part("relative").textContent = statement.relative;
    part("stop").textContent = statement.stop;
    part("stop").classList.toggle("headline", statement.may_stop);
    part("objections").hidden = statement.objections.length === 0;
    part("objections").replaceChildren(...statement.objections.map(objection));
  }
  part("earlier").hidden = !earlier;
  part("earlier").textContent = `The curve begins after answer ${earlier}. For earlier answers, an earlier version of the program recorded a different number: the loss relative to the candidates in use alone.`;
}

/**
 * What is to be said of a policy besides its name.
 * @param {Candidate} c
 * @param {Candidate[]} all
 */
function standing(c, all) {
  const best = c === all[0] ? "best so far" : "";
  const starts = c.episodes > 1 ? `over ${c.episodes} starts ± ${short(shownReturn(c.spread))}${chart ? " %" : ""}` : "";
  return [best, place(c, all), starts].filter(Boolean).join(", ");
}

/**
 * Where a policy comes from, if it is none of the candidates; how many of them it is.
 * @param {Candidate} c
 * @param {Candidate[]} all
 */
function place(c, all) {
  if (c.draws === 0) return c.id.startsWith("pool.") ? "prepared before the first answer" : "of an earlier generation";
  const draws = all.reduce((sum, o) => sum + o.draws, 0);
  return c.draws > 1 ? `${c.draws} of ${draws} candidates agree on this one` : "";
}

/** @param {number} share in tenths of a per cent */
function tenths(share) {
  return Math.round(1000 * share) / 10;
}

/**
 * The number of a candidate as the page shows it: a share of the range of returns, or a
 * return where no regret is stated, and thus no range.
 * @param {number} v
 */
function shownReturn(v) {
  return chart ? tenths(v) : v;
}

function showCandidates() {
  const all = state?.candidates ?? [];
  if (all.length === 0) return;
  const now = all.find((c) => c.id === chosen) ?? all[0];
  const shares = all.map((c) => ({ ...c, mean: shownReturn(c.mean), std: shownReturn(c.std), note: standing(c, all) }));
  intervalChart(part("candidates"), shares, { unit: chart ? " %" : "", chosen: now.id, paused: still, choose: (id) => {
    chosen = id === state?.candidates[0]?.id ? "" : id;
    showCandidates();
  } });
  part("still").hidden = !all.some((c) => c.clip);
  part("still").textContent = still ? "Play clips" : "Pause clips";
  part("playing-title").textContent = now === all[0] ? "Best policy so far" : "Candidate";
  part("playing-name").textContent = [now.name, place(now, all)].filter(Boolean).join(", ");
  part("recommended").hidden = now !== all[0];
  part("recommended").textContent = recommendation(now);
  play(now.clip);
}

/**
 * Why a policy is the best so far.
 * @param {Candidate} c
 */
function recommendation(c) {
  switch (state?.statement?.led) {
    case "first":
      return "Recommended because it was the best after the first six answers. Another policy takes its place only when people prefer its clips, or cannot tell the two apart.";
    case "duel":
      return "Recommended because people preferred its clips to those of the policy recommended before, or could not tell the two apart.";
  }
  if (c.episodes < 2) return "Recommended because its expected return is the highest under the answers so far.";
  return `Recommended because its expected return, less half of its spread over ${c.episodes} starts, is the highest under the answers so far.`;
}

/** @param {string} url */
async function play(url) {
  if (!url) part("no-clip").textContent = "This policy has no clip.";
  if (!url || url === playing) return;
  playing = url;
  try {
    const clip = await fetchClip(url);
    if (url !== playing) return;
    part("no-clip").hidden = true;
    await player.load([clip], { play: !calm.matches });
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

/** @param {import("./wire.js").Why} why */
function pair({ first, second, rivals, purpose }) {
  if (!first) return purpose || part("recent").dataset.noPair || "–";
  if (purpose === "duel") return `duel: ${first} – ${second}`;
  return `${first} – ${second}${rivals > 1 ? ` and ${rivals - 1} more` : ""}`;
}

/**
 * @param {import("./wire.js").Open} o
 * @param {Map<string, string>} names of annotators
 * @returns {Row}
 */
function openCells(o, names) {
  return { cells: ["…", names.get(o.annotator) ?? o.annotator, o.here ? "asked now" : "page closed", pair(o), info(o), ""], dim: true };
}

/**
 * @param {import("./wire.js").Asked} a
 * @param {Map<string, string>} names of annotators
 * @returns {Row}
 */
function askedCells(a, names) {
  const answers = /** @type {Record<string, string>} */ ({ a: "clip a", b: "clip b", equal: "equal", cant_tell: "can’t tell",
    skip: "skipped", technical_failure: "clip failed", rated: `rated ${short(5 + 5 * a.rating)} of 10` });
  const answer = document.createElement(a.undone ? "s" : "span");
  answer.textContent = (answers[a.choice] ?? a.choice) + (a.turned ? ", turned" : "");
  return { cells: [String(a.seq), names.get(a.annotator) ?? a.annotator, answer, pair(a), info(a), seconds(a.response_ms)], dim: a.undone || a.left_out };
}

/** @param {import("./wire.js").Why} why */
function info(why) {
  return why.first ? `${short(why.info)} nats` : "–";
}

/**
 * @param {import("./wire.js").Annotator} a
 * @returns {Row}
 */
function annotatorCells(a) {
  const percent = (/** @type {number} */ v) => `${Math.round(100 * v)} %`;
  const left = a.left_low > 0 || a.left_high < 1 ? `${percent(a.left_share)} (${percent(a.left_low)} – ${percent(a.left_high)})` : "–";
  const predicted = document.createElement("span");
  predicted.textContent = a.predicted_n > 0 ? `${percent(a.predicted)} of ${a.predicted_n}` : "–";
  if (a.reversed) predicted.append(": ", link("#people", "the other way round"));
  return { cells: [(a.name || a.id) + (a.left_out ? ", left out" : a.turned ? `, ${a.turned} turned` : ""), ...[a.answers, a.decisive, a.equal, a.cant_tell, a.skipped, a.undone, a.marked].map(String),
    seconds(a.median_ms), left, predicted], dim: a.left_out };
}

/**
 * @param {string} href
 * @param {string} text
 */
function link(href, text) {
  const a = document.createElement("a");
  a.href = href;
  a.textContent = text;
  return a;
}

/** @param {number} ms */
function seconds(ms) {
  return ms > 0 ? `${(ms / 1000).toFixed(1)} s` : "–";
}

/**
 * What is wrong with the server, as the page itself shows it when it is opened.
 * @param {import("./wire.js").Problem} p
 */
function problem(p) {
  const box = document.createElement("div");
  box.className = p.minor ? "problem minor" : "problem";
  box.dataset.problem = "";
  const reason = document.createElement("b");
  reason.textContent = p.reason;
  box.append(reason, " ", p.advice);
  return box;
}

/** @param {Event} e */
function log(e) {
  const button = /** @type {HTMLElement} */ (e.currentTarget);
  const on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(on));
  if (chart) chart.log = on;
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

socket.addEventListener("message", (e) => {
  const m = /** @type {Message} */ (/** @type {CustomEvent} */ (e).detail);
  if (m.t === "state") show(m);
  if (m.t === "problems") part("problems").replaceChildren(...m.problems.map(problem));
  if (m.t === "conditions") conditions.show(m);
  if (m.t === "bye") socket.resume(m.retry_ms);
});
socket.addEventListener("state", () => {
  const { state: s } = socket.state;
  if (s !== "connecting") main.dataset.connection = s === "open" ? "open" : "away";
  part("away").hidden = s === "open" || s === "connecting";
  part("away").textContent = s === "refused" ? SIGNED_OUT : socket.restarting ? RESTARTS : AWAY;
});
document.querySelector("[data-log]")?.addEventListener("click", log);
document.querySelector("[data-copy]")?.addEventListener("click", copy);
part("still").addEventListener("click", () => {
  still = !still;
  showCandidates();
});
socket.start();
