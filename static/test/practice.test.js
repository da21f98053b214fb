// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Practice, judge } from "../js/practice.js";
import { noVideos } from "./browser.js";

noVideos();

const exercises = [
  { version: 3, clips: ["/sessions/s/clips/a", "/sessions/s/clips/b"], left: "b", choice: "a", note: "It runs." },
  { version: 5, clips: ["/sessions/s/clips/b", "/sessions/s/clips/c"], left: "a", choice: "equal", note: "" },
];

class Storage {
  /** @type {Map<string, string>} */ all = new Map();
  /** @param {string} k */
  getItem(k) {
    return this.all.get(k) ?? null;
  }
  /** @param {string} k @param {string} v */
  setItem(k, v) {
    this.all.set(k, v);
  }
}

/** A server that has the exercises: what was posted to it, and whether it answers. */
function server(due = [3, 5]) {
  const is = { posted: /** @type {any[]} */ ([]), away: false, status: 204, due };
  // @ts-ignore: as much of it as is used
  globalThis.fetch = async (url, init) => {
    if (is.away) throw new Error("away");
    if (String(url).includes("/clips/")) throw new Error("no clip");
    if (init?.method !== "POST") return { ok: true, status: 200, json: async () => ({ due: is.due, questions: exercises }) };
    if (is.status === 204) is.posted.push(JSON.parse(init.body));
    return { ok: is.status < 300, status: is.status };
  };
  return is;
}

/** Lets what was begun go on. */
const settle = () => new Promise((done) => setTimeout(done, 5));

/** @param {Storage} storage */
function make(storage, { due = true, address = "/sessions/s/practice" } = {}) {
  return new Practice({ name: "s.a1", storage: /** @type {any} */ (storage), address, due });
}

/** @param {string} id @param {string} choice @param {number} [version] of the question */
const reply = (id, choice, version = 3) => /** @type {any} */ ({ t: "answer", id, assignment: `practice.${version}`, choice });

test("an answer is the researcher's, another, or says nothing", () => {
  const q = /** @type {any} */ (exercises[0]);
  assert.equal(judge(q, reply("x", "a")), true);
  assert.equal(judge(q, reply("x", "equal")), false);
  assert.equal(judge(q, reply("x", "cant_tell")), null);
  assert.equal(judge({ choice: "rated", rating: 0.2 }, { choice: "rated", rating: 0.6 }), true);
  assert.equal(judge({ choice: "rated", rating: 0.2 }, { choice: "rated", rating: 0.8 }), false);
});

test("questions come one after the other, each judged, and answers are sent", async () => {
  const is = server();
  const p = make(new Storage());
  assert.ok(p.on && p.questions.current === undefined);
  p.start();
  p.start(); // the server is there again
  await settle();
  assert.equal(p.questions.current?.assignment, "practice.3");
  assert.deepEqual(p.place, { number: 1, total: 2 });
  const judged = p.answer(reply("p1", "b"));
  assert.deepEqual([judged.right, judged.question.note], [false, "It runs."]);
  assert.ok(p.judged && p.on);
  assert.equal(p.questions.current?.assignment, "practice.3", "it stays while the answer is read");
  p.next();
  assert.equal(p.questions.current?.assignment, "practice.5");
  assert.deepEqual(p.place, { number: 2, total: 2 });
  assert.equal(p.answer(reply("p2", "equal", 5)).right, true);
  p.next();
  assert.ok(!p.on);
  await settle();
  assert.deepEqual(is.posted.map((m) => m.id), ["p1", "p2"]);
});

test("a reload goes on where it was, without network too, and sends what was not sent", async () => {
  const is = server();
  const storage = new Storage();
  const first = make(storage);
  first.start();
  await settle();
  is.away = true;
  first.answer(reply("p1", "a")); // and the page is reloaded while the answer is read
  await settle();
  const second = make(storage);
  assert.ok(second.on);
  second.start();
  assert.equal(second.questions.current?.assignment, "practice.5");
  second.answer(reply("p2", "skip", 5));
  second.next();
  const third = make(storage); // the copy of the page still says that some are due
  assert.ok(!third.on);
  is.away = false;
  third.start();
  await settle();
  assert.deepEqual(is.posted.map((m) => m.id), ["p1", "p2"]);
  assert.ok(!third.on, "what was answered and not sent is not due, whatever the server knew");
});

test("a question that is added later is asked of somebody who has practised and not begun", async () => {
  const is = server([3]);
  const storage = new Storage();
  const first = make(storage);
  first.start();
  await settle();
  first.answer(reply("p1", "a"));
  first.next();
  assert.ok(!first.on);
  await settle();
  is.due = [5];
  const second = make(storage);
  assert.ok(!second.on, "it does not wait for the server");
  second.start();
  await settle();
  assert.equal(second.questions.current?.assignment, "practice.5");
  assert.deepEqual(second.place, { number: 1, total: 1 });
});

test("what the server refuses is given up, what it cannot take now is kept", async () => {
  const is = server();
  const storage = new Storage();
  const p = make(storage);
  p.start();
  await settle();
  is.status = 503;
  p.answer(reply("p1", "a"));
  await settle();
  assert.match(storage.getItem("tiebreak.practice.s.a1") ?? "", /"p1"/);
  is.status = 409;
  p.start();
  await settle();
  assert.doesNotMatch(storage.getItem("tiebreak.practice.s.a1") ?? "", /"p1"/);
});

test("somebody who has begun is not asked, but may practise again", async () => {
  const is = server([]);
  const storage = new Storage();
  const p = make(storage, { due: false });
  p.start();
  await settle();
  assert.ok(!p.on);
  is.away = true;
  assert.equal(await p.again(), undefined);
  assert.ok(!p.on, "without the server the other questions go on");
  is.away = false;
  assert.equal(await p.again(), 2);
  assert.deepEqual(p.place, { number: 1, total: 2 });
  assert.ok(make(storage, { due: false }).on, "a reload in the midst of it goes on");
  p.stop();
  assert.ok(!p.on);
});

/** A server whose program chose the exercises: no right answers. */
function choosing(due = [1, 2]) {
  const is = server();
  const list = [{ version: 1, clips: ["/sessions/s/clips/a", "/sessions/s/clips/b"], left: "b", note: "" }, { version: 2, clips: ["/sessions/s/clips/c", "/sessions/s/clips/d"], left: "a", note: "" }];
  const reply = globalThis.fetch;
  // @ts-ignore: as much of it as is used
  globalThis.fetch = async (url, init) => {
    if (is.away || String(url).includes("/clips/") || init?.method === "POST") return reply(url, init);
    return { ok: true, status: 200, json: async () => ({ due, questions: due.length > 0 ? list : [], examples: true }) };
  };
  return is;
}

test("questions that the program chose are not judged and not sent, and come once", async () => {
  const is = choosing();
  const storage = new Storage();
  const first = make(storage);
  first.start();
  await settle();
  assert.ok(first.skippable);
  assert.deepEqual([first.answer(reply("p1", "a", 1)).right, first.skippable], [null, false]);
  const second = make(storage); // a reload while the answer is read
  assert.equal(second.questions.current?.assignment, "practice.2");
  second.start();
  await settle();
  assert.equal(second.questions.current?.assignment, "practice.2");
  assert.equal(second.answer(reply("p2", "equal", 2)).right, null);
  second.next();
  const third = make(storage);
  assert.ok(!third.on, "it does not wait for the server");
  third.start();
  await settle();
  assert.ok(!third.on);
  assert.deepEqual(is.posted, []);
  assert.equal(await third.again(), 2);
  assert.deepEqual(third.place, { number: 1, total: 2 });
});

test("questions that the program chose can be skipped, and are skipped where there are no clips yet", async () => {
  choosing();
  const storage = new Storage();
  const p = make(storage);
  p.start();
  await settle();
  let changes = 0;
  p.addEventListener("change", () => changes++);
  p.skip();
  assert.deepEqual([p.on, changes], [false, 1]);
  p.skip();
  assert.equal(changes, 1);
  const again = make(storage);
  again.start();
  await settle();
  assert.ok(!again.on);

  choosing([]);
  const none = make(new Storage());
  assert.ok(none.on);
  none.start();
  await settle();
  assert.deepEqual([none.on, none.skippable], [false, false]);
  assert.equal(await none.again(), 0);
});

test("a session without practice questions has no practice, whatever was kept", () => {
  const storage = new Storage();
  storage.setItem("tiebreak.practice.s.a1", "not ours");
  const p = make(storage, { due: false, address: "" });
  p.start();
  p.again();
  assert.ok(!p.on);
});
