import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { AnswerQueue } from "../js/answer-queue.js";
import { Outbox } from "../js/outbox.js";
import { browser, FakeSocket } from "./browser.js";
import { Clock } from "./clock.js";

const hello = { t: "hello", session: "s1", annotator: "p1", seq: 0, kind: "clip_comparison", env: "driver", instructions_version: 1, have: [] };
const answer = (id) => ({
  t: "answer", id, assignment: `as-${id}`, choice: "a", shown_at: "2026-11-22T12:00:00Z", answered_ms: 1, loops: 0, hidden_ms: 0, input: "keyboard", instructions_version: 1,
});
let clock, queue, outbox;

beforeEach(() => {
  clock = new Clock();
  browser();
  globalThis.fetch = async () => {
    throw new Error("the server is away");
  };
  outbox = new Outbox("s1.p1", null);
  queue = new AnswerQueue("/sessions/s1/ws", outbox, "p1");
  queue.start();
});

const greet = (fields = {}) => {
  FakeSocket.last.open();
  FakeSocket.last.say({ ...hello, ...fields });
};
const sent = () => FakeSocket.last.sent.filter((m) => m.t !== "hello").map((m) => m.id);

test("nothing goes out before the greeting, and an entry stays until it is acknowledged", () => {
  queue.post(answer("x"));
  FakeSocket.last.open();
  assert.deepEqual(FakeSocket.last.sent, [{ t: "hello", outbox: ["x"] }]);
  FakeSocket.last.say(hello);
  assert.deepEqual(sent(), ["x"]);
  assert.equal(outbox.size, 1);
  FakeSocket.last.say({ t: "ack", id: "x", seq: 1, replay: false });
  assert.equal(outbox.size, 0);
});

test("what the server has already is not sent again", () => {
  queue.post(answer("x"));
  queue.post(answer("y"));
  greet({ have: ["x"] });
  assert.deepEqual(sent(), ["y"]);
});

test("a socket that broke is replaced, and entries go out again with the same ids", () => {
  greet();
  queue.post(answer("x"));
  FakeSocket.last.fail();
  clock.pass(60_000);
  greet();
  assert.deepEqual(sent(), ["x"]);
});

test("a server that does not acknowledge is left for a new socket", () => {
  greet();
  queue.post(answer("x"));
  const first = FakeSocket.last;
  clock.pass(8_000 + 250);
  assert.notEqual(FakeSocket.last, first);
  greet();
  assert.deepEqual(sent(), ["x"]);
});

test("a busy server is asked again after the time that it names", () => {
  greet();
  queue.post(answer("x"));
  FakeSocket.last.say({ t: "nak", id: "x", code: "unavailable", message: "busy", retry_ms: 700 });
  clock.pass(699);
  assert.deepEqual(sent(), ["x"]);
  clock.pass(1);
  assert.deepEqual(sent(), ["x", "x"]);
});

test("an answer that may have arrived is undone, and not only forgotten here", () => {
  queue.post(answer("w")); // the server was never there
  assert.equal(queue.recall("w")?.id, "w");
  greet();
  queue.post(answer("x"));
  FakeSocket.last.fail(); // before its acknowledgement
  assert.equal(queue.recall("x"), undefined);
  queue.post({ t: "undo", id: "u", of: "x" });
  clock.pass(60_000);
  greet({ have: ["x"] });
  assert.deepEqual(sent(), ["u"]);
});

test("an answer that is taken back while the server is busy is recorded and undone", () => {
  greet();
  queue.post(answer("x"));
  queue.post({ t: "undo", id: "u", of: "x" });
  FakeSocket.last.say({ t: "nak", id: "x", code: "unavailable", message: "busy", retry_ms: 700 });
  FakeSocket.last.say({ t: "nak", id: "u", code: "not_found", message: "no such answer", retry_ms: 0 });
  clock.pass(700);
  assert.deepEqual(sent(), ["x", "u", "x", "u"]);
  FakeSocket.last.say({ t: "ack", id: "x", seq: 1, replay: false });
  FakeSocket.last.say({ t: "ack", id: "u", seq: 2, replay: false });
  assert.equal(outbox.size, 0);
});

test("a refused answer is kept, but for one whose question has an answer", () => {
  const refusals = [];
  queue.on("refused", (r) => refusals.push([r.message.id, r.kept]));
  greet();
  queue.post(answer("x"));
  queue.post(answer("y"));
  FakeSocket.last.say({ t: "nak", id: "x", code: "forbidden", message: "no", retry_ms: 0 });
  FakeSocket.last.say({ t: "nak", id: "y", code: "conflict", message: "no", retry_ms: 0 });
  assert.deepEqual(refusals, [["x", true], ["y", false]]);
  assert.deepEqual(outbox.ids(), ["x"]);
  assert.deepEqual(outbox.pending, []);
});

test("nothing is sent as somebody else", () => {
  queue.post(answer("x"));
  greet({ annotator: "p2" });
  assert.deepEqual(sent(), []);
  assert.equal(queue.other, "p2");
  assert.equal(queue.socket.state.status, 409);
  assert.ok(!queue.connected);
});

test("an entry that never went out can be recalled, one under way cannot", () => {
  queue.post(answer("x"));
  assert.equal(queue.recall("x")?.id, "x");
  greet();
  queue.post(answer("y"));
  assert.equal(queue.recall("y"), undefined);
});
