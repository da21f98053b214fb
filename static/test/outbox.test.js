import assert from "node:assert/strict";
import { test } from "node:test";
import { left, Outbox } from "../js/outbox.js";
import { memoryStorage } from "./browser.js";

const undo = (id) => ({ t: "undo", id, of: "a0" });

test("entries outlive the page, in order", () => {
  const storage = memoryStorage();
  const outbox = new Outbox("s1.p1", storage);
  for (const id of ["b", "a", "c"]) outbox.add(undo(id));
  assert.deepEqual(new Outbox("s1.p1", storage).ids(), ["b", "a", "c"]);
  assert.deepEqual(new Outbox("s1.p2", storage).ids(), [], "of another annotator");
});

test("an acknowledged entry is gone, here and after a reload", () => {
  const storage = memoryStorage();
  const outbox = new Outbox("s1.p1", storage);
  outbox.add(undo("a"));
  outbox.add(undo("b"));
  assert.equal(outbox.remove("a")?.message.id, "a");
  assert.equal(outbox.remove("a"), undefined);
  assert.deepEqual(new Outbox("s1.p1", storage).ids(), ["b"]);
});

test("what another tab saw acknowledged is let go, and what it added is taken in", () => {
  const storage = memoryStorage();
  const first = new Outbox("s1.p1", storage);
  first.add(undo("a"));
  const second = new Outbox("s1.p1", storage);
  second.add(undo("b"));
  first.adopt();
  assert.deepEqual(first.ids(), ["a", "b"]);
  second.remove("b");
  first.release();
  assert.deepEqual(first.ids(), ["a"]);
});

test("an entry that cannot be stored is kept in memory, and the page can tell", () => {
  const storage = memoryStorage();
  storage.setItem = () => {
    throw new Error("full");
  };
  const outbox = new Outbox("s1.p1", storage);
  assert.ok(outbox.durable);
  outbox.add(undo("a"));
  assert.deepEqual(outbox.ids(), ["a"]);
  assert.ok(!outbox.durable);
});

test("refused entries stay, but are not pending", () => {
  const outbox = new Outbox("s1.p1", null);
  outbox.add(undo("a"));
  outbox.add(undo("b"));
  outbox.entries[0].refused = "no";
  assert.deepEqual(outbox.pending.map((e) => e.message.id), ["b"]);
  assert.deepEqual(outbox.refused.map((e) => e.message.id), ["a"]);
  assert.equal(outbox.size, 2);
});

test("damaged entries are removed and the others read", () => {
  const storage = memoryStorage();
  new Outbox("s1.p1", storage).add(undo("a"));
  storage.setItem(`tiebreak.outbox.s1.p1.${"0".repeat(21)}x`, "{");
  assert.deepEqual(new Outbox("s1.p1", storage).ids(), ["a"]);
  assert.equal(Object.keys(storage).length, 1);
});

test("what is left of a session is told by annotator", () => {
  const storage = memoryStorage();
  new Outbox("s1.p1", storage).add(undo("a"));
  new Outbox("s1.p2", storage).add(undo("b"));
  new Outbox("s1.p2", storage).add(undo("c"));
  new Outbox("s2.p9", storage).add(undo("d"));
  assert.deepEqual(left(storage, "s1").map((g) => [g.annotator, g.messages.map((m) => m.id)]), [["p1", ["a"]], ["p2", ["b", "c"]]]);
});
