import assert from "node:assert/strict";
import { test } from "node:test";
import "./element.js";
import { axis, short, words } from "../js/interval-chart.js";

test("the axis holds every interval and 0", () => {
  const at = axis([{ name: "a", mean: 2, std: 0.5 }, { name: "b", mean: 1, std: 1 }]); // b reaches down to -0.96
  assert.equal(at(2 + 1.96 * 0.5), 98);
  assert.equal(at(1 - 1.96), 2);
  assert.ok(at(0) > 2 && at(0) < 98);
});

test("0 is the end of an axis on one side", () => {
  assert.equal(axis([{ name: "a", mean: 10, std: 1 }])(0), 2);
  assert.equal(axis([{ name: "a", mean: -10, std: 1 }])(0), 98);
});

test("an axis of nothing is finite", () => {
  assert.ok(Number.isFinite(axis([{ name: "a", mean: 0, std: 0 }])(0)));
});

test("an estimate without an interval claims none", () => {
  assert.equal(words({ name: "a", mean: 12.5, std: 0 }), "12.5");
  assert.equal(words({ mean: -1.327, std: 0.29 }, 2), "−1.33 ± 0.57");
  assert.equal(words({ mean: -0.004, std: 1 }, 2), "0.00 ± 1.96");
  assert.equal(words({ mean: Number.NaN, std: 0 }, 2), "–");
  assert.match(words({ name: "a", mean: 12.5, std: 1 }), /^12\.5 ± 1\.96$|^12\.5 ± 2$/);
});

test("numbers are shown in three digits", () => {
  for (const [v, want] of [[0, "0"], [1234.5, "1235"], [0.012345, "0.0123"], [-2, "−2"], [1e-7, "1.0e−7"], [NaN, "–"], [0.5, "0.5"]]) {
    assert.equal(short(v), want);
  }
});
