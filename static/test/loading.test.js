// @ts-check
import "./element.js";
import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeClip } from "./encode.js";

const UNTRAINED = "Shown as soon as the first candidates are trained.";
const file = encodeClip({ frames: 2, columns: [[0, 0], [0, 0], [1, 2], [0, 0]] });

/** A page of which each part is an element without content. */
class Page extends EventTarget {
  /** @type {Map<string, any>} */ parts = new Map();
  dataset = {};
  querySelectorAll() {
    return [];
  }
  /** @param {string} selector */
  querySelector(selector) {
    if (!this.parts.has(selector)) this.parts.set(selector, part());
    return this.parts.get(selector);
  }
}

/** @param {object} more */
const part = (more = {}) => Object.assign(new EventTarget(), {
  hidden: false, textContent: "", value: "", options: [], childNodes: [], dataset: {}, hasAttribute: () => false, isEqualNode: () => true,
  replaceChildren() {}, cloneNode: () => part(), contains: () => false, querySelectorAll: () => [], load: async () => {}, clear() {}, ...more,
});

/** A reply with a clip, which the test lets come. */
function slowly() {
  let send = () => {};
  const body = new Promise((resolve) => (send = () => resolve(file)));
  return { reply: { ok: true, status: 200, arrayBuffer: () => body }, send: () => send() };
}

/** @param {() => boolean} holds */
async function until(holds) {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

const document = Object.assign(new Page(), { hidden: false, createElement: () => ({ canPlayType: () => "" }) });
Object.assign(globalThis, { document, window: { scrollY: 0 }, matchMedia: () => ({ matches: true }) });
const { Learnt } = await import("../js/session-learnt.js");
const { LearntClips } = await import("../js/session-clips.js");

test("Overview says whether a clip loads or no candidates are trained", { timeout: 60_000 }, async () => {
  const state = (/** @type {object[]} */ candidates) => /** @type {any} */ ({ candidates, answers: 0, statement: null, network: null, earlier: 0 });
  document.parts.set("[data-candidates]", null);
  const none = document.querySelector("[data-no-clip]");
  const learnt = new Learnt();
  learnt.show(state([]));
  assert.deepEqual([none.textContent, none.hidden], [UNTRAINED, false]);
  const { reply, send } = slowly();
  globalThis.fetch = /** @type {any} */ (async () => reply);
  learnt.show(state([{ id: "g1.p1", name: "mean", title: "", mean: 0, std: 0, clip: "/sessions/s1/clips/a", draws: 1, episodes: 1, spread: 0 }]));
  assert.deepEqual([none.textContent, none.hidden], ["Loading the clip …", false]);
  send();
  await until(() => none.hidden);
});

test("What it learnt says whether clips load or no candidates are trained", { timeout: 60_000 }, async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const root = new Page();
  const none = root.querySelector("[data-no-pair]");
  const options = (/** @type {object[]} */ list) => part({ querySelector: () => part({ options: list }) });
  /** @type {any} */ let fresh = options([]);
  globalThis.fetch = /** @type {any} */ (async () => ({ ok: true, text: async () => "" }));
  globalThis.DOMParser = /** @type {any} */ (class { parseFromString() { return { body: { firstElementChild: fresh } }; } });
  const clips = new LearntClips(/** @type {any} */ (root), () => {});
  clips.complete();
  await until(() => none.textContent !== "");
  assert.deepEqual([none.textContent, none.hidden], [UNTRAINED, false]);

  fresh = options([{ value: "g1.p1", textContent: "g1.p1", dataset: { clips: "0.0 /sessions/s1/clips/b" } }]);
  const { reply, send } = slowly();
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ url) => (url.includes("/clips/") ? reply : { ok: true, text: async () => "" }));
  clips.changed();
  t.mock.timers.tick(2000); // between two looks
  clips.complete();
  await until(() => none.textContent !== UNTRAINED);
  assert.deepEqual([none.textContent, none.hidden], ["Loading the clips …", false]);
  send();
  await until(() => none.hidden);
});
