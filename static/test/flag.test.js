import assert from "node:assert/strict";
import { test } from "node:test";
import { Flag } from "../js/flag.js";

/** A page with a flag, whose server replies when the test says so. */
function page() {
  const part = () => Object.assign(new EventTarget(), { value: "", textContent: "", shown: false, focus() {}, close() { this.shown = false; } });
  /** @type {Record<string, ReturnType<typeof part>>} */
  const parts = { "flag-form": part(), "flag-cancel": part(), "flag-dialog": part(), "flag-text": part(), "flag-note": part() };
  /** @type {string[]} */ const said = [];
  const view = {
    body: { dataset: { assignment: "q1" } },
    part: (/** @type {string} */ name) => parts[name],
    toast: (/** @type {string} */ text) => said.push(text),
    announcer: { say: (/** @type {string} */ _, /** @type {string} */ text) => said.push(text) },
  };
  /** @type {{sent: any, reply: (status: number) => Promise<void>}[]} */ const requests = [];
  globalThis.fetch = /** @type {typeof fetch} */ ((_, how) => new Promise((resolve) => {
    const reply = async (/** @type {number} */ status) => {
      resolve(/** @type {Response} */ ({ ok: status < 300, status }));
      await new Promise((r) => setTimeout(r));
    };
    requests.push({ sent: JSON.parse(String(how?.body)), reply });
  }));
  const flag = new Flag({
    view: /** @type {any} */ (view), address: "/flag", signal: new AbortController().signal,
    show: (d) => {
      parts["flag-dialog"].shown = true;
      return Boolean(d);
    },
  });
  const write = (/** @type {string} */ question, /** @type {string} */ text) => {
    view.body.dataset.assignment = question;
    flag.open();
    parts["flag-text"].value = text;
  };
  const send = () => parts["flag-form"].dispatchEvent(new Event("submit", { cancelable: true }));
  return { parts, said, requests, write, send, flag };
}

test("a note is sent with its question, and the dialog closes once it is there", async () => {
  const p = page();
  p.write("q1", "flickers");
  p.send();
  assert.equal(p.requests[0].sent.assignment, "q1");
  assert.equal(p.requests[0].sent.note, "flickers");
  assert.ok(p.parts["flag-dialog"].shown);
  await p.requests[0].reply(204);
  assert.ok(!p.parts["flag-dialog"].shown);
  assert.equal(p.parts["flag-text"].value, "");
  assert.deepEqual(p.said, ["Sent to the researcher."]);
});

test("a note that was not taken stays, and is sent again under the same id", async () => {
  const p = page();
  p.write("q1", "flickers");
  p.send();
  await p.requests[0].reply(503);
  assert.match(p.parts["flag-note"].textContent, /server is not reachable.*stays here/);
  assert.equal(p.parts["flag-text"].value, "flickers");
  p.send();
  assert.equal(p.requests[1].sent.id, p.requests[0].sent.id);
  await p.requests[1].reply(400);
  assert.match(p.parts["flag-note"].textContent, /did not accept the note/);
});

test("the late reply to one note leaves another one alone that is being written", async () => {
  for (const status of [204, 503]) {
    const p = page();
    p.write("q1", "first");
    p.send();
    p.parts["flag-dialog"].close();
    p.write("q2", "second, half wr");
    await p.requests[0].reply(status);
    assert.equal(p.parts["flag-text"].value, "second, half wr");
    assert.ok(p.parts["flag-dialog"].shown);
    assert.equal(p.parts["flag-note"].textContent, "");
    assert.equal(p.said.length, status === 204 ? 0 : 1);
    p.send();
    assert.equal(p.requests[1].sent.assignment, "q2");
    assert.notEqual(p.requests[1].sent.id, p.requests[0].sent.id);
  }
});

test("there is no note about a practice question, or where there is no question", () => {
  const p = page();
  for (const question of ["", "practice.1"]) {
    p.write(question, "x");
    assert.ok(!p.parts["flag-dialog"].shown);
  }
});
