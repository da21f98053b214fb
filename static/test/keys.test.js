import assert from "node:assert/strict";
import { test } from "node:test";
import { comparisonKey, ratingKey, sign } from "../js/keys.js";

const key = (key, code, shiftKey = false) => ({ key, code, shiftKey });

test("what a key prints comes before where it lies", () => {
  for (const [name, e, want] of [
    ["z on QWERTY", key("z", "KeyZ"), "z"],
    ["z on AZERTY, where W is on QWERTY", key("z", "KeyW"), "z"],
    ["a capital letter", key("A", "KeyA", true), "a"],
    ["Cyrillic counts by its place", key("ф", "KeyA"), "a"],
    ["a Latin letter is never another one", key("é", "KeyA"), ""],
    ["à of AZERTY is 0", key("à", "Digit0"), "0"],
    ["the same with Shift prints 0 itself", key("0", "Digit0", true), "0"],
    ["a shifted digit that prints something else", key(")", "Digit0", true), ""],
    ["a name", key("ArrowLeft", "ArrowLeft"), "arrowleft"],
    ["a dead key by its place", key("Dead", "BracketLeft"), "["],
    ["a question mark by its place", key("Dead", "Slash", true), "?"],
    ["space", key(" ", "Space"), " "],
  ]) assert.equal(sign(e), want, name);
});

test("arrows mean the clip that they point to", () => {
  assert.equal(comparisonKey(key("ArrowLeft", "ArrowLeft"), "row"), "left");
  assert.equal(comparisonKey(key("ArrowLeft", "ArrowLeft"), "column"), "");
  assert.equal(comparisonKey(key("ArrowUp", "ArrowUp"), "row"), "equal");
  assert.equal(comparisonKey(key("ArrowUp", "ArrowUp"), "column"), "left");
});

test("Shift says much better, where people are asked", () => {
  assert.equal(comparisonKey(key("ArrowLeft", "ArrowLeft", true), "row", true), "much:left");
  assert.equal(comparisonKey(key("D", "KeyD", true), "row", true), "much:right");
  assert.equal(comparisonKey(key("ArrowDown", "ArrowDown", true), "column", true), "much:right");
  assert.equal(comparisonKey(key("A", "KeyA"), "row", true), "left"); // Caps Lock
  assert.equal(comparisonKey(key("ArrowUp", "ArrowUp", true), "row", true), "equal");
  assert.equal(comparisonKey(key("ArrowLeft", "ArrowLeft", true), "row"), "left");
});

test("ratings are digits, and ten has keys of its own", () => {
  assert.equal(ratingKey(key("7", "Digit7")), "rate:7");
  assert.equal(ratingKey(key("t", "KeyT")), "rate:10");
  assert.equal(ratingKey(key("x", "KeyX")), "cant_tell");
  assert.equal(ratingKey(key("k", "KeyK")), "");
});
