// Writes clips of version 2, as package clip of the server does.
import { Duplex } from "node:stream";
import { createInflateRaw, deflateRawSync } from "node:zlib";

// Node 18 has no streams of raw DEFLATE, which browsers have.
try {
  new DecompressionStream("deflate-raw");
} catch {
  globalThis.DecompressionStream = /** @type {any} */ (class {
    constructor() {
      return Duplex.toWeb(createInflateRaw());
    }
  });
}

/**
 * @param {object} clip
 * @param {number} clip.frames
 * @param {number[][]} clip.columns whole numbers: each column over the frames
 * @param {object} [clip.header] fields of the header besides
 * @returns {ArrayBuffer}
 */
export function encodeClip({ frames, columns, header = {} }) {
  const json = new TextEncoder().encode(JSON.stringify({
    v: 2, frames, dt: 0.1, playback: 2, unit: 0.5, w: 4, h: 3, points: columns.length / 2,
    static: [], moving: [{ k: "circle", p: "agent", s: 1, at: [1] }], ...header,
  }));
  const numbers = [];
  for (const values of columns) values.forEach((v, f) => numbers.push(...varint(v - predicted(values, f))));
  const raw = new Uint8Array(4 + json.length + numbers.length);
  new DataView(raw.buffer).setUint32(0, json.length, true);
  raw.set(json, 4);
  raw.set(numbers, 4 + json.length);
  const packed = deflateRawSync(raw);
  const out = new Uint8Array(4 + packed.length);
  out.set([0x54, 0x42, 0x43, 0x31]); // TBC1
  out.set(packed, 4);
  return out.buffer;
}

/** A straight line through the two numbers before. @param {number[]} values @param {number} f */
const predicted = (values, f) => (f > 1 ? 2 * values[f - 1] - values[f - 2] : f > 0 ? values[0] : 0);

/** A zigzag varint. @param {number} v */
function varint(v) {
  const out = [];
  let z = v < 0 ? -2 * v - 1 : 2 * v;
  for (; z > 127; z = Math.floor(z / 128)) out.push((z % 128) + 128);
  out.push(z);
  return out;
}
