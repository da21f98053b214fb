import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeClip } from "../js/clip.js";
import { apart, beginAlike, counterpart, LOOKED_AT, named, paired } from "../js/starts.js";
import { encodeClip } from "./encode.js";

/** A clip of an agent that begins at x and goes on to y. */
const walk = (x, y) => decodeClip(encodeClip({ frames: 2, columns: [[0, 0], [0, 0], [x, y], [0, 0]] }));

/** A clip of two pictures. */
const film = (...files) => ({
  frames: 2, seconds: 1, end: 0, w: 4, h: 3, distance: 0, azimuth: 0, elevation: 0, dim: 2, note: "", still: [], moving: [], columns: 0,
  data: new Float32Array(), footage: { pictures: files.map((f) => new Blob([f])), show: [0, 1] },
});

test("clips begin alike where the first picture is the same, whatever comes then", async () => {
  assert.equal(await beginAlike(await walk(5, 9), await walk(5, -9)), true);
  assert.equal(await beginAlike(await walk(5, 9), await walk(6, 9)), false);
  const other = await walk(5, 9);
  assert.equal(await beginAlike(await walk(5, 9), { ...other, still: [{ k: "poly", p: "wall", pts: [0, 0, 1, 1, 2, 0] }] }), false, "in another place");
});

test("clips of pictures begin alike where the files of the first pictures are equal", async () => {
  assert.equal(await beginAlike(film("one", "two"), film("one", "three")), true);
  assert.equal(await beginAlike(film("one", "two"), film("six", "two")), false);
  assert.equal(await beginAlike(film("one", "two"), await walk(5, 9)), false);
});

test("two recordings without named starts are paired by their first pictures", async () => {
  const clips = { a: await walk(1, 2), b: await walk(5, 2), c: await walk(5, 3) };
  const fetched = [];
  const found = await counterpart(await walk(5, 9), ["a", "b", "c"], async (url) => (fetched.push(url), clips[url]));
  assert.equal(found.clip, clips.b);
  assert.equal(found.by, "picture");
  assert.deepEqual(fetched, ["a", "b"], "no more is fetched than needed");
});

test("recordings without a common start are shown from the first, and the page says so", async () => {
  const clips = await Promise.all(Array.from({ length: LOOKED_AT + 3 }, (_, i) => walk(i + 10, 0)));
  let fetched = 0;
  const found = await counterpart(await walk(5, 9), clips.map((_, i) => String(i)), async (url) => (fetched++, clips[Number(url)]));
  assert.equal(found.clip, clips[0]);
  assert.equal(found.by, "");
  assert.equal(fetched, LOOKED_AT);
  assert.equal(apart("Runner (p1)", 1), "These begin at different places: the one clip of Runner (p1) has another start.");
  assert.equal(apart("Runner (p1)", 3), "These begin at different places: none of the clips of Runner (p1) has this start.");
  assert.equal(apart("Runner (p1)", 40), "These begin at different places: none of the first 12 clips of Runner (p1) has this start.");
});

test("recordings that name a start are paired by it, whatever their pictures show", async () => {
  const starts = new Map([["a", "?"], ["b", "seed+1@0"], ["c", "seed+2@0"], ["d", "seed+2@0"]]);
  assert.equal(named("seed+2@0", starts), "c");
  for (const none of ["seed+3@0", "seed+2@60", "?", ""]) assert.equal(named(none, starts), undefined);
  const clips = { a: await walk(5, 2), c: await walk(7, 3) };
  const fetched = [];
  const found = await counterpart(await walk(5, 9), ["a", "c"], async (url) => (fetched.push(url), clips[url]), "c");
  assert.deepEqual([found.clip, found.by, fetched], [clips.c, "start", ["c"]]);
  assert.equal(paired("start"), "Paired by the start that the recordings name.");
  assert.equal(paired("picture"), "Paired by the first picture: the recordings name no start that both have.");
});
