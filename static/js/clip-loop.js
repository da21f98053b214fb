// @ts-check
import { fetchClip } from "./clip.js";
import { painter, palette } from "./draw.js";

const FRAME = 1000 / 30; // ms between two pictures, at least: there may be many loops on a page
const SHARPEST = 2; // canvas pixels to a CSS pixel, at most

/**
 * Plays a clip in a loop, small and without controls, while it is in view. It is fetched
 * when it comes into view for the first time.
 *
 *   <clip-loop src="/sessions/s/clips/c" paused></clip-loop>
 *
 * src: address of the clip. paused: it rests where it is. The element sets data-playing
 * and data-empty on itself.
 */
export class ClipLoop extends HTMLElement {
  static observedAttributes = ["src", "paused"];
  static fetch = fetchClip; // a page may limit it

  #canvas = document.createElement("canvas");
  /** @type {import("./draw.js").Painter|undefined} */ #painter;
  /** @type {IntersectionObserver|undefined} */ #sight;
  /** @type {AbortController|undefined} */ #open;
  #colours = /** @type {import("./draw.js").Palette} */ ({});
  #loaded = ""; // src of the painter
  #seen = false; // in view
  #request = 0;
  #drawn = 0; // time of the last picture, ms
  #time = 0; // of the clip, seconds

  connectedCallback() {
    this.#open = new AbortController();
    const { signal } = this.#open;
    if (!this.#canvas.isConnected) this.replaceChildren(this.#canvas);
    this.toggleAttribute("data-empty", !this.#painter);
    for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"]) {
      matchMedia(query).addEventListener("change", () => this.#show(), { signal });
    }
    this.#sight = new IntersectionObserver((entries) => {
      this.#seen = entries[entries.length - 1].isIntersecting;
      this.#follow();
    });
    this.#sight.observe(this);
  }

  disconnectedCallback() {
    this.#open?.abort();
    this.#sight?.disconnect();
    this.#seen = false;
    this.#follow();
    if (this.#painter?.clip.footage) this.#drop();
  }

  /** Forgets a clip whose pictures need room; it is fetched again in view. */
  #drop() {
    this.#painter?.close();
    this.#painter = undefined;
    this.#loaded = "";
  }

  attributeChangedCallback() {
    this.#follow();
  }

  /** Fetches a clip again that did not come, as the server was away. */
  again() {
    this.#follow();
  }

  /** Brings what happens in line with what is in view and wanted. */
  #follow() {
    cancelAnimationFrame(this.#request);
    const src = this.getAttribute("src") ?? "";
    if (this.#seen && src && src !== this.#loaded) this.#load(src);
    const on = this.#seen && !this.hasAttribute("paused") && (this.#painter?.clip.seconds ?? 0) > 0;
    this.toggleAttribute("data-playing", on);
    if (!on) return;
    this.#drawn = performance.now();
    this.#request = requestAnimationFrame((now) => this.#tick(now));
  }

  /** @param {string} src */
  async #load(src) {
    this.#loaded = src;
    try {
      const clip = await ClipLoop.fetch(src);
      const next = painter(clip);
      await next.ready;
      if (src !== this.#loaded) return next.close();
      this.#painter?.close();
      this.#painter = next;
      this.#time = 0;
      this.toggleAttribute("data-empty", false);
      this.#show();
    } catch {
      if (src === this.#loaded) this.#loaded = ""; // it is fetched again in view, or by again
      return;
    }
    this.#follow();
  }

  /** Draws the present moment in the size and the colours of the page. */
  #show() {
    if (!this.#painter) return;
    const { w, h } = this.#painter.clip;
    this.#colours = palette(this);
    this.#canvas.width = Math.max(1, Math.round(this.clientWidth * Math.min(devicePixelRatio, SHARPEST)));
    this.#canvas.height = Math.max(1, Math.round((this.#canvas.width * h) / w));
    this.#draw();
  }

  /** @param {number} now ms */
  #tick(now) {
    this.#request = requestAnimationFrame((t) => this.#tick(t));
    const passed = now - this.#drawn;
    if (passed < FRAME) return;
    this.#drawn = now;
    const { seconds } = /** @type {import("./draw.js").Painter} */ (this.#painter).clip;
    this.#time = (this.#time + Math.min(passed, 100) / 1000) % seconds;
    this.#draw();
  }

  #draw() {
    const ctx = this.#canvas.getContext("2d", { alpha: false });
    if (!ctx || !this.#painter) return;
    const { seconds, frames } = this.#painter.clip;
    this.#painter.draw(ctx, seconds > 0 ? (this.#time / seconds) * (frames - 1) : 0, this.#colours);
  }
}
