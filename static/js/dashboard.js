// @ts-check
// The researcher's pages of one session: show the state that the socket sends.
import { ChartsPart } from "./charts-part.js";
import { fetchClip } from "./clip.js";
import { ClipLoop } from "./clip-loop.js";
import { Conditions } from "./conditions.js";
import { count } from "./count.js";
import { DuoPlayer } from "./duo-player.js";
import { People } from "./people.js";
import { ReconnectingSocket } from "./reconnecting-socket.js";
import { Asking } from "./session-asked.js";
import { LearntClips } from "./session-clips.js";
import { Learnt } from "./session-learnt.js";
import { showOverview } from "./session-overview.js";
import { bar, link, part, rows, say, seconds } from "./session-parts.js";
import { steady } from "./steady.js";
import { WaitingLine } from "./waiting-line.js";

/**
 * @typedef {import("./wire.js").State} State
 * @typedef {import("./wire.js").ToWatcher} Message
 */

const AWAY = "The server is not reachable. This page may be out of date; it reconnects by itself.";
const RESTARTS = "The server is restarting. This page goes on by itself.";
const SIGNED_OUT = "This browser is not signed in any more. Open a sign-in link, and then this page again.";

const line = new WaitingLine(4); // requests for the clips of loops at a time
ClipLoop.fetch = (src) => line.run(() => fetchClip(src));
customElements.define("clip-loop", ClipLoop);
customElements.define("duo-player", DuoPlayer);

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const socket = new ReconnectingSocket(main.dataset.watch ?? "");
const people = new People(main);
const asking = new Asking();
const shown = part("learnt");
const clips = shown && new LearntClips(shown, (id) => learnt.mark(id));
const learnt = new Learnt(clips ? (id) => clips.compare(id) : undefined);
const drawn = part("charts");
const charts = drawn && new ChartsPart(drawn);
const conditions = new Conditions(main);

let training = false; // one was under way

/** @param {State} s */
function show(s) {
  if (main.dataset.seq !== String(s.seq)) {
    asking.changed(s);
    charts?.changed();
    clips?.changed();
  } else if (training !== s.training.running) { // one has ended, or begun
    charts?.changed();
    clips?.changed();
  }
  clips?.complete();
  training = s.training.running;
  main.dataset.seq = String(s.seq);
  say("answers", count(s.answers));
  say("of", s.budget > 0 ? `of ${count(s.budget)} answers` : s.answers === 1 ? "answer" : "answers");
  bar("bar", s.answers, s.budget);
  say("skipped", s.skipped ? `${s.skipped} more without a preference: skipped, can’t tell, or the clip failed` : "");
  people.show(s);
  showTraining(s);
  learnt.show(s);
  asking.show(s);
  showOverview(s);
  rows("annotators", s.annotators.map(annotatorCells));
}

/** @param {State} s */
function showTraining({ training: t, based_on, unlearnt }) {
  const inUse = based_on < 0 ? "No candidates yet." : based_on === 0 ? "In use: candidates from before the first answer." : `In use: candidates as of answer ${based_on}.`;
  const use = unlearnt > 0 ? `${inUse} No training has used the last ${unlearnt === 1 ? "answer" : `${count(unlearnt)} answers`} yet.` : inUse;
  const from = t.based_on > 0 ? `From answer ${t.based_on}` : "From the prior";
  const rest = t.cancelled ? "Cancelled. The next training begins after the next answer." : "No training is under way.";
  say("training", t.running ? `${from}: ${t.what || "starting"}. ${use}` : `${rest} ${use}`);
  say("left", t.left ? `${t.left[0].toUpperCase()}${t.left.slice(1)} left.` : "");
  bar("training-bar", t.done, t.running ? t.total : 0);
  const cancel = /** @type {HTMLDetailsElement|null} */ (part("cancel")); // null for those who may not change the session
  if (cancel) cancel.hidden = !t.cancel;
  if (cancel && !t.cancel) cancel.open = false;
  say("fixed", t.fixed ? `It cannot be cancelled: ${t.fixed}.` : "");
  say("training-error", t.err ? `The last training failed: ${t.err}` : "");
}

/**
 * @param {import("./wire.js").Annotator} a
 * @returns {import("./session-parts.js").Row}
 */
function annotatorCells(a) {
  const percent = (/** @type {number} */ v) => `${Math.round(100 * v)} %`;
  const left = a.left_low > 0 || a.left_high < 1 ? `${percent(a.left_share)} (${percent(a.left_low)} – ${percent(a.left_high)})` : "–";
  const predicted = document.createElement("span");
  predicted.textContent = a.predicted_n > 0 ? `${percent(a.predicted)} of ${count(a.predicted_n)}` : "–";
  if (a.reversed) predicted.append(": ", link("#people", "the other way round"));
  return { cells: [(a.name || a.id) + (a.left_out ? ", left out" : a.turned ? `, ${a.turned} turned` : ""), ...[a.answers, a.decisive, a.equal, a.cant_tell, a.skipped, a.undone, a.marked].map(count),
    seconds(a.median_ms), left, predicted], dim: a.left_out };
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
  if (m.t === "state") steady(() => show(m));
  if (m.t === "problems") steady(() => part("problems")?.replaceChildren(...m.problems.map(problem)));
  if (m.t === "conditions") {
    steady(() => conditions.show(m));
    charts?.changed();
  }
  if (m.t === "bye") socket.resume(m.retry_ms);
});
socket.addEventListener("state", () => {
  const { state: s } = socket.state;
  if (s !== "connecting") main.dataset.connection = s === "open" ? "open" : "away";
  steady(() => say("away", s === "open" || s === "connecting" ? "" : s === "refused" ? SIGNED_OUT : socket.restarting ? RESTARTS : AWAY));
});
document.querySelector("[data-copy]")?.addEventListener("click", copy);
socket.start();
