import assert from "node:assert/strict";
import { test } from "node:test";
import "./element.js";
import * as chart from "../js/chart.js";

const point = (seq) => ({ seq, p_within: 0, mean: 0, bound: 0 });

test("thinning keeps the last point of every pixel column, and the last of all", () => {
  const points = Array.from({ length: 1001 }, (_, seq) => point(seq));
  const thin = chart.thin(points, 100).map((p) => p.seq);
  assert.equal(thin.length, 101);
  assert.deepEqual(thin.slice(0, 3), [9, 19, 29]);
  assert.equal(thin.at(-1), 1000);
});

test("few points stay as they are", () => {
  const points = [0, 1, 5].map(point);
  assert.deepEqual(chart.thin(points, 400), points);
  assert.deepEqual(chart.thin([], 400), []);
});

test("an axis ends at a label", () => {
  for (const [most, end] of [[0.98, 1], [1, 1], [0.07, 0.08], [0.4999, 0.6], [10, 10], [11, 15]]) {
    assert.equal(chart.covering(most, 4), end);
    assert.equal(chart.steps(end, 4).at(-1), end);
  }
});

test("steps are round and reach no further than the top", () => {
  assert.deepEqual(chart.steps(10, 4), [0, 5, 10]);
  assert.deepEqual(chart.steps(1, 4), [0, 0.5, 1]);
  assert.deepEqual(chart.steps(0.07, 4), [0, 0.02, 0.04, 0.06]);
});

test("decades are powers of ten, or the ends where there is none", () => {
  assert.deepEqual(chart.decades(0.02, 20), [0.1, 1, 10]);
  assert.deepEqual(chart.decades(2, 5), [2, 5]);
});

test("a logarithmic axis begins at the smallest mean, within six decades", () => {
  const means = (...values) => values.map((mean) => ({ ...point(0), mean }));
  assert.equal(chart.lowest(means(0.5, 0.01, 0), 1), 0.01);
  assert.equal(chart.lowest(means(1e-12), 1), 1e-6);
  assert.equal(chart.lowest(means(0.9), 1), 0.1);
});

test("numbers are shown in three digits", () => {
  for (const [v, want] of [[0, "0"], [1234.5, "1235"], [0.012345, "0.0123"], [-2, "−2"], [1e-7, "1.0e−7"], [NaN, "–"], [0.5, "0.5"]]) {
    assert.equal(chart.short(v), want);
  }
});
