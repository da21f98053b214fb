// @ts-check
// Clips as they come over the wire ("TBC1"): a deflated display list and the
// numbers that move. Package clip of the server writes them.

/**
 * @typedef {object} Shape  one figure, in world units
 * @property {"line"|"poly"|"circle"|"text"} k kind
 * @property {string} p paint: a role that the theme gives a colour to
 * @property {number} [s] stroke width, radius or text height
 * @property {number[]} [pts] x0 y0 x1 y1 …; absent where the shape moves
 * @property {number} [n] number of points of a moving shape
 * @property {string} [t] text
 * @property {boolean} [trail] draw the path of its centre behind it
 */

/**
 * @typedef {object} Clip  immutable
 * @property {number} frames number of frames, at least 1
 * @property {number} seconds how long it plays at speed 1, viewer's seconds; 0 for a still
 * @property {number} w camera width, world units
 * @property {number} h camera height, world units
 * @property {Shape[]} still shapes that never move
 * @property {Shape[]} moving
 * @property {number} columns numbers in a frame
 * @property {Float32Array} data frames × columns: camera x, camera y, points of the moving shapes
 */

const MAGIC = 0x31434254; // "TBC1", little-endian

/**
 * Reads a clip. It throws an Error that says what is wrong with the bytes.
 * @param {ArrayBuffer} buffer
 * @returns {Promise<Clip>}
 */
export async function decodeClip(buffer) {
  if (buffer.byteLength < 5 || new DataView(buffer).getUint32(0, true) !== MAGIC) {
    throw new Error("not a clip, or one of another version");
  }
  const raw = await inflate(buffer.slice(4));
  const view = new DataView(raw);
  const length = view.getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(raw, 4, length)));
  if (header.v !== 1) throw new Error(`clip version ${header.v} is not known`);
  const moving = header.moving ?? [];
  const columns = moving.reduce((/** @type {number} */ sum, /** @type {Shape} */ s) => sum + 2 * (s.n ?? 0), 2);
  if (raw.byteLength < 4 + length + 2 * header.frames * columns) throw new Error("the clip is cut short");
  return {
    frames: header.frames,
    seconds: ((header.frames - 1) * header.dt) / header.playback,
    w: header.w,
    h: header.h,
    still: header.static ?? [],
    moving,
    columns,
    data: rows(view, 4 + length, header.frames, columns, header.unit),
  };
}

/**
 * Fetches and reads a clip.
 * @param {string} url
 * @returns {Promise<Clip>}
 */
export async function fetchClip(url) {
  const reply = await fetch(url, { credentials: "same-origin" });
  if (!reply.ok) throw new Error(`the server answered ${reply.status}`);
  return decodeClip(await reply.arrayBuffer());
}

/** @param {ArrayBuffer} deflated */
function inflate(deflated) {
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

/**
 * Undoes the differences between rows, which are taken modulo 2^16.
 * @param {DataView} view
 * @param {number} at offset of the first number, bytes
 * @param {number} frames
 * @param {number} columns
 * @param {number} unit world units of one step
 */
function rows(view, at, frames, columns, unit) {
  const data = new Float32Array(frames * columns);
  const now = new Int16Array(columns);
  for (let f = 0; f < frames; f++) {
    for (let c = 0; c < columns; c++, at += 2) {
      now[c] += view.getInt16(at, true); // an Int16Array wraps by itself
      data[f * columns + c] = now[c] * unit;
    }
  }
  return data;
}
