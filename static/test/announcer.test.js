import assert from "node:assert/strict";
import { test } from "node:test";
import { Announcer } from "../js/announcer.js";
import { Clock } from "./clock.js";

const region = () => /** @type {HTMLElement} */ (/** @type {unknown} */ ({ textContent: "" }));

test("messages gather into one announcement, the last of a kind", () => {
  const clock = new Clock();
  const el = region();
  const announcer = new Announcer(el);
  announcer.say("answer", "Left.");
  announcer.say("saved", "1 not saved yet.");
  announcer.say("saved", "Saved.");
  assert.equal(el.textContent, "");
  clock.pass(300);
  assert.equal(el.textContent.trim(), "Left. Saved.");
});

test("the same words twice read as a change, and what is taken back is not said", () => {
  const clock = new Clock();
  const el = region();
  const announcer = new Announcer(el);
  announcer.say("answer", "Left.");
  clock.pass(300);
  const first = el.textContent;
  announcer.say("answer", "Left.");
  clock.pass(300);
  assert.notEqual(el.textContent, first);
  announcer.say("answer", "Right.");
  announcer.say("answer", "");
  clock.pass(300);
  assert.equal(el.textContent.trim(), "Left.");
});
