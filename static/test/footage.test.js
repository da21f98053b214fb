import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeClip } from "../js/clip.js";
import { frameAt, PicturePainter, viewOf } from "../js/footage.js";

/** @param {object} header @param {number[][]} files */
function encodeFootage(header, files) {
  const json = new TextEncoder().encode(JSON.stringify({
    v: 3, frames: 4, dt: 0.1, playback: 0.5, w: 40, h: 30, pictures: files.map((f) => ({ k: "png", n: f.length })), show: [0, 1, 1, 0], ...header,
  }));
  const bytes = [0x54, 0x42, 0x46, 0x31, 0, 0, 0, 0, ...json, ...files.flat()];
  const out = new Uint8Array(bytes);
  new DataView(out.buffer).setUint32(4, json.length, true);
  return out.buffer;
}

test("a clip of pictures has its files, and a length", async () => {
  const clip = await decodeClip(encodeFootage({ end: 2, note: "It fell." }, [[1, 2, 3], [4]]));
  assert.deepEqual([clip.frames, clip.w, clip.h, clip.end, clip.note], [4, 40, 30, 2, "It fell."]);
  assert.ok(Math.abs(clip.seconds - 0.6) < 1e-9);
  assert.deepEqual(await Promise.all((clip.footage?.pictures ?? []).map(async (b) => [b.type, ...new Uint8Array(await b.arrayBuffer())])),
    [["image/png", 1, 2, 3], ["image/png", 4]]);
});

test("a clip of pictures that is cut short, or of another version, is refused", async () => {
  const good = encodeFootage({}, [[1, 2, 3], [4]]);
  await assert.rejects(decodeClip(good.slice(0, good.byteLength - 1)), /cut short/);
  await assert.rejects(decodeClip(encodeFootage({ v: 5 }, [[1]])), /version 5/);
});

test("a frame is shown until the next one begins, at every step of the scrub bar", () => {
  const clip = { frames: 301, seconds: 10.01 };
  for (let n = 0; n < 301; n++) {
    const time = n * (clip.seconds / 300); // as DuoPlayer.step goes to it
    assert.equal(frameAt(clip, (time / clip.seconds) * 300), n);
  }
  assert.equal(frameAt(clip, 7.9), 7);
  assert.equal(frameAt(clip, -1), 0);
  assert.equal(frameAt(clip, 1e9), 300);
});

test("decoded pictures are drawn once they are ready, and freed", async () => {
  /** @type {string[]} */ const log = [];
  globalThis.createImageBitmap = /** @type {any} */ (async (/** @type {string} */ name) => {
    if (name === "bad") throw new Error("no picture");
    return { name, close: () => log.push(`close ${name}`) };
  });
  const ctx = /** @type {any} */ ({
    canvas: { width: 8, height: 6 }, setTransform() {}, fillRect: () => log.push("ground"),
    drawImage: (/** @type {{name: string}} */ b) => log.push(b.name),
  });
  const colours = { ground: "#000" };
  const p = new PicturePainter(/** @type {any} */ ({ frames: 3, footage: { show: [0, 0, 1], pictures: ["a", "b"] } }));
  p.draw(ctx, 0, colours);
  await p.ready;
  for (const frame of [0, 1.9, 2]) p.draw(ctx, frame, colours);
  p.close();
  assert.deepEqual(log.splice(0), ["ground", "a", "a", "b", "close a", "close b"]);

  const early = new PicturePainter(/** @type {any} */ ({ frames: 1, footage: { show: [0], pictures: ["c"] } }));
  early.close();
  await early.ready;
  assert.deepEqual(log, ["close c"], "what is decoded after it was closed is freed too");
  await assert.rejects(new PicturePainter(/** @type {any} */ ({ frames: 1, footage: { show: [0], pictures: ["bad"] } })).ready, /no picture/);
});

test("what is shown has all in it that any clip shows, in the shape of the picture", () => {
  const clip = (/** @type {number[]|undefined} */ seen) => ({ footage: { seen } });
  const small = clip([0.5, 0.4, 0.6, 0.45]);
  const near = (/** @type {any} */ got, /** @type {number[]} */ want) =>
    assert.ok([got.left, got.top, got.side].every((v, i) => Math.abs(v - want[i]) < 1e-9), `${JSON.stringify(got)}, not ${want}`);
  near(viewOf([small, small]), [0.49, 0.365, 0.12]); // a tenth of what is seen on each side
  near(viewOf([small, clip([0.2, 0.4, 0.3, 0.5])]), [0.16, 0.21, 0.48]);
  near(viewOf([small], [0.2, 0.4, 0.6, 0.5]), [0.16, 0.21, 0.48]); // as the session says
  near(viewOf([clip([0, 0, 0.1, 0.1])]), [0, 0, 0.12]); // no farther than the edge
  near(viewOf([small, clip([0.95, 0.4, 1, 0.5])]), [0.4, 0.15, 0.6]);
  near(viewOf([clip([0.1, 0.1, 0.8, 0.2])]), [0, 0, 1]); // not worth it
  near(viewOf([small, clip(undefined)]), [0, 0, 1]); // one that says nothing is shown whole
  near(viewOf([small], [0, 0, 1, 1]), [0, 0, 1]);
  near(viewOf([]), [0, 0, 1]);
});

test("a picture is drawn where it is to be shown", async () => {
  globalThis.createImageBitmap = /** @type {any} */ (async () => ({ width: 200, height: 100, close() {} }));
  /** @type {number[][]} */ const drawn = [];
  const ctx = /** @type {any} */ ({ canvas: { width: 80, height: 40 }, setTransform() {}, drawImage: (/** @type {any[]} */ ...a) => drawn.push(a.slice(1)) });
  const p = new PicturePainter(/** @type {any} */ ({ frames: 1, footage: { show: [0], pictures: ["a"] } }), { left: 0.25, top: 0.5, side: 0.5 });
  await p.ready;
  p.draw(ctx, 0, {});
  assert.deepEqual(drawn, [[50, 50, 100, 50, 0, 0, 80, 40]]);
});
