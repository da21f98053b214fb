import assert from "node:assert/strict";
import { test } from "node:test";
import { best, fitting, plans, scaleIn } from "../js/cameras.js";

const front = { name: "front", x: 0, y: 0, w: 480, h: 360 };
const wrist = { name: "wrist", x: 480, y: 0, w: 480, h: 360 };
const tall = { name: "tall", x: 960, y: 0, w: 180, h: 360 };

const sets = [[front], [front, wrist], [front, wrist, tall], [tall, front], Array.from({ length: 8 }, () => ({ ...tall }))];

test("in every plan each camera keeps its shape, within the plan, over no other", () => {
  for (const cameras of sets) {
    for (const choice of ["all", ...cameras.keys()].map(String)) {
      for (const p of plans(cameras, choice)) {
        assert.equal(p.cells.length, cameras.length);
        assert.deepEqual(new Set(p.cells.map((c) => c.camera)), new Set(cameras));
        p.cells.forEach((c, i) => {
          assert.ok(Math.abs(c.w / c.h - c.camera.w / c.camera.h) < 1e-9, "shape");
          assert.ok(c.x > -1e-9 && c.y > -1e-9 && c.x + c.w < p.w + 1e-9 && c.y + c.h < p.h + 1e-9, "within");
          for (const o of p.cells.slice(i + 1)) {
            assert.ok(o.x >= c.x + c.w - 1e-9 || c.x >= o.x + o.w - 1e-9 || o.y >= c.y + c.h - 1e-9 || c.y >= o.y + o.h - 1e-9, "apart");
          }
        });
      }
    }
  }
});

test("the camera that was chosen is first, and by far the largest", () => {
  for (const choice of ["0", "1", "2"]) {
    for (const p of plans([front, wrist, tall], choice)) {
      const [large, ...small] = p.cells;
      assert.equal(large.camera, [front, wrist, tall][Number(choice)]);
      for (const c of small) assert.ok(c.h <= 0.4 * large.h + 1e-9 || c.w <= 0.4 * large.w + 1e-9);
    }
  }
  assert.equal(plans([front, wrist], "7")[0].cells[0].camera, front, "a choice of another session");
});

test("all cameras are of one size where there is room, else the first is large", () => {
  for (const [width, height, choice, ratio] of [
    [620, 560, "all", 0.66], // half of a desktop: above each other
    [620, 240, "all", 2.69], // beside each other
    [390, 280, "0", 1.89], // a phone
    [250, 400, "0", 0.94],
  ]) {
    const p = best([front, wrist], "", Number(width), Number(height));
    assert.equal(p.choice, choice, `${width}x${height}`);
    assert.ok(Math.abs(p.w / p.h - Number(ratio)) < 0.02, `${width}x${height}: ${p.w / p.h}`);
    assert.equal(fitting([front, wrist], "", p.w / p.h).choice, choice, "the canvas of that shape shows it");
    assert.ok(scaleIn(p, Number(width), Number(height)) * p.w <= Number(width) + 1e-9);
  }
  assert.equal(best([front, wrist], "1", 2000, 2000).cells[0].camera, wrist, "but for a choice");
});
