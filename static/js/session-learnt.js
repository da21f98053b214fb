// @ts-check
// What a session has learnt: on its pages Overview, Learning and What it learnt.
import { fetchPlayed } from "./clip.js";
import { DuoPlayer } from "./duo-player.js";
import { intervalChart, short } from "./interval-chart.js";
import { part, say, UNTRAINED } from "./session-parts.js";

/**
 * @typedef {import("./wire.js").State} State
 * @typedef {import("./wire.js").Candidate} Candidate
 */

// Why a policy was a candidate. Those of the pool were none; their names say so.
const ORIGINS = /** @type {Record<string, string>} */ ({ mean: "Mean-optimal ", sample: "Sample ", library: "Library ", prior: "", draft: "" });

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * Shows the statement of regret, the candidates by clips, of which one can be chosen, and the recommended policy, as far as the page
 * has them.
 */
export class Learnt {
  #player = /** @type {DuoPlayer|null} */ (document.querySelector(".leader duo-player"));
  #list = part("candidates");
  #stated = part("no-regret") === null; // a regret is, and so a range of returns
  /** @type {Candidate[]} */ #candidates = [];
  #answers = 0; // that count
  #led = ""; // why the best policy is recommended
  #choose; // called with the id of the candidate that was clicked; undefined where they are not shown by clips
  #chosen = ""; // id of the candidate that is marked
  #playing = ""; // URL of the clip in the player
  #still = calm.matches; // the clips of the candidates do not move

  /** @param {(id: string) => void} [choose] */
  constructor(choose) {
    this.#choose = choose;
    part("still")?.addEventListener("click", () => {
      this.#still = !this.#still;
      this.#show();
    });
  }

  /** Marks a candidate, if it is one. @param {string} id */
  mark(id) {
    if (id === this.#chosen) return;
    this.#chosen = id;
    this.#show();
  }

  /** @param {State} s */
  show(s) {
    this.#regret(s);
    this.#candidates = s.candidates.map((c) => ({ ...c, name: c.title ? `${c.title} (${c.id})` : `${ORIGINS[c.name] ?? `${c.name} `}${c.id}` }));
    this.#answers = s.answers;
    this.#led = s.statement?.led ?? "";
    this.#show();
    if (!s.network) return;
    say("network-predictions", s.network.predictions);
    say("network-calibration", s.network.calibration);
    say("network-use", s.network.use);
  }

  /** @param {State} s */
  #regret({ statement, earlier }) {
    const box = part("statement");
    if (!box) return;
    box.hidden = !statement;
    if (statement) {
      say("headline", statement.headline);
      say("limit", statement.limit);
      say("expected", statement.expected);
      say("relative", statement.relative);
      say("stop", statement.stop);
      part("stop")?.classList.toggle("headline", statement.may_stop);
      const objections = part("objections");
      if (objections && !objections.contains(document.activeElement)) { // somebody is in it with the keyboard
        const open = [.../** @type {NodeListOf<HTMLElement>} */ (objections.querySelectorAll("li:has([open])"))].map((li) => li.dataset.objection);
        objections.hidden = statement.objections.length === 0;
        objections.replaceChildren(...statement.objections.map((o) => objection(o, objections.dataset.objections === "short", open.includes(o.code))));
      }
    }
    say("earlier", earlier ? `The curve begins after answer ${earlier}. For earlier answers, an earlier version of the program recorded a different number: the loss relative to the candidates in use alone.` : "");
  }

  #show() {
    const all = this.#candidates;
    if (all.length === 0) {
      say("no-clip", UNTRAINED);
      say("no-candidates", "No candidates yet.");
      return;
    }
    if (this.#list && this.#choose) {
      const shown = all.map((c) => ({ ...c, mean: this.#shown(c.mean), std: this.#shown(c.std), note: this.#standing(c) }));
      intervalChart(this.#list, shown, { unit: this.#stated ? " %" : "", decimals: this.#stated ? 1 : undefined, chosen: this.#chosen, paused: this.#still, choose: this.#choose });
      say("still", !all.some((c) => c.clip) ? "" : this.#still ? "Play clips" : "Pause clips");
    }
    const best = all[0];
    say("playing-name", [best.name, place(best, all)].filter(Boolean).join(", "));
    say("recommended", this.#recommendation(best));
    this.#play(best.clip);
  }

  /**
   * What is to be said of a policy besides its name.
   * @param {Candidate} c
   */
  #standing(c) {
    const all = this.#candidates;
    const best = c === all[0] ? "best so far" : "";
    const starts = c.episodes > 1 ? `over ${c.episodes} starts ± ${short(this.#shown(c.spread))}${this.#stated ? " %" : ""}` : "";
    return [best, place(c, all), starts].filter(Boolean).join(", ");
  }

  /**
   * The number of a candidate as the page shows it: a share of the range of returns in %, or a
   * return where no regret is stated, and thus no range.
   * @param {number} v
   */
  #shown(v) {
    return this.#stated ? Math.round(1000 * v) / 10 : v;
  }

  /**
   * Why a policy is the best so far.
   * @param {Candidate} c
   */
  #recommendation(c) {
    if (this.#answers === 0) return "No answer has been given yet, so nothing tells which policy is the best.";
    switch (this.#led) {
      case "first":
        return "Recommended because it was the best after the first six answers. Another policy takes its place only when people prefer its clips, or cannot tell the two apart.";
      case "duel":
        return "Recommended because people preferred its clips to those of the policy recommended before, or could not tell the two apart.";
    }
    if (c.episodes < 2) return "Recommended because its expected return is the highest under the answers so far.";
    return `Recommended because its expected return, less half of its spread over ${c.episodes} starts, is the highest under the answers so far.`;
  }

  /** @param {string} url */
  async #play(url) {
    const none = part("no-clip");
    if (!this.#player || !none) return;
    if (!url) none.textContent = "This policy has no clip.";
    if (!url || url === this.#playing) return;
    this.#playing = url;
    if (!none.hidden) none.textContent = "Loading the clip …";
    try {
      const clip = await fetchPlayed(url);
      if (url !== this.#playing) return;
      none.hidden = true;
      await this.#player.load([clip], { play: !calm.matches });
    } catch {
      if (url === this.#playing) this.#playing = ""; // the next state tries again
    }
  }
}

/**
 * An objection: its first sentence, and what follows, which a phone folds.
 * @param {import("./wire.js").Objection} o
 * @param {boolean} short only the first sentence
 * @param {boolean} open the rest is not folded
 */
function objection({ code, words }, short, open) {
  const li = document.createElement("li");
  li.dataset.objection = code;
  const first = words.match(/^.*?[.!?](?= )/s)?.[0] ?? words;
  li.append(first);
  if (short || first === words) return li;
  const rest = document.createElement("details");
  rest.className = "phone-fold";
  rest.open = open;
  const summary = document.createElement("summary");
  summary.textContent = "What to do about it";
  rest.append(summary, words.slice(first.length));
  li.append(rest);
  return li;
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
