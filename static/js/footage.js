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
 * Draws one clip of pictures. They are decoded when it is built, so that every frame can be
 * drawn at once when it is ready: going to a moment shows the picture of that moment.
 */
export class PicturePainter {
  /** @type {ImageBitmap[]} */ #bitmaps = [];
  #closed = false;

  /** @param {Clip} clip */
  constructor(clip) {
    this.clip = clip;
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
   * Draws the picture of a frame over all of the canvas.
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
      ctx.drawImage(bitmap, 0, 0, width, height);
    } else {
      ctx.fillStyle = colours.ground;
      ctx.fillRect(0, 0, width, height);
    }
  }
}
