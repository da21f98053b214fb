// @ts-check
// Draws clips of pictures on a canvas.

/** @typedef {import("./clip.js").Clip} Clip */

/** Part of a frame by which a time may miss the frame's start and still show it. */
const SLACK = 1e-3;

/**
 * The picture that is shown at a frame, which may lie between two: the one that began last.
 * @param {Clip} clip
 * @param {number} frame 0 to frames - 1
 */
export function pictureAt({ show = [], frames }, frame) {
  return show[Math.max(0, Math.min(Math.floor(frame + SLACK), frames - 1))];
}

/**
 * @typedef {object} View  the part of its pictures that a clip shows, as shares of their width and height
 * @property {number} left
 * @property {number} top
 * @property {number} width
 * @property {number} height
 */

/** @type {View} */ export const WHOLE = { left: 0, top: 0, width: 1, height: 1 };
const MARGIN = 0.1; // of what is seen, on each side
const LARGE = 0.5; // a part of so much of the picture is not worth it: all is shown
const WIDEST = 4; // width to height of a part
const NARROWEST = 0.5;

/**
 * Which part of their pictures clips show. Nothing that is seen lies outside of it.
 * @param {Pick<Clip, "w"|"h"|"seen">[]} clips
 * @param {number[]} [seen] of all clips of the session, as Query says
 * @returns {View}
 */
export function viewOf(clips, seen) {
  const all = clips.map((c) => c.seen ?? [0, 0, 1, 1]);
  if (seen) all.push(seen);
  if (clips.length === 0) return WHOLE;
  const edge = (/** @type {number} */ i) => (i < 2 ? Math.min : Math.max)(...all.map((s) => s[i]));
  const [left, top, right, bottom] = [edge(0), edge(1), edge(2), edge(3)];
  const ratio = clips[0].w / clips[0].h;
  const [across, down] = [(right - left) * (1 + 2 * MARGIN), (bottom - top) * (1 + 2 * MARGIN)];
  const width = Math.min(1, Math.max(across, (down * NARROWEST) / ratio));
  const height = Math.min(1, Math.max(down, (across * ratio) / WIDEST));
  if (!(width * height < LARGE)) return WHOLE;
  const start = (/** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ size) => Math.max(0, Math.min((low + high - size) / 2, 1 - size));
  return { left: start(left, right, width), top: start(top, bottom, height), width, height };
}

/**
 * Draws one clip of pictures. They are decoded when it is built, so that every frame can be
 * drawn at once when it is ready: going to a moment shows the picture of that moment.
 */
export class PicturePainter {
  /** @type {ImageBitmap[]} */ #bitmaps = [];
  #closed = false;

  /**
   * @param {Clip} clip
   * @param {View} [view]
   */
  constructor(clip, view = WHOLE) {
    this.clip = clip;
    this.view = view;
    /** Settles when all pictures are decoded; it is rejected if one of them cannot be. */
    this.ready = this.#decode(clip.pictures ?? []);
    this.ready.catch(() => {}); // whoever waits hears of it
  }

  /** @param {Blob[]} files */
  async #decode(files) {
    this.#bitmaps = await Promise.all(files.map((f) => createImageBitmap(f)));
    if (this.#closed) this.close();
  }

  /** Frees the decoded pictures. */
  close() {
    this.#closed = true;
    for (const b of this.#bitmaps) b.close();
    this.#bitmaps = [];
  }

  /**
   * Draws the picture of a frame, or the part that is shown, over all of the canvas.
   * @param {CanvasRenderingContext2D} ctx
   * @param {number} frame 0 to frames - 1
   * @param {import("./draw.js").Palette} colours
   */
  draw(ctx, frame, colours) {
    const { width, height } = ctx.canvas;
    const bitmap = this.#bitmaps[pictureAt(this.clip, frame)];
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    if (bitmap) {
      ctx.imageSmoothingQuality = "high";
      const { width: w, height: h } = bitmap;
      ctx.drawImage(bitmap, this.view.left * w, this.view.top * h, this.view.width * w, this.view.height * h, 0, 0, width, height);
    } else {
      ctx.fillStyle = colours.ground;
      ctx.fillRect(0, 0, width, height);
    }
  }
}
