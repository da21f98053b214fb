import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Chooser } from "../js/chooser.js";
import { browser } from "./browser.js";
import { Clock } from "./clock.js";

const CHOICES = { ArrowLeft: "left", ArrowRight: "right" };
let clock, chooser, heard;

beforeEach(() => {
  clock = new Clock();
  browser();
  chooser = new Chooser((e) => CHOICES[e.key] ?? "");
  heard = [];
  for (const type of ["preview", "commit", "early", "open"]) {
    chooser.addEventListener(type, (e) => heard.push([type, e.detail?.choice ?? e.detail ?? ""].join(" ").trim()));
  }
  chooser.listen(new AbortController().signal);
});

function key(type, name, fields = {}) {
  const e = Object.assign(new Event(type, { cancelable: true }), { key: name, code: name, repeat: false, ctrlKey: false, altKey: false, metaKey: false, ...fields });
  dispatchEvent(e);
  return e;
}

const opened = () => {
  chooser.open(clock.now);
  clock.pass(250);
  heard = [];
};

test("nothing counts before the clips have been looked at", () => {
  chooser.open(clock.now);
  key("keydown", "ArrowLeft");
  key("keyup", "ArrowLeft");
  assert.deepEqual(heard, ["early"]);
  clock.pass(250);
  assert.deepEqual(heard, ["early", "open"]);
});

test("a key that went down before the gate opened does not count", () => {
  chooser.open(clock.now);
  key("keydown", "ArrowLeft");
  clock.pass(300);
  key("keydown", "ArrowLeft", { repeat: true });
  key("keyup", "ArrowLeft");
  assert.deepEqual(heard, ["early", "open"]);
});

test("a choice counts when its key is released", () => {
  opened();
  key("keydown", "ArrowLeft");
  assert.deepEqual(heard, []);
  key("keyup", "ArrowLeft");
  assert.deepEqual(heard, ["commit left"]);
});

test("of several keys the last one released counts", () => {
  opened();
  key("keydown", "ArrowLeft");
  key("keydown", "ArrowRight");
  key("keyup", "ArrowLeft");
  key("keyup", "ArrowRight");
  assert.deepEqual(heard.filter((h) => h.startsWith("commit")), ["commit right"]);
});

test("a held key is previewed, and Escape takes it back", () => {
  opened();
  key("keydown", "ArrowLeft");
  clock.pass(150);
  assert.deepEqual(heard, ["preview left"]);
  key("keydown", "Escape");
  key("keyup", "ArrowLeft");
  assert.deepEqual(heard, ["preview left", "preview"]);
});

test("nothing counts under a dialog or with Ctrl", () => {
  opened();
  key("keydown", "ArrowLeft", { ctrlKey: true, getModifierState: () => false });
  key("keyup", "ArrowLeft");
  chooser.cover(true);
  key("keydown", "ArrowLeft");
  key("keyup", "ArrowLeft");
  assert.deepEqual(heard, []);
});

test("a held Enter presses no button twice", () => {
  assert.ok(!key("keydown", "Enter").defaultPrevented);
  assert.ok(key("keydown", "Enter", { repeat: true }).defaultPrevented);
});
