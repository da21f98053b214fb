import assert from "node:assert/strict";
import { test } from "node:test";
import { Questions } from "../js/questions.js";
import { encodeClip } from "./encode.js";
import { noVideos } from "./browser.js";

noVideos();

/** @type {string[]} */ let fetched = [];
globalThis.fetch = async (url) => {
  fetched.push(String(url));
  if (String(url).includes("missing")) return new Response("", { status: 404 });
  const frames = Number(/\d+/.exec(String(url))?.[0]);
  return new Response(encodeClip({ frames, columns: Array.from({ length: 4 }, () => new Array(frames).fill(0)) }));
};

const query = (assignment, left, ...clips) => ({ assignment, query: `q-${assignment}`, clips, left });

test("the first open question that is known is the current one", () => {
  const q = new Questions();
  q.order(["a1", "a2"]);
  assert.equal(q.current, undefined);
  q.add(query("a2", "a", "/c2", "/c3"));
  assert.equal(q.current?.assignment, "a2");
  q.add(query("a1", "a", "/c4", "/c5"));
  assert.equal(q.current?.assignment, "a1");
  q.close("a1");
  assert.equal(q.current?.assignment, "a2");
  q.reopen("a1");
  assert.equal(q.current?.assignment, "a1");
  assert.deepEqual(q.open, ["a1", "a2"]);
});

test("clips come in the order to show them, left first", async () => {
  const q = new Questions();
  q.add(query("a1", "b", "/c2", "/c3"));
  q.order(["a1"]);
  const clips = await q.current?.loading;
  assert.deepEqual(clips?.map((c) => c.frames), [3, 2]);
  assert.equal(q.current?.clips, clips);
});

test("a clip is fetched once while a question needs it", async () => {
  fetched = [];
  const q = new Questions();
  q.add(query("a1", "a", "/c2", "/c3"));
  q.add(query("a2", "a", "/c3", "/c4"));
  q.order(["a1", "a2"]);
  await q.current?.loading;
  assert.deepEqual(fetched, ["/c2", "/c3", "/c4"]);
  q.order(["a2"]); // c2 is wanted no more, c3 still is
  q.add(query("a3", "a", "/c2", "/c3"));
  assert.deepEqual(fetched, ["/c2", "/c3", "/c4", "/c2"]);
});

test("a question sent again after a reconnection keeps its clips", async () => {
  const q = new Questions();
  q.add(query("a1", "a", "/c2", "/c3"));
  q.order(["a1"]);
  const clips = await q.current?.loading;
  q.add(query("a1", "a", "/c2", "/c3"));
  assert.equal(q.current?.clips, clips);
});

test("clips that failed are fetched anew", async () => {
  fetched = [];
  const q = new Questions();
  q.add(query("a1", "a", "/missing2", "/c3"));
  q.order(["a1"]);
  const failed = q.current;
  await assert.rejects(failed.loading, /404/);
  q.reload(failed);
  assert.notEqual(q.current, failed);
  await assert.rejects(q.current.loading);
  assert.deepEqual(fetched, ["/missing2", "/c3", "/missing2", "/c3"]);
});

test("a question whose clips did not load goes behind one that can be shown, and is fetched afresh when it is sent again", async () => {
  fetched = [];
  const q = new Questions();
  q.add(query("a1", "a", "/c2", "/missing"));
  q.add(query("a2", "a", "/missing", "/c3"));
  q.order(["a1", "a2"]);
  await q.current?.loading.catch(() => {});
  const first = q.current;
  assert.ok(first && first.failed && !q.pass(first), "there is no other");
  q.add(query("a3", "a", "/c4", "/c5"));
  q.order(["a1", "a2", "a3"]);
  assert.ok(q.pass(first));
  assert.deepEqual(q.open, ["a2", "a3", "a1"]);
  const before = fetched.filter((url) => url === "/missing").length;
  q.add(query("a1", "a", "/c2", "/missing"));
  assert.equal(fetched.filter((url) => url === "/missing").length, before + 1);
});

test("a question that is asked before another comes first once its clips are here, and never in place of the one on the screen", async () => {
  const q = new Questions();
  q.add(query("a1", "a", "/c2", "/c3"));
  q.order(["a1"]);
  const first = q.current;
  q.add(query("a2", "a", "/c2", "/c3"));
  q.order(["a2"]);
  const waits = q.current;
  await waits?.loading;
  q.add({ ...query("a3", "a", "/c4", "/c5"), before: "a2" });
  q.order(["a3", "a2"]);
  assert.ok(q.after(first) === waits, "its clips are not here yet");
  const replacement = await loaded(q, "a3");
  assert.ok(q.after(first) === replacement, "its clips are here");
  assert.ok(q.after(waits) === waits, "the other one is on the screen");
  q.add({ ...query("a4", "a", "/c4", "/c5"), before: "a2" });
  q.order(["a3", "a4", "a2"]);
  assert.ok(q.after(waits) === waits, "two came before it");
  q.close("a2");
  assert.ok(q.after(waits) === replacement);
  q.add(query("a5", "a", "/c2", "/c3")); // after an undo
  q.order(["a5", "a3", "a4"]);
  assert.equal(q.after(replacement)?.assignment, "a5");
});

/** The question of that assignment once its clips are here, where it is the first that is open. */
async function loaded(q, assignment) {
  const open = q.open;
  q.close(open.find((a) => a !== assignment));
  const found = q.current;
  await found?.loading;
  q.reopen(open.find((a) => a !== assignment));
  assert.equal(found?.assignment, assignment);
  return found;
}
