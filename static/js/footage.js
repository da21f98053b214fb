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
 * @typedef {object} View  the part of its pictures that a clip shows. It has their shape, so that a part that grows never turns the page
 * @property {number} left as a share of the width
 * @property {number} top as a share of the height
 * @property {number} side share of both the width and the height
 */

/** @type {View} */ const WHOLE = { left: 0, top: 0, side: 1 };
const MARGIN = 0.1; // of what is seen, on each side
const LARGE = 0.7; // from this side on a part is not worth it: half of the picture or more

/**
 * Which part of their pictures clips show. Nothing that is seen lies outside of it.
 * @param {Pick<Clip, "seen">[]} clips
 * @param {number[]} [seen] of all clips of the session, as Query says
 * @returns {View}
 */
export function viewOf(clips, seen) {
  const all = clips.map((c) => c.seen ?? [0, 0, 1, 1]);
  if (seen) all.push(seen);
  const edge = (/** @type {number} */ i) => (i < 2 ? Math.min : Math.max)(...all.map((s) => s[i]));
  const [left, top, right, bottom] = [edge(0), edge(1), edge(2), edge(3)];
  const side = Math.max(right - left, bottom - top) * (1 + 2 * MARGIN);
  if (!(side >= 0 && side < LARGE)) return WHOLE;
  const start = (/** @type {number} */ low, /** @type {number} */ high) => Math.max(0, Math.min((low + high - side) / 2, 1 - side));
  return { left: start(left, right), top: start(top, bottom), side };
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
      const { left, top, side } = this.view;
      ctx.drawImage(bitmap, left * bitmap.width, top * bitmap.height, side * bitmap.width, side * bitmap.height, 0, 0, width, height);
    } else {
      ctx.fillStyle = colours.ground;
      ctx.fillRect(0, 0, width, height);
    }
  }
}
