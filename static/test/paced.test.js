// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Paced } from "../js/paced.js";

test("what is asked for while work is under way is done once, after a pause", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let runs = 0;
  /** @type {() => void} */ let finish = () => {};
  const paced = new Paced(() => {
    runs++;
    return new Promise((resolve) => (finish = resolve));
  }, 1000);
  paced.ask();
  paced.ask();
  paced.ask();
  assert.equal(runs, 1);
  finish();
  await new Promise(setImmediate);
  assert.equal(runs, 1, "it began again without a pause");
  t.mock.timers.tick(1000);
  assert.equal(runs, 2);
  finish();
  await new Promise(setImmediate);
  t.mock.timers.tick(1000);
  assert.equal(runs, 2, "it ran without being asked");
  paced.ask();
  assert.equal(runs, 3);
});
