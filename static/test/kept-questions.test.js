import assert from "node:assert/strict";
import { test } from "node:test";
import { KeptQuestions } from "../js/kept-questions.js";

const LEASE = Date.parse("2026-11-23T10:00:00Z");

/** @returns {Storage} */
function box() {
  const map = new Map();
  return /** @type {Storage} */ (/** @type {unknown} */ ({ getItem: (/** @type {string} */ k) => map.get(k) ?? null, setItem: (/** @type {string} */ k, /** @type {string} */ v) => void map.set(k, v) }));
}

/** @param {string} id @returns {import("../js/wire.js").Query} */
const query = (id) => ({ t: "query", assignment: id, query: `q${id}`, kind: "clip_comparison", clips: [`/sessions/s/clips/${id}a`, `/sessions/s/clips/${id}b`], left: "a", lease_until: "2026-11-23T10:00:00Z" });

/** @param {string[]} open @returns {import("../js/wire.js").Status} */
const status = (open) => ({ t: "status", answers: 3, mine: 3, skipped: 0, budget: 0, open, done: false, waiting: "", undo: "", learnt: false });

test("open questions survive a reload, in their order, those that are closed do not", () => {
  const storage = box();
  const kept = new KeptQuestions("s.a", storage);
  for (const id of ["1", "2", "3"]) kept.add(query(id));
  assert.deepEqual(kept.keep(status(["2", "1"])), ["/sessions/s/clips/2a", "/sessions/s/clips/2b", "/sessions/s/clips/1a", "/sessions/s/clips/1b"]);
  assert.equal(kept.keep(status(["2", "1"])), null, "nothing is new");
  const again = new KeptQuestions("s.a", storage).load(LEASE);
  assert.deepEqual(again?.queries, [query("2"), query("1")]);
  assert.deepEqual(again?.status.open, ["2", "1"]);
  assert.equal(new KeptQuestions("s.b", storage).load(LEASE), null, "of somebody else");
});

test("what was kept long ago, or by nobody of ours, is not asked", () => {
  const storage = box();
  const kept = new KeptQuestions("s.a", storage);
  kept.add(query("1"));
  kept.keep(status(["1"]));
  assert.ok(kept.load(LEASE + 3_600_000));
  assert.equal(kept.load(LEASE + 3 * 3_600_000), null);
  kept.keep(/** @type {any} */ ({ open: [], done: true }));
  assert.deepEqual(kept.load(LEASE), { status: { open: [], done: true }, queries: [] }, "nothing is left to do");
  for (const junk of ["", "{}", "null", '{"status":{},"queries":[{"assignment":"1","clips":["https://elsewhere/x"],"lease_until":"2027-01-01T00:00:00Z"}]}']) {
    storage.setItem("tiebreak.questions.s.a", junk);
    assert.equal(new KeptQuestions("s.a", storage).load(LEASE), null, junk);
  }
});
