// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { ending } from "../js/learnt.js";
import { helped } from "../js/telling.js";

/** @param {object} change */
const status = (change) => ({ answers: 40, mine: 40, skipped: 0, learnt: true, same: false, ...change });

test("the end says that it has learnt once it has, and waits for the last training before that", () => {
  assert.deepEqual(ending(status({}), false, true), { text: "It has learnt from your 40 answers.", clips: true, waits: false });
  const trains = status({ learning: { answers: 3, running: true } });
  assert.deepEqual(ending(trains, false, true), { text: "Learning from your last answers …", clips: false, waits: true });
  const late = ending(trains, false, false);
  assert.match(late.text, /still learning .* need not wait/);
  assert.deepEqual([late.clips, late.waits], [true, false]);
});

test("the wait is told as it is: how long, or that other sessions come first", () => {
  const says = (/** @type {object} */ learning) => ending(status({ learning: { answers: 3, running: true, ...learning } }), false, true);
  assert.match(says({ left: "about 20 seconds" }).text, /about 20 seconds/);
  const behind = says({ waits: true, left: "about 20 seconds" });
  assert.match(behind.text, /Other sessions/);
  assert.doesNotMatch(behind.text, /20 seconds/);
  assert.equal(behind.waits, true);
});

test("without a connection the end waits for it, whatever was known of the training, and says nothing where nothing is waited for", () => {
  for (const patient of [true, false]) {
    const away = ending(status({ learning: { answers: 3, running: true, left: "about 20 seconds" } }), false, patient, true);
    assert.deepEqual(away, { text: "This page waits for the connection. Then you see what it has learnt.", clips: false, waits: true });
  }
  for (const known of [status({}), status({ learnt: false, learning: { answers: 3, running: true } }), status({ learning: { answers: 3, running: false } })]) {
    assert.deepEqual(ending(known, false, true, true), ending(known, false, true, false));
  }
});

test("where nothing was learnt it says so and why, and shows no clips", () => {
  const none = ending(status({ learning: { answers: 40, untrained: true, running: false, why: "The last training failed." } }), false, true);
  assert.deepEqual(none, { text: "Nothing has been trained from your answers yet. The last training failed.", clips: false, waits: false });
  const slow = ending(status({ learning: { answers: 40, untrained: true, running: true } }), false, false);
  assert.match(slow.text, /still learning .* Nothing has been trained/);
  assert.equal(slow.clips, false);
  assert.match(ending(status({ same: true }), false, true).text, /learnt from your 40 answers\. What it does looks the same as before/);
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

test("what was unexpected is counted, and nothing is called so that was expected", () => {
  assert.equal(helped({ of: 0, unexpected: 0 }), "");
  assert.match(helped({ of: 12, unexpected: 0 }), /In none of your last 12 answers had it expected another/);
  assert.match(helped({ of: 12, unexpected: 2 }), /In 2 of your last 12 answers it had expected another one/);
});
