// @ts-check
// The controls below the clips: play, position, speed.

const SPEEDS = [0.1, 0.5, 1, 2];
const SIGNS = ["⅒×", "½×", "1×", "2×"];
const NAMES = ["A tenth of the speed", "Half speed", "Normal speed", "Double speed"];
const NORMAL = SPEEDS.indexOf(1);

/**
 * @typedef {object} Deck what plays
 * @property {() => void} toggle plays or pauses
 * @property {(part: number) => void} scrub goes to a part of the whole, 0 to 1, and pauses
 * @property {(frames: number) => void} step goes some frames on or back, and pauses
 */

/** Play button, scrub bar and speeds of a player. */
export class Transport {
  el = element("div", "transport");
  speed = 1;
  #play = element("button", "play");
  #name = element("span", "sr");
  #track = element("div", "track");
  #done = element("div", "done");
  #end = element("div", "end");

  /**
   * @param {Deck} deck
   * @param {boolean} keys show which keys do the same
   * @param {AbortSignal} signal ends listening
   */
  constructor(deck, keys, signal) {
    this.#play.setAttribute("type", "button");
    this.#play.append(element("span", "icon"), this.#name);
    if (keys) {
      const key = element("kbd", "", "Space");
      key.setAttribute("aria-hidden", "true");
      this.#play.append(key);
    }
    this.#play.addEventListener("click", () => deck.toggle(), { signal });
    this.#bar(deck, signal);
    this.el.append(this.#play, this.#track, this.#speeds(keys, signal));
    this.setSpeed(NORMAL);
  }

  /** @param {number} index into a tenth of, half, normal and double speed */
  setSpeed(index) {
    const i = Math.max(0, Math.min(index, SPEEDS.length - 1));
    this.speed = SPEEDS[i];
    this.el.querySelectorAll("[data-speed]").forEach((b, k) => b.setAttribute("aria-pressed", String(k === i)));
  }

  /** @param {number} by -1 slower, +1 faster */
  changeSpeed(by) {
    this.setSpeed(SPEEDS.indexOf(this.speed) + by);
  }

  /** @param {boolean} on */
  playing(on) {
    this.#name.textContent = on ? "Pause" : "Play";
  }

  /**
   * Moves the bar. Its value for assistive technology changes only when the clips
   * rest, so that nothing is read out while they play.
   * @param {number} time seconds
   * @param {number} length of the clips, seconds
   * @param {number} whole length with the rest at the end, seconds
   * @param {boolean} playing
   */
  at(time, length, whole, playing) {
    this.#done.style.width = `${(100 * time) / whole}%`;
    this.#end.style.left = `${(100 * length) / whole}%`;
    if (playing && this.#track.hasAttribute("aria-valuenow")) return;
    const t = Math.min(time, length);
    this.#track.setAttribute("aria-valuemax", length.toFixed(2));
    this.#track.setAttribute("aria-valuenow", t.toFixed(2));
    this.#track.setAttribute("aria-valuetext", `${t.toFixed(2)} of ${length.toFixed(2)} seconds`);
  }

  /**
   * @param {Deck} deck
   * @param {AbortSignal} signal
   */
  #bar(deck, signal) {
    const track = this.#track;
    for (const [name, value] of Object.entries({ role: "slider", tabindex: "0", "aria-label": "Position", "aria-valuemin": "0" })) {
      track.setAttribute(name, value);
    }
    track.append(this.#done, this.#end);
    const scrub = (/** @type {PointerEvent} */ e) => {
      const box = track.getBoundingClientRect();
      deck.scrub((e.clientX - box.left) / box.width);
    };
    track.addEventListener("mousedown", (e) => e.preventDefault(), { signal }); // a click must not take the focus: the arrows are for answers
    track.addEventListener("pointerdown", (e) => {
      track.setPointerCapture(e.pointerId);
      scrub(e);
    }, { signal });
    track.addEventListener("pointermove", (e) => {
      if (track.hasPointerCapture(e.pointerId)) scrub(e);
    }, { signal });
    track.addEventListener("keydown", (e) => {
      const move = barKey(e, deck);
      if (!move) return;
      e.preventDefault();
      e.stopPropagation(); // while the bar has the focus its keys are no answers
      move();
    }, { signal });
  }

  /**
   * @param {boolean} keys
   * @param {AbortSignal} signal
   */
  #speeds(keys, signal) {
    const group = element("div", "speeds");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Speed");
    SPEEDS.forEach((s, i) => {
      const b = element("button", "", SIGNS[i]);
      b.setAttribute("type", "button");
      b.dataset.speed = String(s);
      b.title = keys ? `${NAMES[i]}. Keys: [ slower, ] faster` : NAMES[i];
      b.addEventListener("click", () => this.setSpeed(i), { signal });
      group.append(b);
    });
    return group;
  }
}

/**
 * What a key does on the scrub bar, or undefined.
 * @param {KeyboardEvent} e
 * @param {Deck} deck
 * @returns {(() => void)|undefined}
 */
function barKey(e, deck) {
  if (e.ctrlKey || e.altKey || e.metaKey) return undefined;
  const frames = /** @type {Record<string, number>} */ ({
    ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10,
  })[e.key];
  if (frames) return () => deck.step(frames);
  if (e.key === "Home") return () => deck.scrub(0);
  if (e.key === "End") return () => deck.scrub(1);
  return undefined;
}

/**
 * @param {string} tag
 * @param {string} className
 * @param {string} [text]
 */
export function element(tag, className, text = "") {
  const el = document.createElement(tag);
  el.className = className;
  el.textContent = text;
  return el;
}
