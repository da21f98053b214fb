// @ts-check
import { painter, palette } from "./draw.js";
import { element, Transport } from "./transport.js";

/** @typedef {import("./clip.js").Clip} Clip */

const FREEZE = 0.3; // seconds the last frame stays at least, so that the jump back does not read as motion
const GAP = 16; // CSS pixels between two views
const CLOSE = 8; // the same where there are more
const ABOVE = 32; // CSS pixels: where there is so much room above films, a line of text is not laid over them
const STEADY = 1.08; // by how much larger the other layout must show the clips to be taken: a banner must not turn the page

/**
 * Plays clips on one clock, in a loop. The shorter ones wait on their last frame. A
 * click on a clip plays or pauses, or, with pick, chooses it.
 *
 *   <duo-player sides="2" keys></duo-player>
 *
 * sides: number of views; more than two stand in a grid. pick: each has a button with
 * its number over it, whose data-choice is "pick:1" and so on. keys: show which keys work the transport.
 * The element sets on itself data-layout (row or column, whichever shows more),
 * data-empty, data-still, data-playing, and data-untouched until the clips first
 * move. Events: "shown" when clips were loaded, "layout" when data-layout has
 * changed, and "watched" when the clips have played or been gone through to their
 * end for the first time.
 */
export class DuoPlayer extends HTMLElement {
  /** @type {HTMLCanvasElement[]} */ #canvases = [];
  /** @type {import("./draw.js").Painter[]} */ #painters = [];
  /** @type {ResizeObserver|undefined} */ #resize;
  /** @type {AbortController|undefined} */ #open;
  /** @type {Transport|undefined} */ #transport;
  #colours = /** @type {import("./draw.js").Palette} */ ({});
  #columns = 0; // of the views
  #request = 0;
  #last = 0; // time of the last tick, ms
  #time = 0; // on the clock of the clips, seconds, up to #length + #rest
  #length = 0; // of the longer clip, seconds
  #frame = 0; // length of a frame, seconds
  #rest = FREEZE; // how long the last frame stays, seconds
  #wanted = false; // it plays unless it is held
  #held = false;
  #waits = false; // until pictures are decoded
  loops = 0; // times the clips played to the end since load
  watched = false; // see the event; always true of stills

  connectedCallback() {
    this.#open = new AbortController();
    const { signal } = this.#open;
    this.#build(signal);
    this.toggleAttribute("data-empty", true);
    for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"]) {
      matchMedia(query).addEventListener("change", () => this.#theme(), { signal });
    }
    this.#resize = new ResizeObserver(() => this.#arrange());
    this.#resize.observe(this.#part(".frames"));
    this.#theme();
  }

  disconnectedCallback() {
    cancelAnimationFrame(this.#request);
    this.#open?.abort();
    this.#resize?.disconnect();
    this.#painters.forEach((p) => p.close());
    this.replaceChildren();
  }

  /**
   * Shows clips from their first frame. The promise resolves, with the time on
   * performance.now()'s clock, once that frame is painted, and is rejected if a picture
   * cannot be decoded.
   * @param {Clip[]} clips as many as there are sides, left first
   * @param {{play?: boolean, seen?: number[]}} [how] play: start at once, true unless said otherwise; seen: of pictures, as Query says
   * @returns {Promise<number>}
   */
  load(clips, how = {}) {
    this.#painters.forEach((p) => p.close());
    const painters = this.#painters = clips.map((c) => painter(c, clips, how.seen));
    delete this.dataset.cameras;
    painters[0]?.attach?.(this, () => this.changeView());
    const waits = painters.flatMap((p) => p.ready ?? []);
    this.#waits = waits.length > 0;
    this.#length = Math.max(0, ...clips.map((c) => c.seconds));
    this.#rest = Math.max(FREEZE, ...clips.map((c) => c.end));
    this.#frame = Math.min(...clips.map((c) => c.seconds / Math.max(1, c.frames - 1)));
    this.loops = 0;
    this.watched = this.#length === 0;
    this.#time = 0;
    this.toggleAttribute("data-empty", false);
    this.toggleAttribute("data-still", this.#length === 0);
    this.toggleAttribute("data-untouched", this.#length > 0);
    this.querySelectorAll("figcaption").forEach((caption, i) => {
      caption.textContent = clips[i]?.note ?? "";
      caption.hidden = !caption.textContent;
    });
    this.#place();
    this.dispatchEvent(new Event("shown"));
    this.#play((how.play ?? true) && this.#length > 0);
    return this.#painted(painters, waits);
  }

  /**
   * @param {import("./draw.js").Painter[]} painters
   * @param {Promise<unknown>[]} waits
   * @returns {Promise<number>}
   */
  async #painted(painters, waits) {
    if (waits.length > 0) await Promise.all(waits);
    if (this.#waits && painters === this.#painters) {
      this.#waits = false;
      this.#play(this.#wanted);
    }
    return new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())));
  }

  /** Shows nothing. */
  clear() {
    this.#painters.forEach((p) => p.close());
    this.#painters = [];
    this.#play(false);
    this.toggleAttribute("data-empty", true);
  }

  /** Draws nothing more until other clips are loaded. */
  freeze() {
    cancelAnimationFrame(this.#request);
  }

  toggle() {
    if (this.#length > 0) this.#play(!this.#wanted);
  }

  /**
   * Stops the clips for as long as something lies over them.
   * @param {boolean} on
   */
  hold(on) {
    this.#held = on;
    this.#play(this.#wanted);
  }

  /** @param {number} frames steps forward, or back if negative; pauses */
  step(frames) {
    this.#play(false);
    const n = Math.round(Math.min(this.#time, this.#length) / this.#frame) + frames;
    this.seek(n * this.#frame);
  }

  /** The moment that is shown: seconds at speed 1, and its part of the bar. */
  get place() {
    const seconds = Math.min(this.#time, this.#length);
    return { seconds, part: seconds / (this.#length + this.#rest) };
  }

  /** @param {number} seconds */
  seek(seconds) {
    this.removeAttribute("data-untouched");
    this.#time = Math.max(0, Math.min(seconds, this.#length));
    if (this.#time === this.#length) this.#watch();
    this.#draw();
  }

  /** @param {number} by -1 slower, +1 faster */
  changeSpeed(by) {
    this.#transport?.changeSpeed(by);
  }

  /** Shows clips of several cameras in another way. */
  changeView() {
    this.#painters[0]?.turn?.();
    this.#arrange();
  }

  /** @param {AbortSignal} signal */
  #build(signal) {
    const sides = Number(this.getAttribute("sides") ?? 1);
    const frames = element("div", "frames");
    this.#canvases = [];
    for (let i = 0; i < sides; i++) {
      const figure = element("figure", "frame");
      if (sides === 2) figure.dataset.side = i === 0 ? "left" : "right";
      const canvas = document.createElement("canvas");
      canvas.setAttribute("role", "img");
      const caption = document.createElement("figcaption");
      caption.hidden = true;
      figure.append(canvas, caption);
      figure.addEventListener("mousedown", (e) => e.preventDefault(), { signal }); // no selection by a double click
      if (this.hasAttribute("pick")) figure.append(pickButton(i + 1));
      else figure.addEventListener("click", () => this.toggle(), { signal });
      this.#canvases.push(canvas);
      frames.append(figure);
    }
    this.#transport = new Transport({
      toggle: () => this.toggle(),
      step: (n) => this.step(n),
      scrub: (part) => {
        this.#play(false);
        this.seek(part * (this.#length + this.#rest));
      },
    }, this.hasAttribute("keys"), signal);
    this.replaceChildren(frames, this.#transport.el);
  }

  #theme() {
    this.#colours = palette(this);
    this.#draw();
  }

  /** What the sizes of the views depend on besides the room: width to height of a view. */
  get shape() {
    const clip = this.#painters[0]?.clip;
    return clip ? `${clip.w / clip.h}` : "";
  }

  /**
   * How large all views together would be in a room, in CSS pixels; undefined without clips.
   * @param {number} width
   * @param {number} height
   */
  wanted(width, height) {
    const shape = this.#fit(width, height);
    if (!shape) return undefined;
    const rows = Math.ceil(this.#canvases.length / shape.columns);
    const [w, h, gap] = [shape.width, shape.width / shape.ratio, this.#gap];
    return { width: shape.columns * w + (shape.columns - 1) * gap, height: rows * h + (rows - 1) * gap };
  }

  get #gap() {
    return this.#canvases.length > 2 ? CLOSE : GAP;
  }

  /**
   * How to show the clips in a room: in how many columns, and how wide each.
   * @param {number} width
   * @param {number} height
   */
  #fit(width, height) {
    const first = this.#painters[0];
    if (!first || width <= 0 || height <= 0) return undefined;
    const n = this.#canvases.length;
    const gap = this.#gap;
    const was = this.#painters.length > 0 ? this.#columns : 0;
    let best = { columns: n, width: 0, ratio: 1, weight: 0 };
    for (let columns = n; columns >= 1; columns--) {
      const rows = Math.ceil(n / columns);
      if (columns * rows !== n) continue; // no gaps in the grid
      const [w, h] = [(width - (columns - 1) * gap) / columns, (height - (rows - 1) * gap) / rows];
      const ratio = first.ratio?.(w, h) ?? first.clip.w / first.clip.h;
      const fit = Math.max(40, Math.min(w, h * ratio));
      const weight = (fit / Math.sqrt(ratio)) * (columns === was ? STEADY : 1);
      if (weight > best.weight) best = { columns, width: Math.floor(fit), ratio, weight };
    }
    return best;
  }

  #arrange() {
    this.#place();
    this.#draw();
  }

  /** Sizes the views so that they show as much as the room allows. They must be drawn then. */
  #place() {
    const room = this.#part(".frames").getBoundingClientRect();
    const shape = this.#fit(room.width, room.height);
    if (!shape) return;
    const was = this.dataset.layout;
    this.dataset.layout = shape.columns > 1 || this.#canvases.length === 1 ? "row" : "column";
    this.#columns = shape.columns;
    const spare = (room.height - Math.floor(shape.width / shape.ratio)) / 2;
    this.toggleAttribute("data-above", !!this.#painters[0]?.attach && this.#canvases.length === shape.columns && spare >= ABOVE);
    if (this.#canvases.length > 2) this.#part(".frames").style.gridTemplateColumns = `repeat(${shape.columns}, auto)`;
    for (const c of this.#canvases) {
      c.style.width = `${shape.width}px`;
      c.style.height = `${Math.floor(shape.width / shape.ratio)}px`;
      const width = Math.round(shape.width * Math.min(devicePixelRatio, 3));
      const height = Math.round(width / shape.ratio);
      if (c.width !== width) c.width = width; // else it would be made anew
      if (c.height !== height) c.height = height;
    }
    this.#name();
    if (this.dataset.layout !== was) this.dispatchEvent(new Event("layout"));
  }

  /** Names the pictures by their place. */
  #name() {
    const what = this.#length > 0 ? "clip" : "picture";
    const places = this.dataset.layout === "row" ? ["Left", "Right"] : ["Upper", "Lower"];
    this.#canvases.forEach((c, i, all) => {
      const place = all.length > 2 ? `${i + 1}` : places[i];
      c.setAttribute("aria-label", all.length > 2 ? `Clip ${place}` : all.length > 1 ? `${place} ${what}` : `The ${what}`);
    });
  }

  /** @param {boolean} wanted whether to play, unless the clips are held */
  #play(wanted) {
    cancelAnimationFrame(this.#request);
    this.#wanted = wanted;
    const on = wanted && !this.#held && !this.#waits;
    this.toggleAttribute("data-playing", on);
    this.#transport?.playing(on);
    this.#last = performance.now();
    if (!on) return this.#draw();
    this.removeAttribute("data-untouched");
    this.#request = requestAnimationFrame((now) => this.#tick(now));
  }

  /** @param {number} now ms */
  #tick(now) {
    const passed = Math.max(0, Math.min(now - this.#last, 100)) / 1000; // a hidden page does not run ahead
    const frozen = this.#time >= this.#length;
    this.#last = now;
    this.#time += passed * (frozen ? 1 : this.#transport?.speed ?? 1);
    if (!frozen && this.#time >= this.#length) {
      this.#time = this.#length;
      this.loops++;
      this.#watch();
    }
    if (this.#time >= this.#length + this.#rest) this.#time = 0;
    this.#draw();
    this.#request = requestAnimationFrame((t) => this.#tick(t));
  }

  #watch() {
    if (this.watched) return;
    this.watched = true;
    this.dispatchEvent(new Event("watched"));
  }

  #draw() {
    const t = Math.min(this.#time, this.#length);
    const speed = !this.hasAttribute("data-playing") ? undefined : t < this.#length ? this.#transport?.speed : 0;
    this.#painters.forEach((p, i) => {
      const ctx = this.#canvases[i]?.getContext("2d", { alpha: false });
      const frame = p.clip.seconds > 0 ? (t / p.clip.seconds) * (p.clip.frames - 1) : 0;
      if (ctx) p.draw(ctx, frame, this.#colours, speed);
    });
    this.#transport?.at(this.#time, this.#length, this.#length + this.#rest, this.hasAttribute("data-playing"));
  }

  /**
   * @param {string} selector
   * @returns {HTMLElement}
   */
  #part(selector) {
    return /** @type {HTMLElement} */ (this.querySelector(selector));
  }
}

/** @param {number} place from 1 on */
function pickButton(place) {
  const button = element("button", "pick");
  button.setAttribute("type", "button");
  button.dataset.choice = `pick:${place}`;
  button.setAttribute("aria-keyshortcuts", String(place));
  button.setAttribute("aria-label", `Clip ${place}`);
  const key = element("kbd", "");
  key.textContent = String(place);
  button.append(key);
  return button;
}
