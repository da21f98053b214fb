// @ts-check
// What a session has learnt, by clips: its page What it learnt.
import { fetchPlayed } from "./clip.js";
import { DuoPlayer } from "./duo-player.js";
import { fetchPart } from "./fragment.js";
import { Paced } from "./paced.js";
import { UNTRAINED } from "./session-parts.js";
import { apart, counterpart, named, paired } from "./starts.js";
import { steady } from "./steady.js";

/**
 * @typedef {object} Policy
 * @property {string} id
 * @property {string} name
 * @property {Map<string, string>} clips addresses by where they begin, "episode.step"
 * @property {Map<string, string>} starts of recorded policies, what each clip begins from as the recordings say, by its address; empty for others
 */

const PAUSE = 2000; // ms between two looks at the server

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * Keeps the page up to date: the policies to choose from, the clips that the reward likes, and the question that would be asked.
 * What was chosen stays, as long as it is there.
 *
 *   <div data-learnt="/sessions/s/charts?page=learnt"></div>
 *
 * Nothing is fetched while the page is hidden.
 */
export class LearntClips {
  #root;
  #compared;
  #other;
  #start;
  #pair;
  #next;
  #paced = new Paced(() => this.#fetch(), PAUSE);
  /** @type {Policy[]} */ #policies = []; // the recommended one first
  #stale = true; // something has changed since the parts were fetched
  #still = calm.matches; // clips of what the reward likes do not move
  /** @type {Node|undefined} */ #tastes; // as they were fetched
  #asks = ""; // addresses of the clips of the question
  #playing = ""; // likewise, of the two policies
  #apart = ""; // what is to be said of their starts
  #chosen = ""; // id of the policy beside the recommended one; empty until one is chosen
  #begin = ""; // start that was chosen; empty for the first

  /**
   * @param {HTMLElement} root
   * @param {(id: string) => void} compared called with the id of the policy that is beside the recommended one
   */
  constructor(root, compared) {
    this.#root = root;
    this.#compared = compared;
    this.#other = /** @type {HTMLSelectElement} */ (root.querySelector("[data-other]"));
    this.#start = /** @type {HTMLSelectElement} */ (root.querySelector("[data-start]"));
    this.#pair = /** @type {DuoPlayer} */ (root.querySelector("[data-compared] duo-player"));
    this.#next = /** @type {DuoPlayer} */ (root.querySelector(".unsure duo-player"));
    this.#other.addEventListener("change", () => this.compare(this.#other.value));
    this.#start.addEventListener("change", () => {
      this.#begin = this.#start.value;
      this.#show();
    });
    this.#pair.addEventListener("layout", () => this.#name());
    root.querySelector("[data-still-likings]")?.addEventListener("click", () => {
      this.#still = !this.#still;
      this.#pause();
    });
    document.addEventListener("visibilitychange", () => this.complete());
  }

  /** Something was answered, or policies were trained. */
  changed() {
    this.#stale = true;
  }

  /** Fetches what has changed, unless the page is hidden. */
  complete() {
    if (this.#stale && !document.hidden) this.#paced.ask();
  }

  /** Shows a policy beside the recommended one. @param {string} id */
  compare(id) {
    this.#chosen = id;
    this.#show();
  }

  async #fetch() {
    this.#stale = false;
    const fresh = await fetchPart(this.#root.dataset.learnt ?? "");
    if (!fresh) {
      this.#stale = true; // the next state asks again
      return;
    }
    steady(() => this.#update(fresh));
  }

  /** @param {Element} fresh */
  #update(fresh) {
    const policies = /** @type {HTMLSelectElement} */ (fresh.querySelector("[data-policies]"));
    this.#policies = [...policies.options].map(policyOf);
    options(this.#other, policies);
    options(this.#start, /** @type {HTMLSelectElement} */ (fresh.querySelector("[data-starts]")));
    this.#show();
    this.#taste(/** @type {HTMLElement} */ (fresh.querySelector("[data-tastes]")));
    this.#ask(/** @type {HTMLElement} */ (fresh.querySelector("[data-next]")));
  }

  /** The policy beside the recommended one, and what begins. */
  #chose() {
    const [first, second] = this.#policies;
    const other = this.#policies.find((p) => p.id === this.#chosen) ?? second ?? first;
    return { first, other, begin: first.clips.has(this.#begin) ? this.#begin : [...first.clips.keys()][0] };
  }

  /** Shows the two policies that are chosen. */
  async #show() {
    const none = this.#part("no-pair"); // hidden once a pair was shown
    if (this.#policies.length === 0) return tell(none, UNTRAINED);
    if (!none.hidden) tell(none, "Loading the clips …");
    const { first, other, begin } = this.#chose();
    this.#part("choices").hidden = false;
    if (this.#other.value !== other.id) this.#other.value = other.id;
    if (this.#start.value !== begin) this.#start.value = begin;
    this.#compared(other.id);
    this.#name();
    const likely = other.clips.get(begin); // of episodes of one number, where both were trained for the session
    const among = [...new Set([...(likely ? [likely] : []), ...other.clips.values()])];
    const alike = named(first.starts.get(first.clips.get(begin) ?? "") ?? "", other.starts);
    const urls = [first.clips.get(begin) ?? "", alike ?? among[0]];
    const playing = this.#playing === "" ? !calm.matches : this.#pair.hasAttribute("data-playing");
    if (urls.join(" ") === this.#playing) return;
    this.#playing = urls.join(" ");
    this.#apart = "";
    try {
      const clip = await fetchPlayed(urls[0]);
      const beside = await counterpart(clip, among, fetchPlayed, alike);
      if (urls.join(" ") !== this.#playing) return;
      this.#apart = beside.by === "" ? apart(other.name, among.length) : other !== first && first.starts.size > 0 ? paired(beside.by) : "";
      steady(() => this.#name());
      await this.#pair.load([clip, beside.clip], { play: playing });
      steady(() => tell(none, ""));
    } catch {
      if (urls.join(" ") !== this.#playing) return;
      this.#playing = ""; // the next change tries again
      this.#stale = true;
    }
  }

  /** Says which policy is where, and from where it is shown. */
  #name() {
    if (this.#policies.length === 0) return;
    const { first, other } = this.#chose();
    const places = this.#pair.dataset.layout === "column" ? ["Above", "Below"] : ["Left", "Right"];
    tell(this.#part("names"), `${places[0]}: ${first.name}, recommended. ${places[1]}: ${other === first ? "the same policy: no other has a clip" : other.name}.`);
    const notes = [];
    if (this.#apart) notes.push(this.#apart);
    if (first.clips.size === 1) notes.push("One start is kept of the recommended policy.");
    if (other !== first && urlsOf(first) === urlsOf(other)) notes.push("The two act alike in all clips that are kept.");
    tell(this.#part("start-note"), notes.join(" "));
  }

  /**
   * Shows what the reward likes and dislikes. Clips that were there before play on.
   * @param {HTMLElement} fresh
   */
  #taste(fresh) {
    const place = this.#part("tastes");
    if (this.#tastes?.isEqualNode(fresh)) return;
    this.#tastes = fresh.cloneNode(true);
    const open = new Set([...place.querySelectorAll("details[open]")].map((d) => d.className)); // each has its own
    const had = new Map([...place.querySelectorAll("clip-loop")].map((c) => [c.getAttribute("src"), c]));
    for (const d of fresh.querySelectorAll("details")) d.open = open.has(d.className);
    for (const clip of fresh.querySelectorAll("clip-loop")) {
      const src = clip.getAttribute("src");
      const was = had.get(src);
      if (!was) continue;
      had.delete(src);
      clip.replaceWith(was);
    }
    const focused = place.contains(document.activeElement) ? document.activeElement?.closest("details")?.className : undefined;
    place.replaceChildren(...fresh.childNodes);
    for (const d of place.querySelectorAll("details")) if (d.className === focused) d.querySelector("summary")?.focus({ preventScroll: true });
    this.#pause();
  }

  #pause() {
    const clips = this.#root.querySelectorAll("[data-tastes] clip-loop");
    for (const c of clips) c.toggleAttribute("paused", this.#still);
    tell(this.#part("still-likings"), clips.length === 0 ? "" : this.#still ? "Play clips" : "Pause clips");
  }

  /**
   * Shows the question that would be asked.
   * @param {HTMLElement} fresh
   */
  async #ask(fresh) {
    const text = this.#part("next-text");
    if (!sameChildren(text, fresh)) text.replaceChildren(...fresh.childNodes); // what is read aloud is read once
    const urls = fresh.dataset.next ?? "";
    if (urls === this.#asks) return;
    const playing = this.#asks !== "" && this.#next.hasAttribute("data-playing");
    this.#asks = urls;
    if (!urls) return this.#next.clear();
    try {
      const clips = await Promise.all(urls.split(" ").map(fetchPlayed));
      if (urls === this.#asks) await this.#next.load(clips, { play: playing });
    } catch {
      if (urls !== this.#asks) return;
      this.#asks = "";
      this.#stale = true;
    }
  }

  /**
   * @param {string} name of a data attribute
   * @returns {HTMLElement}
   */
  #part(name) {
    return /** @type {HTMLElement} */ (this.#root.querySelector(`[data-${name}]`));
  }
}

/** @param {HTMLOptionElement} o @returns {Policy} */
function policyOf(o) {
  const list = (o.dataset.clips ?? "").split(" ");
  const clips = new Map();
  for (let i = 0; i + 1 < list.length; i += 2) clips.set(list[i], list[i + 1]);
  const begins = (o.dataset.begins ?? "").split(" ");
  const starts = new Map(o.dataset.begins ? [...clips.values()].map((url, i) => [url, begins[i]]) : []);
  return { id: o.value, name: o.textContent ?? "", clips, starts };
}

/** @param {Policy} p */
function urlsOf({ clips }) {
  return [...clips.values()].join(" ");
}

/**
 * Gives a field other options, if they have changed. What is chosen stays, if it is among them.
 * @param {HTMLSelectElement} field
 * @param {HTMLSelectElement} from
 */
function options(field, from) {
  if (sameChildren(field, from)) return;
  const was = field.value;
  field.replaceChildren(...from.cloneNode(true).childNodes);
  if ([...field.options].some((o) => o.value === was)) field.value = was;
}

/**
 * @param {Element} a
 * @param {Element} b
 */
function sameChildren(a, b) {
  return a.childNodes.length === b.childNodes.length && [...a.childNodes].every((c, i) => c.isEqualNode(b.childNodes[i]));
}

/**
 * @param {HTMLElement} el
 * @param {string} text empty hides it
 */
function tell(el, text) {
  if (el.textContent !== text) el.textContent = text;
  el.hidden = text === "";
}
