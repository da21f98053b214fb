import assert from "node:assert/strict";
import { test } from "node:test";
import { called, keepKey, rejoin, remembered } from "../js/rejoin.js";
import { memoryStorage } from "./browser.js";

const page = { session: "s1", annotator: "p1", title: "Drive well" };
const replies = (status, body) => {
  globalThis.fetch = async () => new Response(JSON.stringify(body), { status });
};

test("a key is kept with the name of its annotator", async () => {
  const storage = memoryStorage();
  replies(200, { annotator: "p1", name: "Ada", key: "k1" });
  await keepKey(storage, page);
  replies(200, { annotator: "p1", name: "Ada", key: "" }); // the one here stays good
  await keepKey(storage, page);
  const [r] = remembered(storage, "s1");
  assert.equal(r.key, "k1");
  assert.equal(called(r), "Ada (p1)");
  assert.deepEqual(remembered(storage, "s2"), []);
});

test("a browser that is somebody else by now keeps no key", async () => {
  const storage = memoryStorage();
  replies(200, { annotator: "p2", name: "", key: "k2" });
  await keepKey(storage, page);
  assert.deepEqual(remembered(storage), []);
});

test("a key that is refused is forgotten, and kept while the server is away", async () => {
  const storage = memoryStorage();
  replies(200, { annotator: "p1", name: "", key: "k1" });
  await keepKey(storage, page);
  const [r] = remembered(storage);
  globalThis.fetch = async () => {
    throw new Error("away");
  };
  assert.equal(await rejoin(storage, r), 0);
  assert.equal(remembered(storage).length, 1);
  replies(403, {});
  assert.equal(await rejoin(storage, r), 403);
  assert.deepEqual(remembered(storage), []);
});

test("damaged entries are not read", () => {
  const storage = memoryStorage();
  storage.setItem("tiebreak.rejoin.s1.p1", "{");
  storage.setItem("tiebreak.rejoin.s1.p2", '{"session":"s1"}');
  assert.deepEqual(remembered(storage), []);
});
