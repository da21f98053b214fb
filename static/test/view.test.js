import assert from "node:assert/strict";
import { test } from "node:test";
import { cross, depth, dot, look, project, row, unit } from "../js/view.js";

const camera = { w: 4, distance: 10, azimuth: 0.7, elevation: 0.4 };
const view = look(camera, [1, 2, 3], 400, 300);
const near = (got, want) => assert.ok(Math.abs(got - want) < 1e-9, `${got}, want ${want}`);

test("the axes of a view are unit vectors at right angles", () => {
  for (const v of [view.forward, view.right, view.up]) near(dot(v, v), 1);
  for (const [a, b] of [[view.forward, view.right], [view.right, view.up], [view.up, view.forward]]) near(dot(a, b), 0);
  near(dot(cross(view.right, view.up), view.forward), -1);
});

test("the centre is in the middle, at the camera's distance, and w wide", () => {
  const [x, y, z] = project(view, [1, 2, 3]);
  near(x, 200);
  near(y, 150);
  near(z, 10);
  near(depth(view, [1, 2, 3]), 10);
  const [left] = project(view, [1, 2, 3].map((c, i) => c - 2 * view.right[i]));
  near(left, 0);
});

test("a level plane ends at the horizon", () => {
  const far = 1e9;
  const ahead = unit([view.forward[0], view.forward[1], 0]);
  const [, y] = project(view, [view.eye[0] + far * ahead[0], view.eye[1] + far * ahead[1], 0]);
  assert.ok(Math.abs(y - row(view, view.eye[2], Infinity)) < 1e-3);
});
