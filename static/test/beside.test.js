import assert from "node:assert/strict";
import { test } from "node:test";
import { room } from "../js/beside.js";

/** @type {[string, number, number, number, number, string, number][]} */
const cases = [ // what is left of a box of width, height by clips of width, height
  ["square clips in a wide window", 1900, 560, 1136, 560, "side", 384],
  ["a little less room", 1400, 560, 1136, 560, "side", 248],
  ["too little at the side", 1248, 517, 1050, 517, "", 0],
  ["wide clips in a wide window", 1900, 840, 1900, 708, "below", 116],
  ["a single clip in a portrait window", 366, 600, 366, 274, "below", 310],
  ["much room below", 1000, 1400, 1000, 700, "below", 320],
  ["a single clip in a low window", 812, 150, 150, 150, "", 0],
  ["clips that are lower than their stage must be", 296, 308, 296, 140, "", 0],
  ["none at all", 600, 300, 600, 300, "", 0],
];

for (const [name, w, h, cw, ch, place, size] of cases) {
  test(`room: ${name}`, () => assert.deepEqual(room({ width: w, height: h }, { width: cw, height: ch }), { place, size }));
}

test("the panel takes nothing from the clips", () => {
  for (let w = 300; w < 4000; w += 37) {
    for (let h = 200; h < 2000; h += 41) {
      const side = Math.min(h, (w - 16) / 2); // two square clips in a row
      const clips = { width: 2 * side + 16, height: side };
      const found = room({ width: w, height: h }, clips);
      if (found.place === "side") assert.ok(found.size + 16 + clips.width <= w);
      if (found.place === "below") assert.ok(found.size + 16 + clips.height <= h);
    }
  }
});
