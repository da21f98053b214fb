// @ts-check
// Clips of pictures ("TBF1"): how they come over the wire, and how they are drawn on a canvas. It is loaded with the first of them.

/** @typedef {import("./clip.js").Clip} Clip */

/**
 * @typedef {object} Footage  what a clip of pictures or video has besides
 * @property {Blob[]} pictures files
 * @property {number[]} show which of them each frame shows
 * @property {number[]} [seen] left, top, right and bottom, as shares, outside of which they show nothing; else all is to be shown
 * @property {Tape} [tape] of a clip of video
 * @property {(clip: Clip, beside?: Clip[], seen?: number[]) => import("./draw.js").Painter} painter makes what draws it
 */

/**
 * @typedef {object} Tape  what cameras filmed. Without a video there are only the pictures
 * @property {Blob} [video]
 * @property {number} dt seconds of a frame in the video
 * @property {number} pace seconds of the video in a second of the viewer, at speed 1
 * @property {number} w pixels of the video
 * @property {number} h
 * @property {Camera[]} cameras
 */

/** @typedef {{name: string, x: number, y: number, w: number, h: number}} Camera  a part of the video, pixels */

/**
 * @typedef {object} Header  the JSON part of the bytes; package clip says what each field means
 * @property {number} v version, 3 or 4
 * @property {number} frames
 * @property {number} dt seconds of the environment's time between two frames
 * @property {number} playback by how much faster it plays
 * @property {number} [end] viewer's seconds
 * @property {number} w
 * @property {number} h
 * @property {string} [note]
 * @property {{k: "png"|"jpeg", n: number}[]} [pictures] kinds and lengths of the files
 * @property {number[]} [show]
 * @property {number[]} [seen]
 * @property {[number, number]} [film] size of the videos, pixels
 * @property {{t: string, n: number}[]} [videos] media types and lengths of the files
 * @property {Camera[]} [cameras]
 */

const TYPES = { png: "image/png", jpeg: "image/jpeg" };

/**
 * Reads a clip of pictures or video.
 * @param {ArrayBuffer} buffer
 * @param {string} url it came from, or empty
 * @returns {Promise<Clip>}
 */
export async function readFootage(buffer, url) {
  const length = new DataView(buffer).getUint32(4, true);
  /** @type {Header} */ const h = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  if (h.v !== 3 && h.v !== 4) throw new Error(`clip version ${h.v} is not known`);
  let at = 8 + length;
  const cut = (/** @type {number} */ n, /** @type {string} */ type) => {
    if (at + n > buffer.byteLength) throw new Error("the clip is cut short");
    at += n;
    return new Blob([buffer.slice(at - n, at)], { type });
  };
  /** @type {Footage} */ const footage = {
    pictures: (h.pictures ?? []).map(({ k, n }) => cut(n, TYPES[k])), show: h.show ?? [], seen: h.seen,
    painter: (clip, beside = [], seen) => new PicturePainter(clip, viewOf(beside.length > 0 ? beside : [clip], seen)),
  };
  /** @type {Clip} */ const clip = {
    frames: h.frames, seconds: ((h.frames - 1) * h.dt) / h.playback, end: h.end ?? 0,
    w: h.w, h: h.h, distance: 0, azimuth: 0, elevation: 0, dim: 2, note: h.note ?? "",
    still: [], moving: [], columns: 0, data: new Float32Array(), footage,
  };
  if (h.v === 4) {
    const { tape } = await import("./video.js");
    const [video] = (h.videos ?? []).map(({ t, n }) => cut(n, t));
    const [filmed, high] = h.film ?? [h.w, h.h];
    await tape(clip, { video, dt: h.dt, pace: h.playback, w: filmed, h: high, cameras: h.cameras ?? [] }, url);
  }
  return clip;
}

/** Part of a frame by which a time may miss the frame's start and still show it. */
const SLACK = 1e-3;

/**
 * The frame that is shown at a moment, which may lie between two: the one that began last.
 * @param {Pick<Clip, "frames">} clip
 * @param {number} moment 0 to frames - 1
 */
export function frameAt({ frames }, moment) {
  return Math.max(0, Math.min(Math.floor(moment + SLACK), frames - 1));
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
 * @param {{footage?: Pick<Footage, "seen">}[]} clips
 * @param {number[]} [seen] of all clips of the session, as Query says
 * @returns {View}
 */
export function viewOf(clips, seen) {
  const all = clips.map((c) => c.footage?.seen ?? [0, 0, 1, 1]);
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
    this.ready = this.#decode(clip.footage?.pictures ?? []);
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
    const bitmap = this.#bitmaps[this.clip.footage?.show[frameAt(this.clip, frame)] ?? 0];
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
