import assert from "node:assert/strict";
import { test } from "node:test";
import { codecs, fetchPlayed, played } from "../js/clip.js";
import { VideoPainter } from "../js/video.js";

const later = setTimeout;
globalThis.setTimeout = /** @type {any} */ ((/** @type {() => void} */ f, ms = 0) => { // the end of the test waits for no video
  const timer = later(f, ms);
  if (ms > 1000) timer.unref();
  return timer;
});

/** Media types of which videos do not play, though the browser names them. @type {Set<string>} */ const broken = new Set();
/** @type {Map<string, string>} */ const types = new Map(); // by address
URL.createObjectURL = (/** @type {any} */ blob) => {
  types.set(`blob:${types.size}`, blob.type);
  return `blob:${types.size - 1}`;
};
URL.revokeObjectURL = () => {};
globalThis.createImageBitmap = /** @type {any} */ (async () => ({ close() {} }));
Object.assign(globalThis, { window: {} });

/** A video of 10 frames a second, which goes where it is sent when the test says so. */
class Video extends EventTarget {
  readyState = 0;
  seeking = false;
  paused = true;
  ended = false;
  picture = 0; // frame that is painted
  src = "";
  /** @type {string[]} */ log = [];
  #time = 0;
  /** @type {any} */ #callback;
  canPlayType() { return "probably"; }
  load() {
    if (!this.src) return;
    this.readyState = broken.has(types.get(this.src) ?? "") ? 0 : 4;
    setTimeout(() => this.dispatchEvent(new Event(this.readyState ? "loadeddata" : "error")));
  }
  removeAttribute() { this.src = ""; }
  pause() { this.#note("pause"); this.paused = true; }
  async play() { this.#note("play"); this.paused = this.ended = false; }
  get currentTime() { return this.#time; }
  set currentTime(t) {
    this.#note(`to ${Math.floor(t * 10)}`);
    this.#time = t;
    this.seeking = true;
    this.ended = false;
  }
  /** @param {string} what */
  #note(what) { this.log.push(what); }
  /** @param {any} f */
  requestVideoFrameCallback(f) { this.#callback = f; }
  arrive() {
    this.seeking = false;
    this.dispatchEvent(new Event("seeked"));
  }
  paint() {
    this.picture = Math.floor(this.#time * 10);
    this.#callback?.(0, { mediaTime: this.#time });
  }
}

/** @type {Video[]} */ const videos = [];
class Canvas {
  width = 0;
  height = 0;
  shows = -1; // frame of a video, or what another canvas shows
  getContext() {
    return { canvas: this, setTransform() {}, fillRect() {}, drawImage: (/** @type {any} */ from) => { this.shows = from.picture ?? from.shows ?? this.shows; } };
  }
}
Object.assign(globalThis, {
  document: Object.assign(new EventTarget(), {
    hidden: false,
    querySelectorAll: () => [],
    createElement: (/** @type {string} */ kind) => {
      if (kind !== "video") return new Canvas();
      videos.push(new Video());
      return videos[videos.length - 1];
    },
  }),
});

const camera = { name: "front", x: 0, y: 0, w: 40, h: 30 };
const TYPES = { avc1: 'video/mp4; codecs="avc1.42e01e"', vp09: 'video/webm; codecs="vp9"' };

/** The clip that a server sends to a browser that says what it plays. @param {string} url */
function served(url) {
  const codec = /** @type {"avc1"|"vp09"|undefined} */ ((new URL(url, "http://host").searchParams.get("plays") ?? "").split(",").find((c) => c in TYPES));
  const json = new TextEncoder().encode(JSON.stringify({
    v: 4, frames: 100, dt: 0.1, playback: 1, w: 40, h: 30, film: [40, 30], cameras: [camera], pictures: [{ k: "jpeg", n: 1 }], show: [],
    videos: codec ? [{ t: TYPES[codec], n: 1 }] : [],
  }));
  const out = new Uint8Array([0x54, 0x42, 0x46, 0x31, 0, 0, 0, 0, ...json, 1, 2]);
  new DataView(out.buffer).setUint32(4, json.length, true);
  return out;
}

/** A painter of a clip, with its video. */
async function painted() {
  const video = { type: "video/mp4" };
  const tape = { video: /** @type {any} */ (video), dt: 0.1, pace: 1, w: 40, h: 30, cameras: [camera] };
  const p = new VideoPainter(/** @type {any} */ ({ frames: 100, footage: { show: [], pictures: [] } }), tape);
  await p.ready;
  return { p, v: videos[videos.length - 1], ctx: /** @type {any} */ (new Canvas().getContext()) };
}

test("a picture that comes after the video has arrived is shown, as WebKit paints it", async () => {
  const { p, v, ctx } = await painted();
  p.draw(ctx, 7, {});
  v.arrive();
  assert.equal(ctx.canvas.shows, 0, "the picture is the one before");
  v.paint();
  assert.equal(ctx.canvas.shows, 7);
  p.close();
});

test("a video that has ended is told to play before it goes elsewhere: else WebKit goes nowhere", async () => {
  const { p, v, ctx } = await painted();
  p.draw(ctx, 98, {}, 1);
  v.arrive();
  v.ended = v.paused = true;
  v.log.length = 0;
  p.draw(ctx, 0, {}, 1);
  assert.deepEqual(v.log, ["play", "pause", "to 0"]);
  p.close();
});

test("where a codec does not play the next one is asked for, and pages keep that", async () => {
  /** @type {string[]} */ const asked = [];
  let changes = 0;
  codecs.addEventListener("change", () => changes++);
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ url) => {
    asked.push(url);
    return new Response(served(url));
  });
  broken.add(TYPES.avc1);
  const [one, two] = await Promise.all(["/c/1", "/c/2"].map(fetchPlayed));
  assert.deepEqual([one, two].map((c) => c.footage?.tape?.video?.type), [TYPES.vp09, TYPES.vp09]);
  assert.equal(one.note, "");
  assert.deepEqual([...asked].sort(), ["/c/1?plays=avc1,vp09,av01", "/c/1?plays=vp09,av01", "/c/2?plays=avc1,vp09,av01", "/c/2?plays=vp09,av01"]);
  assert.equal(played("/c/3"), "/c/3?plays=vp09,av01");
  assert.equal(changes, 1);

  Object.assign(TYPES, { vp09: 'video/webm; codecs="vp09.00.10.08"' });
  broken.add(TYPES.vp09);
  const three = await fetchPlayed("/c/3");
  assert.ok(!three.footage?.tape?.video && three.note.includes("single pictures"), "where none plays there are pictures");
  assert.equal(asked.at(-1), "/c/3?plays=av01");
});
