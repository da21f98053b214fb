import assert from "node:assert/strict";
import { test } from "node:test";
import { Sitting, aboutLeft, aboutTime } from "../js/sitting.js";

const MINUTE = 60_000;

/** @returns {Pick<Storage, "getItem"|"setItem">} */
function box() {
  const map = new Map();
  return { getItem: (k) => map.get(k) ?? null, setItem: (k, v) => void map.set(k, v) };
}

test("a break is due after twenty minutes of labelling, and not before", () => {
  const s = new Sitting("s.a", null);
  for (let i = 0; i < 399; i++) s.note(1e12 + i * 4000, 3000);
  assert.equal(s.tiring, false);
  s.note(1e12 + 399 * 4000, 3000);
  assert.equal(s.tiring, true);
  assert.equal(s.long, 20 * MINUTE);
  s.rest(1e12 + 400 * 4000);
  assert.equal(s.tiring, false);
});

test("time without a question in view, or in front of one for long, is no labelling", () => {
  const s = new Sitting("s.a", null);
  for (let i = 0; i < 60; i++) s.note(1e12 + i * 4 * MINUTE, 10_000); // 10 s of each 4 minutes
  assert.equal(s.tiring, false);
  assert.equal(s.long, 10 * MINUTE);
  s.note(1e12 + 240 * MINUTE, 4 * MINUTE);
  assert.equal(s.long, 11 * MINUTE);
  s.note(1e12 + 250 * MINUTE, 5000); // after six minutes away
  assert.equal(s.long, 5000);
  assert.equal(s.answers, 1);
});

test("a reload does not end a sitting, and nonsense in the storage does no harm", () => {
  const storage = box();
  const first = new Sitting("s.a", storage);
  for (let i = 0; i < 100; i++) first.note(1e12 + i * 2000, 2000);
  const again = new Sitting("s.a", storage);
  assert.equal(again.answers, 100);
  assert.equal(new Sitting("s.b", storage).answers, 0);
  for (const junk of ["", "{", "null", "3", '{"active":"x","last":1,"answers":2}']) {
    storage.setItem("tiebreak.sitting.s.a", junk);
    const s = new Sitting("s.a", storage);
    assert.equal(s.answers, 0, junk);
    s.note(1e12, 2000);
    assert.equal(s.answers, 1, junk);
  }
});

test("the pace is the median time from answer to answer, once it is known", () => {
  const s = new Sitting("s.a", null);
  let now = 1e12;
  for (const step of [0, 3000, 3000, 90_000, 2000]) s.note((now += step), 2000);
  assert.equal(s.pace, 0);
  s.note((now += 4000), 2000);
  assert.equal(s.pace, 3000);
});

test("what is left is said in words", () => {
  for (const ms of [0, 8000, 29_000]) assert.equal(aboutTime(ms), "less than a minute"); // nothing counts seconds down
  assert.equal(aboutTime(49_000), "about a minute");
  assert.equal(aboutTime(20 * MINUTE), "about 20 minutes");
  assert.equal(aboutLeft(undefined, 3000, false), "");
  assert.equal(aboutLeft(20, 3000, false), "about 20 left, about a minute");
  assert.equal(aboutLeft(5, 2000, true), "less than a minute left");
  assert.equal(aboutLeft(20, 0, false), "about 20 left");
  assert.equal(aboutLeft(40, 3000, true), "about 2 minutes left");
  assert.equal(aboutLeft(40, 0, true), "");
  assert.equal(aboutLeft(0, 3000, false), "more answers change little");
  assert.equal(aboutLeft(0, 3000, true), "");
});
