import assert from "node:assert/strict";
import { test } from "node:test";
import { Sitting, aboutLeft, aboutTime } from "../js/sitting.js";

const MINUTE = 60_000;

/** @returns {Pick<Storage, "getItem"|"setItem">} */
function box() {
  const map = new Map();
  return { getItem: (k) => map.get(k) ?? null, setItem: (k, v) => void map.set(k, v) };
}

test("a break is due after 150 answers, and not before", () => {
  const s = new Sitting("s.a", null);
  for (let i = 0; i < 149; i++) s.note(1e12 + i * 2000);
  assert.equal(s.tiring, false);
  s.note(1e12 + 149 * 2000);
  assert.equal(s.tiring, true);
  s.rest(1e12 + 150 * 2000);
  assert.equal(s.tiring, false);
});

test("a break is due after twenty minutes, unless there was one", () => {
  const s = new Sitting("s.a", null);
  for (let i = 0; i <= 20; i++) s.note(1e12 + i * MINUTE);
  assert.equal(s.tiring, true);
  const t = new Sitting("s.a", null);
  for (let i = 0; i <= 19; i++) t.note(1e12 + i * MINUTE);
  assert.equal(t.tiring, false);
  t.note(1e12 + 25 * MINUTE); // after six minutes away
  assert.equal(t.tiring, false);
  assert.equal(t.answers, 1);
});

test("a reload does not end a sitting, and nonsense in the storage does no harm", () => {
  const storage = box();
  const first = new Sitting("s.a", storage);
  for (let i = 0; i < 100; i++) first.note(1e12 + i * 2000);
  const again = new Sitting("s.a", storage);
  assert.equal(again.answers, 100);
  assert.equal(new Sitting("s.b", storage).answers, 0);
  for (const junk of ["", "{", "null", "3", '{"from":"x","last":1,"answers":2}']) {
    storage.setItem("tiebreak.sitting.s.a", junk);
    const s = new Sitting("s.a", storage);
    assert.equal(s.answers, 0, junk);
    s.note(1e12);
    assert.equal(s.answers, 1, junk);
  }
});

test("the pace is the median time from answer to answer, once it is known", () => {
  const s = new Sitting("s.a", null);
  let now = 1e12;
  for (const step of [0, 3000, 3000, 90_000, 2000]) s.note((now += step));
  assert.equal(s.pace, 0);
  s.note((now += 4000));
  assert.equal(s.pace, 3000);
});

test("what is left is said in words", () => {
  assert.equal(aboutTime(8000), "10 seconds");
  assert.equal(aboutTime(49_000), "50 seconds");
  assert.equal(aboutTime(55_000), "a minute");
  assert.equal(aboutTime(20 * MINUTE), "20 minutes");
  assert.equal(aboutLeft(undefined, 3000, false), "");
  assert.equal(aboutLeft(20, 3000, false), "about 20 left, about a minute");
  assert.equal(aboutLeft(20, 0, false), "about 20 left");
  assert.equal(aboutLeft(40, 3000, true), "about 2 minutes left");
  assert.equal(aboutLeft(40, 0, true), "");
  assert.equal(aboutLeft(0, 3000, false), "more answers change little");
  assert.equal(aboutLeft(0, 3000, true), "");
});
