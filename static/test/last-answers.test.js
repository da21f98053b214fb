import assert from "node:assert/strict";
import { test } from "node:test";
import { chosen, said } from "../js/last-answers.js";

/** @param {Partial<import("../js/wire.js").Given>} g @returns {import("../js/wire.js").Given} */
const given = (g) => ({ id: "i", clips: ["/a", "/b"], left: "a", choice: "a", ...g });

/** @param {string} choice @param {string} of */
const rated = (choice, of) => `${choice.slice("rate:".length)}${of}`;

test("what was chosen is told by where it was", () => {
  assert.equal(said(given({ choice: "a", left: "a" }), rated), "Left");
  assert.equal(said(given({ choice: "a", left: "b" }), rated), "Right");
  assert.equal(said(given({ choice: "b", left: "b" }), rated), "Left");
  assert.equal(said(given({ choice: "b", left: "b", much: true, remark: "both_bad" }), rated), "Left, much better, both bad");
  assert.equal(chosen(given({ choice: "b", left: "a" })), 1);
  for (const choice of /** @type {const} */ (["equal", "cant_tell", "skip", "technical_failure"])) {
    assert.equal(chosen(given({ choice })), -1);
    assert.ok(said(given({ choice }), rated).length > 3);
  }
});

test("ratings are told on the scale of the page", () => {
  for (const n of [0, 3, 5, 10]) assert.equal(said(given({ choice: "rated", left: "", clips: ["/a"], rating: (n - 5) / 5 }), rated), `${n} of 10`);
});
