// @ts-check
import { painter, palette } from "./draw.js";

/** @typedef {import("./clip.js").Clip} Clip */

const FREEZE = 0.3; // seconds the last frame stays, so that the jump back does not read as motion
const SPEEDS = [0.1, 0.5, 1, 2];
const SIGNS = ["⅒×", "½×", "1×", "2×"];
const NORMAL = SPEEDS.indexOf(1);
const GAP = 16; // CSS pixels between two views

/**
 * Plays one or two clips on one clock, in a loop. The shorter one waits on its
 * last frame.
 *
 *   <duo-player sides="2" keys></duo-player>
 *
 * sides: number of views, 1 or 2. keys: show which keys work the transport.
 * The element sets on itself data-layout (row or column, whichever shows more),
 * data-empty, data-still, data-playing, and data-untouched until the clips first
 * move.
 */
export class DuoPlayer extends HTMLElement {
  /** @type {HTMLCanvasElement[]} */ #canvases = [];
  /** @type {ReturnType<typeof painter>[]} */ #painters = [];
  /** @type {ResizeObserver|undefined} */ #resize;
  /** @type {AbortController|undefined} */ #open;
  #colours = /** @type {import("./draw.js").Palette} */ ({});
  #request = 0;
  #last = 0; // time of the last tick, ms
  #time = 0; // on the clock of the clips, seconds, up to #length + freeze
  #length = 0; // of the longer clip, seconds
  #frame = 0; // length of a frame, seconds
  #speed = 1;
  #playing = false;
  loops = 0; // times the clips played to the end since load

  connectedCallback() {
    this.#build();
    this.toggleAttribute("data-empty", true);
    this.#open = new AbortController();
    const { signal } = this.#open;
    for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"]) {
      matchMedia(query).addEventListener("change", () => this.#theme(), { signal });
    }
    this.#resize = new ResizeObserver(() => this.#arrange());
    this.#resize.observe(this.#part(".frames"));
    this.#listen(signal);
    this.#theme();
  }

  disconnectedCallback() {
    cancelAnimationFrame(this.#request);
    this.#open?.abort();
    this.#resize?.disconnect();
    this.replaceChildren();
  }

  /**
   * Shows clips from their first frame. The promise resolves, with the time on
   * performance.now()'s clock, once that frame is painted.
   * @param {Clip[]} clips as many as there are sides, left first
   * @param {{play?: boolean}} [how] play: start at once, true unless said otherwise
   * @returns {Promise<number>}
   */
  load(clips, how = {}) {
    this.#painters = clips.map(painter);
    this.#length = Math.max(0, ...clips.map((c) => c.seconds));
    this.#frame = Math.min(...clips.map((c) => c.seconds / Math.max(1, c.frames - 1)));
    this.loops = 0;
    this.#time = 0;
    this.toggleAttribute("data-empty", false);
    this.toggleAttribute("data-still", this.#length === 0);
    this.toggleAttribute("data-untouched", this.#length > 0);
    this.#arrange();
    this.#play((how.play ?? true) && this.#length > 0);
    return new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())));
  }

  /** Shows nothing. */
  clear() {
    this.#painters = [];
    this.#play(false);
    this.toggleAttribute("data-empty", true);
  }

  toggle() {
    if (this.#length > 0) this.#play(!this.#playing);
  }

  /** @param {number} frames steps forward, or back if negative; pauses */
  step(frames) {
    this.#play(false);
    const n = Math.round(Math.min(this.#time, this.#length) / this.#frame) + frames;
    this.seek(n * this.#frame);
  }

  /** @param {number} seconds */
  seek(seconds) {
    this.removeAttribute("data-untouched");
    this.#time = Math.max(0, Math.min(seconds, this.#length));
    this.#draw();
  }

  /** @param {number} index into a tenth of, half, normal and double speed */
  setSpeed(index) {
    const i = Math.max(0, Math.min(index, SPEEDS.length - 1));
    this.#speed = SPEEDS[i];
    this.querySelectorAll("[data-speed]").forEach((b, k) => b.setAttribute("aria-pressed", String(k === i)));
  }

  /** @param {number} by -1 slower, +1 faster */
  changeSpeed(by) {
    this.setSpeed(SPEEDS.indexOf(this.#speed) + by);
  }

  #build() {
    const sides = Number(this.getAttribute("sides") ?? 1);
    const keys = this.hasAttribute("keys");
    this.replaceChildren(element("div", "frames"), element("div", "transport"));
    for (let i = 0; i < sides; i++) {
      const figure = element("figure", "frame");
      if (sides > 1) figure.dataset.side = i === 0 ? "left" : "right";
      const canvas = document.createElement("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", sides === 1 ? "Clip" : i === 0 ? "First clip" : "Second clip");
      figure.append(canvas);
      this.#canvases.push(canvas);
      this.#part(".frames").append(figure);
    }
    this.#part(".transport").append(playButton(keys), bar(), speeds(keys));
    this.setSpeed(NORMAL);
  }

  /** @param {AbortSignal} signal */
  #listen(signal) {
    this.#part(".play").addEventListener("click", () => this.toggle(), { signal });
    this.querySelectorAll("[data-speed]").forEach((b, i) =>
      b.addEventListener("click", () => this.setSpeed(i), { signal }));
    const track = this.#part(".track");
    const scrub = (/** @type {PointerEvent} */ e) => {
      const box = track.getBoundingClientRect();
      this.#play(false);
      this.seek(((e.clientX - box.left) / box.width) * (this.#length + FREEZE));
    };
    track.addEventListener("pointerdown", (e) => {
      track.setPointerCapture(e.pointerId);
      scrub(e);
    }, { signal });
    track.addEventListener("pointermove", (e) => {
      if (track.hasPointerCapture(e.pointerId)) scrub(e);
    }, { signal });
  }

  #theme() {
    this.#colours = palette(this);
    this.#draw();
  }

  /** Sizes the views so that they show as much as the room allows. */
  #arrange() {
    const first = this.#painters[0];
    const room = this.#part(".frames").getBoundingClientRect();
    if (!first || room.width === 0 || room.height === 0) return;
    const n = this.#canvases.length;
    const ratio = first.clip.w / first.clip.h;
    const fit = (/** @type {number} */ w, /** @type {number} */ h) => Math.max(40, Math.min(w, h * ratio));
    const row = fit((room.width - (n - 1) * GAP) / n, room.height);
    const column = fit(room.width, (room.height - (n - 1) * GAP) / n);
    this.dataset.layout = row >= column ? "row" : "column";
    const width = Math.floor(Math.max(row, column));
    for (const c of this.#canvases) {
      c.style.width = `${width}px`;
      c.style.height = `${Math.floor(width / ratio)}px`;
      c.width = Math.round(width * Math.min(devicePixelRatio, 3));
      c.height = Math.round(c.width / ratio);
    }
    this.#draw();
  }

  /** @param {boolean} on */
  #play(on) {
    cancelAnimationFrame(this.#request);
    this.#playing = on;
    this.toggleAttribute("data-playing", on);
    if (on) this.removeAttribute("data-untouched");
    this.#part(".play .sr").textContent = on ? "Pause" : "Play";
    this.#last = performance.now();
    if (on) this.#request = requestAnimationFrame((now) => this.#tick(now));
    this.#draw();
  }

  /** @param {number} now ms */
  #tick(now) {
    const passed = Math.max(0, Math.min(now - this.#last, 100)) / 1000; // a hidden page does not run ahead
    const frozen = this.#time >= this.#length;
    this.#last = now;
    this.#time += passed * (frozen ? 1 : this.#speed);
    if (!frozen && this.#time >= this.#length) {
      this.#time = this.#length;
      this.loops++;
    }
    if (this.#time >= this.#length + FREEZE) this.#time = 0;
    this.#draw();
    this.#request = requestAnimationFrame((t) => this.#tick(t));
  }

  #draw() {
    const t = Math.min(this.#time, this.#length);
    this.#painters.forEach((p, i) => {
      const ctx = this.#canvases[i]?.getContext("2d", { alpha: false });
      const frame = p.clip.seconds > 0 ? (t / p.clip.seconds) * (p.clip.frames - 1) : 0;
      if (ctx) p.draw(ctx, frame, this.#colours);
    });
    const whole = this.#length + FREEZE;
    this.#part(".done").style.width = `${(100 * this.#time) / whole}%`;
    this.#part(".end").style.left = `${(100 * this.#length) / whole}%`;
  }

  /**
   * @param {string} selector
   * @returns {HTMLElement}
   */
  #part(selector) {
    return /** @type {HTMLElement} */ (this.querySelector(selector));
  }
}

/**
 * @param {string} tag
 * @param {string} className
 * @param {string} [text]
 */
function element(tag, className, text = "") {
  const el = document.createElement(tag);
  el.className = className;
  el.textContent = text;
  return el;
}

/** @param {boolean} keys */
function playButton(keys) {
  const button = element("button", "play");
  button.setAttribute("type", "button");
  button.append(element("span", "icon"), element("span", "sr"));
  if (keys) {
    const key = element("kbd", "", "Space");
    key.setAttribute("aria-hidden", "true");
    button.append(key);
  }
  return button;
}

function bar() {
  const track = element("div", "track");
  track.setAttribute("aria-hidden", "true"); // the keys do the same: , and . step
  track.append(element("div", "done"), element("div", "end"));
  return track;
}

/** @param {boolean} keys */
function speeds(keys) {
  const group = element("div", "speeds");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Speed");
  SPEEDS.forEach((s, i) => {
    const b = element("button", "", SIGNS[i]);
    b.setAttribute("type", "button");
    b.dataset.speed = String(s);
    if (keys) b.title = `Key ${i + 1}`;
    group.append(b);
  });
  return group;
}
