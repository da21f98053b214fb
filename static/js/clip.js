// @ts-check
// Clips as they come over the wire ("TBC1"): a deflated display list and the
// numbers that move; or ("TBF1") pictures. Package clip of the server writes them and
// says how.

/**
 * @typedef {object} Shape  one figure, in world units
 * @property {"line"|"poly"|"circle"|"text"|"capsule"|"ball"|"box"|"checker"} k kind
 * @property {string} p paint: a role that the theme gives a colour to
 * @property {number} [s] stroke width, radius, text height or edge of a square
 * @property {ArrayLike<number>} [pts] x0 y0 (z0) x1 y1 (z1) …; those of a moving shape are filled in for a frame
 * @property {number[]} [at] of a moving shape: its points, as numbers of the points that move
 * @property {number} [n] of a moving shape in version 1: how many points it has
 * @property {string} [t] text
 * @property {boolean} [trail] draw the path of its centre behind it
 */

/**
 * @typedef {object} Clip  immutable
 * @property {number} frames number of frames, at least 1
 * @property {number} seconds how long it plays at speed 1, viewer's seconds; 0 for a still
 * @property {number} end how long its last frame stays at least, viewer's seconds
 * @property {number} w camera width, world units
 * @property {number} h camera height, world units
 * @property {number} distance of the eye from the camera's centre; 0 if the scene is flat
 * @property {number} azimuth radians from the x axis to where the eye looks
 * @property {number} elevation radians by which it looks down
 * @property {number} dim coordinates of a point: 2, or 3 in a solid scene
 * @property {Shape[]} still shapes that never move
 * @property {Shape[]} moving
 * @property {string} note what there is to say of it, in words; may be empty
 * @property {number} columns numbers in a frame
 * @property {import("./footage.js").Footage} [footage] of a clip of pictures or video
 * @property {Float32Array} data frames × columns: the points that move; point 0 is the camera's centre
 */

/**
 * @typedef {object} Header  the JSON part of the bytes; package clip says what each field means
 * @property {number} v version, 1 or 2
 * @property {number} frames
 * @property {number} dt seconds of the environment's time between two frames
 * @property {number} playback by how much faster it plays
 * @property {number} [end] viewer's seconds
 * @property {number} unit world units of one step of the numbers
 * @property {number} w
 * @property {number} h
 * @property {number} [distance]
 * @property {number} [azimuth]
 * @property {number} [elevation]
 * @property {number} points that move; not in version 1
 * @property {string} [note]
 * @property {Shape[]} [static]
 * @property {Shape[]} [moving]
 */

const MAGIC = 0x31434254; // "TBC1", little-endian
const FOOTAGE = 0x31464254; // "TBF1"
const VIDEOS = { avc1: 'mp4; codecs="avc1.42E01E"', vp09: 'webm; codecs="vp9"', av01: 'mp4; codecs="av01.0.04M.08"' };

/**
 * Reads a clip. It throws an Error that says what is wrong with the bytes.
 * @param {ArrayBuffer} buffer
 * @param {string} [url] it came from, where it may be asked for without a video
 * @returns {Promise<Clip>}
 */
export async function decodeClip(buffer, url = "") {
  if (buffer.byteLength > 8 && new DataView(buffer).getUint32(0, true) === FOOTAGE) {
    return (await import("./footage.js")).readFootage(buffer, url);
  }
  if (buffer.byteLength < 5 || new DataView(buffer).getUint32(0, true) !== MAGIC) {
    throw new Error("not a clip, or one of another version");
  }
  const raw = await inflate(buffer.slice(4));
  const view = new DataView(raw);
  const length = view.getUint32(0, true);
  /** @type {Header} */ const header = JSON.parse(new TextDecoder().decode(new Uint8Array(raw, 4, length)));
  if (header.v !== 1 && header.v !== 2) throw new Error(`clip version ${header.v} is not known`);
  const moving = header.moving ?? [];
  if (header.v === 1) header.points = number(moving);
  const dim = (header.distance ?? 0) > 0 ? 3 : 2;
  const columns = dim * header.points;
  const read = header.v === 1 ? rows : series;
  return {
    frames: header.frames,
    seconds: ((header.frames - 1) * header.dt) / header.playback,
    end: header.end ?? 0,
    w: header.w,
    h: header.h,
    distance: header.distance ?? 0,
    azimuth: header.azimuth ?? 0,
    elevation: header.elevation ?? 0,
    dim,
    note: header.note ?? "",
    still: header.static ?? [],
    moving,
    columns,
    data: read(view, 4 + length, header.frames, columns, header.unit),
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
  return decodeClip(await reply.arrayBuffer(), url);
}

/** @type {Set<string>} */ const unplayed = new Set(); // codecs that the browser names, and does not play

/** Tells by the event "change" that played gives other addresses. */
export const codecs = new EventTarget();

/** The address of a clip for a player, by which the server knows the videos that this browser plays. @param {string} url */
export function played(url) {
  const video = document.createElement("video");
  const plays = Object.entries(VIDEOS).filter(([codec, type]) => !unplayed.has(codec) && video.canPlayType(`video/${type}`)).map(([codec]) => codec);
  return plays.length > 0 ? `${url}${url.includes("?") ? "&" : "?"}plays=${plays}` : url;
}

/**
 * The address of a clip without a video that was not played: with the next one that the browser names, or with pictures alone.
 * @param {string} url that played gave
 * @param {string} type of the video
 */
export function replayed(url, type) {
  const codec = type.includes('"vp9') ? "vp09" : Object.keys(VIDEOS).find((c) => type.includes(c));
  const bare = url.replace(/[?&]plays=[^&]*/, "");
  if (!codec) return bare;
  if (!unplayed.has(codec)) {
    unplayed.add(codec);
    codecs.dispatchEvent(new Event("change"));
  }
  return played(bare);
}

/** Fetches a clip for a player. @param {string} url */
export const fetchPlayed = (url) => fetchClip(played(url));

/** A clip at a moment between two frames. It allocates nothing after it is built. */
export class Pose {
  /** @param {Clip} clip */
  constructor(clip) {
    this.clip = clip;
    this.points = new Float32Array(clip.columns); // those that move, at the frame last gone to
    /** The moving shapes with their points. */
    this.shapes = clip.moving.map((s) => ({ ...s, pts: new Float32Array(clip.dim * (s.at ?? []).length) }));
  }

  /** @param {number} frame 0 to frames - 1 */
  go(frame) {
    const { columns, dim, frames, data } = this.clip;
    const f = Math.max(0, Math.min(frame, frames - 1));
    const i = Math.min(Math.floor(f), Math.max(0, frames - 2));
    const w = f - i;
    const a = i * columns;
    const b = frames > 1 ? a + columns : a;
    for (let k = 0; k < columns; k++) this.points[k] = data[a + k] + (data[b + k] - data[a + k]) * w;
    for (const { at = [], pts } of this.shapes) {
      for (let k = 0; k < pts.length; k++) pts[k] = this.points[dim * at[Math.floor(k / dim)] + (k % dim)];
    }
  }
}

/**
 * The path of the centre of a moving shape: dim coordinates a frame.
 * @param {Clip} clip
 * @param {Shape} shape one of clip.moving
 */
export function path({ columns, dim, frames, data }, { at = [] }) {
  const out = new Float32Array(dim * frames);
  for (let i = 0; i < out.length; i++) {
    const from = Math.floor(i / dim) * columns + (i % dim);
    out[i] = at.reduce((sum, p) => sum + data[from + dim * p], 0) / at.length;
  }
  return out;
}

/** @param {ArrayBuffer} deflated */
function inflate(deflated) {
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

/**
 * Numbers the points of shapes of version 1, behind the camera's centre.
 * @param {Shape[]} moving
 * @returns {number} of points
 */
function number(moving) {
  let points = 1;
  for (const s of moving) s.at = Array.from({ length: s.n ?? 0 }, () => points++);
  return points;
}

/**
 * Reads columns of zigzag varints, differences to what the two numbers before
 * predict.
 * @param {DataView} view
 * @param {number} at offset of the first number, bytes
 * @param {number} frames
 * @param {number} columns
 * @param {number} unit world units of one step
 */
function series(view, at, frames, columns, unit) {
  const data = new Float32Array(frames * columns);
  for (let c = 0; c < columns; c++) {
    let a = 0; // the number before
    let b = 0; // and the one before that
    for (let f = 0; f < frames; f++) {
      let z = 0;
      for (let shift = 0, more = true; more; shift += 7) {
        const byte = view.getUint8(at++); // throws where the clip is cut short
        z |= (byte & 127) << shift;
        more = byte > 127;
      }
      const n = ((f > 1 ? 2 * a - b : a) + ((z >>> 1) ^ -(z & 1))) | 0;
      data[f * columns + c] = n * unit;
      b = a;
      a = n;
    }
  }
  return data;
}

/**
 * Reads the rows of version 1, differences modulo 2^16 to the row before.
 * @type {typeof series}
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
