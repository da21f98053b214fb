import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { decodeClip, path, Pose } from "../js/clip.js";
import { encodeClip } from "./encode.js";

const columns = [[0, 0, 0], [0, 0, 0], [0, 300, -5], [7, 7, 8]]; // camera x y, circle x y, in half units

test("version 2: numbers, length and shapes", async () => {
  const clip = await decodeClip(encodeClip({ frames: 3, columns }));
  assert.equal(clip.frames, 3);
  assert.equal(clip.seconds, (2 * 0.1) / 2);
  assert.equal(clip.dim, 2);
  assert.equal(clip.columns, 4);
  assert.deepEqual([...clip.data], [0, 0, 0, 3.5, 0, 0, 150, 3.5, 0, 0, -2.5, 4]);
});

test("version 1, of a file that an earlier version of the server wrote", async () => {
  const text = await readFile(new URL("../../internal/look/clip/testdata/v1.base64", import.meta.url), "ascii");
  const bytes = Uint8Array.from(Buffer.from(text, "base64"));
  const clip = await decodeClip(bytes.buffer);
  assert.ok(clip.frames > 1 && clip.moving.length > 0);
  assert.equal(clip.data.length, clip.frames * clip.columns);
  const used = clip.moving.flatMap((s) => s.at ?? []);
  assert.deepEqual(used, used.map((_, i) => i + 1), "points are numbered behind the camera's centre");
  assert.ok([...clip.data].every(Number.isFinite));
});

test("a pose lies between two frames, and stays at the last one", async () => {
  const pose = new Pose(await decodeClip(encodeClip({ frames: 3, columns })));
  for (const [frame, x] of [[0, 0], [0.5, 75], [1, 150], [2, -2.5], [9, -2.5], [-1, 0]]) {
    pose.go(frame);
    assert.equal(pose.shapes[0].pts[0], x, `frame ${frame}`);
  }
});

test("the path of a shape is that of its centre", async () => {
  const clip = await decodeClip(encodeClip({
    frames: 2, columns: [[0, 0], [0, 0], [0, 2], [0, 4], [4, 6], [8, 8]], header: { moving: [{ k: "line", p: "agent", at: [1, 2] }] },
  }));
  assert.deepEqual([...path(clip, clip.moving[0])], [1, 2, 2, 3]);
});

test("what is not a clip is refused", async () => {
  const good = new Uint8Array(encodeClip({ frames: 3, columns }));
  await assert.rejects(decodeClip(new ArrayBuffer(3)), /not a clip/);
  const bad = good.slice();
  bad[0] = 0;
  await assert.rejects(decodeClip(bad.buffer), /not a clip/);
  await assert.rejects(decodeClip(encodeClip({ frames: 3, columns, header: { v: 3 } })), /version 3/);
  await assert.rejects(decodeClip(encodeClip({ frames: 30, columns })), RangeError, "cut short");
});
