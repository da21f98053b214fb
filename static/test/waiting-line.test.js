// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { WaitingLine } from "../js/waiting-line.js";

test("at most some work runs at a time, the first first, also after a failure", async () => {
  const line = new WaitingLine(2);
  /** @type {number[]} */ const began = [];
  /** @type {((ok: boolean) => void)[]} */ const end = [];
  const all = [0, 1, 2, 3, 4].map((i) => line.run(() => new Promise((resolve, reject) => {
    began.push(i);
    end[i] = (ok) => (ok ? resolve(i) : reject(new Error("away")));
  })));
  const failed = assert.rejects(all[1], /away/);
  const turn = () => new Promise(setImmediate);
  await turn();
  assert.deepEqual(began, [0, 1]);
  end[1](false);
  await failed;
  await turn();
  assert.deepEqual(began, [0, 1, 2], "a failure frees its place for one");
  end[0](true);
  end[2](true);
  await turn();
  assert.deepEqual(began, [0, 1, 2, 3, 4]);
  end[3](true);
  end[4](true);
  assert.deepEqual(await Promise.all([all[0], all[2], all[3], all[4]]), [0, 2, 3, 4]);
  const again = line.run(() => Promise.resolve("again"));
  assert.equal(await again, "again");
});
