import assert from "node:assert/strict";
import { test } from "node:test";
import { blend, lightness, shade, veil } from "../js/colour.js";

test("short and long colours are the same", () => {
  assert.equal(veil("#fa0", 0.5), "rgb(255 170 0 / 0.5)");
  assert.equal(veil("#ffaa00", 0.5), "rgb(255 170 0 / 0.5)");
});

test("lightness goes from black to white", () => {
  assert.equal(lightness("#000"), 0);
  assert.equal(lightness("#fff"), 1);
  assert.ok(lightness("#0f0") > lightness("#f00") && lightness("#f00") > lightness("#00f"));
});

test("a blend begins at one colour and ends at the other", () => {
  assert.equal(blend("#102030", "#ffffff", 0), "#102030");
  assert.equal(blend("#102030", "#ffffff", 1), "#ffffff");
  assert.equal(blend("#000000", "#204060", 0.5), "#102030");
});

test("a shade of 0 is black, of 1 the colour", () => {
  assert.equal(shade("#204060", 0), "#000000");
  assert.equal(shade("#204060", 1), "#204060");
  assert.equal(shade("#204060", 10), "#ffffff");
});
