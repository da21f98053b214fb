// @ts-check
// What only the page Overview of a session says.
import { count } from "./count.js";
import { words } from "./interval-chart.js";
import { part, say } from "./session-parts.js";

/**
 * @typedef {import("./wire.js").State} State
 * @typedef {import("./wire.js").Weight} Weight
 */

const NAMED = 3; // weights, and remarks about people, that are named
const ENOUGH = 20; // comparisons behind a remark about sides, as on the page of quality
const Z = 1.96; // half-width of a 95 % interval, in standard deviations

/** @param {State} s */
export function showOverview(s) {
  if (!part("learns")) return;
  const early = part("too-early");
  if (early) early.hidden = Boolean(s.statement);
  say("learns", learns(s));
  say("likes", likes(s.weights));
  say("well", well(s));
  say("latest", latest(s, Date.now()));
  const list = part("concerns");
  if (!list) return;
  const items = concerns(s);
  list.hidden = items.length === 0;
  list.replaceChildren(...items.map((text) => {
    const li = document.createElement("li");
    li.textContent = text;
    return li;
  }));
}

/**
 * How the expected loss has changed.
 * @param {Pick<State, "answers"|"regret"|"network"|"statement">} s
 */
export function learns({ answers, regret, network }) {
  if (network) return network.predictions;
  if (answers === 0) return "Nobody has answered yet.";
  const [first, last] = [regret[0], regret.at(-1)];
  if (!first || !last) return "The first candidates are not trained yet.";
  if (first.seq === last.seq) return `Expected loss if you stop now: ${share(last.mean)} of the range from the worst to the best policy.`;
  const from = first.seq === 0 ? "before the first answer" : `after answer ${first.seq}`;
  return `Expected loss if you stop: ${share(first.mean)} ${from}, ${share(last.mean)} now, of the range from the worst to the best policy.`;
}

/** @param {number} v */
function share(v) {
  const percent = 100 * v;
  if (percent > 0 && percent < 0.1) return "less than 0.1 %";
  return `${percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

/**
 * The features that people like and dislike, of those whose weights are certain.
 * @param {Weight[]} weights
 */
export function likes(weights) {
  const sure = weights.filter((w) => w.std > 0 && Math.abs(w.mean) > Z * w.std).sort((a, b) => Math.abs(b.mean) - Math.abs(a.mean)).slice(0, NAMED);
  if (sure.length === 0) return weights.length ? "Nothing is certain yet about what people like." : "";
  const named = (/** @type {number} */ sign) => sure.filter((w) => sign * w.mean > 0).map((w) => `${w.name} (${words(w, 2)})`).join(", ");
  const [up, down] = [named(1), named(-1)];
  return [up && `People prefer more of: ${up}.`, down && `People prefer less of: ${down}.`].filter(Boolean).join(" ");
}

/**
 * Who takes part, and that nothing is wrong with how they answer, where concerns finds nothing.
 * @param {Pick<State, "joined"|"open"|"annotators">} s
 */
export function well({ joined, open, annotators }) {
  if (joined === 0) return "Nobody has joined yet. Send an annotator link to the people who answer.";
  const here = new Set(open.filter((o) => o.here).map((o) => o.annotator)).size;
  const answered = annotators.some((a) => !a.left_out && a.answers > 0);
  const fine = answered && concerns({ annotators }).length === 0 ? " No answer that counts is marked, and nothing else stands out in how they answer." : "";
  const people = joined === 1 ? "One person has joined" : `${joined} people have joined`;
  return `${people}; ${here === 0 ? "nobody has" : here === 1 ? "one has" : `${here} have`} the page open now.${fine}`;
}

/**
 * @param {Pick<State, "recent">} s
 * @param {number} now ms
 */
export function latest({ recent }, now) {
  const at = Date.parse(recent[0]?.at ?? "");
  if (!(at > 0)) return ""; // none, or imported
  return `The last answer came ${ago(Math.max(0, now - at))}.`;
}

/** @param {number} ms */
function ago(ms) {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return "less than a minute ago";
  if (minutes < 120) return minutes === 1 ? "a minute ago" : `${minutes} minutes ago`;
  const hours = Math.round(ms / 3_600_000);
  return hours < 48 ? `${hours} hours ago` : `${Math.round(hours / 24)} days ago`;
}

/**
 * What is to be looked at: people who seem to confuse the answers, who choose by the side, or whose answers are marked.
 * The first few are named; the page People has all.
 * @param {Pick<State, "annotators">} s
 */
export function concerns({ annotators }) {
  const out = [];
  const counted = annotators.filter((a) => !a.left_out);
  for (const a of counted) {
    const name = a.name || a.id;
    if (a.reversed) out.push(`${name} answers the other way round than predicted.`);
    if (a.decisive >= ENOUGH && (a.left_low > 0.6 || a.left_high < 0.4)) out.push(`${name} chose the left clip in ${share(a.left_share)} of ${count(a.decisive)} comparisons; half is expected.`);
  }
  const marked = counted.filter((a) => a.marked > 0);
  if (marked.length > 0) {
    const answers = marked.reduce((sum, a) => sum + a.marked, 0);
    const who = marked.length === 1 ? marked[0].name || marked[0].id : `${marked.length} people`;
    out.push(`${who}: ${answers === 1 ? "one answer is" : `${count(answers)} answers are`} marked as hurried or impossible.`);
  }
  if (out.length <= NAMED + 1) return out;
  return [...out.slice(0, NAMED), `${out.length - NAMED} remarks more: the page People has all.`];
}
