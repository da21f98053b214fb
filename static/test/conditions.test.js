import assert from "node:assert/strict";
import { test } from "node:test";
import "./element.js";
import { named, places } from "../js/conditions.js";

test("an axis of answers is logarithmic, and holds all of them", () => {
  const at = places(160);
  assert.equal(at(160), 1);
  assert.ok(at(5) > 0 && at(5) < 0.1);
  assert.ok(Math.abs(at(40) - at(20) - (at(80) - at(40))) < 1e-12);
  assert.equal(at(1), 0);
});

test("an axis names 5 and then doublings", () => {
  assert.deepEqual(named(100), [5, 10, 20, 40, 80]);
  assert.deepEqual(named(0), [5, 10]);
});
