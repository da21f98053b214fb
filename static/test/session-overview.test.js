import assert from "node:assert/strict";
import { test } from "node:test";
import "./element.js";
import { concerns, latest, learns, likes, well } from "../js/session-overview.js";

const point = (seq, mean) => ({ seq, mean, bound: 1, p_within: 0 });

test("how the expected loss has changed", () => {
  const of = (answers, regret) => learns({ answers, regret, network: null });
  assert.equal(of(0, []), "Nobody has answered yet.");
  assert.equal(of(2, []), "The first candidates are not trained yet.");
  assert.equal(of(2, [point(2, 0.123)]), "Expected loss if you stop now: 12 % of the range from the worst to the best policy.");
  assert.equal(of(9, [point(0, 0.5), point(4, 0.2), point(9, 0.0123)]), "Expected loss if you stop: 50 % before the first answer, 1.2 % now, of the range from the worst to the best policy.");
  assert.equal(of(9, [point(3, 0.5), point(9, 0.0004)]), "Expected loss if you stop: 50 % after answer 3, less than 0.1 % now, of the range from the worst to the best policy.");
  assert.equal(learns({ answers: 9, regret: [], network: { predictions: "Of 8 answers …" } }), "Of 8 answers …");
});

test("only weights whose interval leaves out 0 are named, the largest first", () => {
  const w = (name, mean, std) => ({ name, mean, std });
  assert.equal(likes([]), "");
  assert.equal(likes([w("speed", 1, 0.6), w("grip", 0, 0)]), "Nothing is certain yet about what people like.");
  assert.equal(likes([w("speed", 1, 0.5), w("fuel", -2, 0.1), w("noise", 0.1, 1)]), "People prefer more of: speed (1.00 ± 0.98). People prefer less of: fuel (−2.00 ± 0.20).");
  assert.equal(likes([1, 2, 3, 4].map((v) => w(`f${v}`, v, 0.1))).match(/f\d/g).join(), "f4,f3,f2");
});

test("who is there, and when the last answer came", () => {
  const open = (annotator, here) => ({ annotator, here });
  assert.match(well({ joined: 0, open: [], annotators: [] }), /^Nobody has joined yet/);
  assert.equal(well({ joined: 1, open: [open("a1", false)], annotators: [] }), "One person has joined; nobody has the page open now.");
  const three = { joined: 3, open: [open("a1", true), open("a1", true), open("a2", true)] };
  assert.equal(well({ ...three, annotators: [] }), "3 people have joined; 2 have the page open now.");
  const one = (more) => well({ ...three, annotators: [{ id: "a1", name: "", left_out: false, reversed: false, answers: 4, decisive: 4, marked: 0, ...more }] });
  assert.equal(one({}), "3 people have joined; 2 have the page open now. No answer that counts is marked, and nothing else stands out in how they answer.");
  for (const wrong of [{ marked: 1 }, { reversed: true }, { decisive: 20, left_low: 0.7, left_high: 0.9 }, { answers: 0 }, { left_out: true }]) {
    assert.doesNotMatch(one(wrong), /stands out/, JSON.stringify(wrong));
  }
  const now = Date.parse("2026-11-27T12:00:00Z");
  const said = (at) => latest({ recent: at ? [{ at }] : [] }, now);
  assert.equal(said(""), "");
  assert.equal(said("0001-01-01T00:00:00Z"), "", "imported: its time is not known");
  assert.equal(said("2026-11-27T11:59:50Z"), "The last answer came less than a minute ago.");
  assert.equal(said("2026-11-27T12:00:09Z"), "The last answer came less than a minute ago.", "this clock is late");
  assert.equal(said("2026-11-27T11:59:00Z"), "The last answer came a minute ago.");
  assert.equal(said("2026-11-27T10:30:00Z"), "The last answer came 90 minutes ago.");
  assert.equal(said("2026-11-27T02:00:00Z"), "The last answer came 10 hours ago.");
  assert.equal(said("2026-11-20T12:00:00Z"), "The last answer came 7 days ago.");
});

test("what is to be looked at", () => {
  const person = (more) => ({ id: "a1", name: "", left_out: false, reversed: false, decisive: 40, left_share: 0.5, left_low: 0.35, left_high: 0.65, marked: 0, ...more });
  assert.deepEqual(concerns({ annotators: [person({}), person({ decisive: 0, left_low: 0, left_high: 1 })] }), []);
  assert.deepEqual(concerns({ annotators: [person({ name: "Ada", reversed: true })] }), ["Ada answers the other way round than predicted."]);
  assert.deepEqual(concerns({ annotators: [person({ left_share: 0.9, left_low: 0.77, left_high: 0.96 })] }), ["a1 chose the left clip in 90 % of 40 comparisons; half is expected."]);
  assert.deepEqual(concerns({ annotators: [person({ decisive: 19, left_low: 0.77 })] }), [], "too few");
  assert.deepEqual(concerns({ annotators: [person({ marked: 100_000 })] }), ["a1: 100,000 answers are marked as hurried or impossible."]);
  assert.deepEqual(concerns({ annotators: [person({ marked: 2 })] }), ["a1: 2 answers are marked as hurried or impossible."]);
  assert.deepEqual(concerns({ annotators: [person({ marked: 2 }), person({}), person({ marked: 3 })] }), ["2 people: 5 answers are marked as hurried or impossible."]);
  const turned = (n) => concerns({ annotators: Array.from({ length: n }, (_, i) => person({ id: `a${i + 1}`, reversed: true })) });
  assert.equal(turned(4).length, 4);
  assert.deepEqual(turned(20).slice(2), ["a3 answers the other way round than predicted.", "17 remarks more: the page People has all."]);
  assert.deepEqual(concerns({ annotators: [person({ left_out: true, reversed: true, marked: 2 })] }), []);
});
