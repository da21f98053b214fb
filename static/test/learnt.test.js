// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { ending } from "../js/learnt.js";

/** @param {object} change */
const status = (change) => ({ answers: 40, mine: 40, skipped: 0, learnt: true, ...change });

test("the end says that it has learnt once it has, and waits for the last training before that", () => {
  assert.deepEqual(ending(status({}), false, true), { text: "It has learnt from your 40 answers.", clips: true, waits: false });
  const trains = status({ learning: { answers: 3, running: true } });
  assert.deepEqual(ending(trains, false, true), { text: "Learning from your last answers …", clips: false, waits: true });
  const late = ending(trains, false, false);
  assert.match(late.text, /still learning .* need not wait/);
  assert.deepEqual([late.clips, late.waits], [true, false]);
});

test("no training is waited for that does not come", () => {
  const later = ending(status({ learning: { answers: 3, running: false } }), false, true);
  assert.match(later.text, /not in it yet/);
  assert.deepEqual([later.clips, later.waits], [true, false]);
});

test("where nothing is shown of what was learnt, nothing is said of it", () => {
  for (const running of [false, true]) {
    assert.deepEqual(ending(status({ learnt: false, learning: { answers: 3, running } }), false, true), { text: "We have received your 40 answers.", clips: false, waits: false });
  }
  assert.match(ending(status({ answers: 50, mine: 42, skipped: 2 }), true, true).text, /^We have received 50 answers, 40 of them yours\.$/);
  assert.equal(ending(status({ mine: 0 }), false, true).text, "");
});
