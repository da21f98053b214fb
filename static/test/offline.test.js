import assert from "node:assert/strict";
import { mock, test } from "node:test";

const page = "/sessions/s1/label";
const clip = (/** @type {string|number} */ n) => `/sessions/s1/clips/${n}`;
const path = (/** @type {any} */ r) => {
  const { pathname, search } = new URL(typeof r === "string" ? r : r.url, "http://host");
  return pathname + search;
};

/** Copies of one name. */
class Copies {
  /** @type {Map<string, any>} */ has = new Map();
  async match(/** @type {any} */ r, { ignoreSearch = false } = {}) {
    const bare = (/** @type {string} */ p) => p.split("?")[0];
    for (const [k, reply] of this.has) if (k === path(r) || ignoreSearch && bare(k) === bare(path(r))) return reply;
  }
  async keys() { return [...this.has.keys()].map((k) => ({ url: `http://host${k}` })); }
  async delete(/** @type {any} */ r) { return this.has.delete(path(r)); }
  async put(/** @type {any} */ r, /** @type {any} */ reply) { this.has.set(path(r), reply); }
  async add(/** @type {any} */ r) {
    const reply = await fetch(r);
    if (!reply.ok) throw new TypeError(`status ${reply.status}`);
    this.has.set(path(r), reply);
  }
}

/** @type {Map<string, Copies>} */ const stored = new Map();
/** @type {Record<string, (e: any) => void>} */ const on = {};
let unregistered = 0;
/** @type {(path: string) => Promise<any>} */ let server;
Object.assign(globalThis, {
  location: { origin: "http://host" },
  self: {
    registration: { scope: `http://host${page}`, unregister: async () => { unregistered++; } },
    skipWaiting: async () => {},
    addEventListener: (/** @type {string} */ type, /** @type {(e: any) => void} */ f) => { on[type] = f; },
  },
  caches: {
    open: async (/** @type {string} */ name) => stored.get(name) ?? stored.set(name, new Copies()).get(name),
    match: async (/** @type {any} */ r, /** @type {{cacheName: string, ignoreSearch?: boolean}} */ o) => stored.get(o.cacheName)?.match(r, o),
    delete: async (/** @type {string} */ name) => stored.delete(name),
  },
  fetch: (/** @type {any} */ r) => server(path(r)),
});
await import("../js/offline.js");

/** A server that has everything. @param {string} p */
const up = async (p) => new Response(p === page ? '<script src="/static/a.js"></script>' : p);

/** Sends the worker a message of the page and waits until it is done. @param {unknown} data */
async function tell(data) {
  /** @type {Promise<unknown>[]} */ const work = [];
  on.message({ data, waitUntil: (/** @type {Promise<unknown>} */ w) => work.push(w) });
  await Promise.all(work);
}

/** What the worker replies to a request of the page; undefined if it leaves it alone. @param {string} url */
function get(url, { mode = "no-cors", method = "GET" } = {}) {
  /** @type {Promise<Response>|undefined} */ let reply;
  on.fetch({
    request: { url: new URL(url, "http://host").href, mode, method },
    respondWith: (/** @type {Promise<Response>} */ r) => { reply = r; }, waitUntil() {},
  });
  return reply;
}

const kept = () => [...stored.get(`tiebreak.clips.${page}`)?.has.keys() ?? []];

test("the clips of ten questions about six are kept, those of this session alone, and not without end", async () => {
  server = up;
  const sixty = Array.from({ length: 60 }, (_, n) => clip(n));
  await tell({ clips: [...sixty, "/sessions/other/clips/1", "https://elsewhere/1", clip(0)] });
  assert.deepEqual(kept(), sixty);
  await tell({ clips: [clip(59), clip("new")] });
  assert.deepEqual(kept(), [clip(59), clip("new")]);
  await tell({ clips: Array.from({ length: 500 }, (_, n) => clip(`many${n}`)) });
  assert.equal(kept().length, 100);
});

test("a clip that does not come leaves the others", async () => {
  server = async (p) => p === clip(2) ? new Response("", { status: 500 }) : up(p);
  await tell({ clips: [clip(1), clip(2), clip(3)] });
  assert.deepEqual(kept(), [clip(1), clip(3)]);
  server = async () => { throw new TypeError("no network"); };
  assert.equal(await (await get(clip(3)))?.text(), clip(3));
});

test("a clip is kept with the video that was played, also for a page that was opened since and asks for another", async () => {
  server = up;
  await tell({ clips: [`${clip(7)}?plays=vp09`] });
  assert.deepEqual(kept(), [`${clip(7)}?plays=vp09`]);
  const other = `${clip(7)}?plays=avc1,vp09`;
  assert.equal(await (await get(other))?.text(), other, "the server answers");
  server = async () => { throw new TypeError("no network"); };
  assert.equal(await (await get(other))?.clone().text(), `${clip(7)}?plays=vp09`);
  server = async () => new Response("", { status: 502 });
  assert.equal(await (await get(other))?.clone().text(), `${clip(7)}?plays=vp09`);
  server = async () => new Response("", { status: 404 });
  assert.equal((await get(other))?.status, 404);
});

test("the page opens from its copy where the server is away, stops, or takes long", async () => {
  server = up;
  await tell("renew");
  const copy = () => stored.get(`tiebreak.page.${page}`)?.has;
  assert.deepEqual([...copy()?.keys() ?? []].sort(), [page, "/static/a.js"].sort());
  const held = copy()?.get(page);
  server = async () => { throw new TypeError("no network"); };
  assert.equal(await get(page, { mode: "navigate" }), held);
  server = async () => new Response("", { status: 503 });
  assert.equal(await get(page, { mode: "navigate" }), held);

  mock.timers.enable({ apis: ["setTimeout"] });
  server = () => new Promise(() => {});
  const late = get(page, { mode: "navigate" });
  let opened = false;
  late?.then(() => { opened = true; });
  const settle = async () => { for (let k = 0; k < 20; k++) await Promise.resolve(); };
  await settle();
  mock.timers.tick(2_900);
  await settle();
  assert.ok(!opened, "the server has 3 s");
  mock.timers.tick(200);
  assert.equal(await late, held);
  mock.timers.reset();
});

test("other addresses, and what is sent, are left alone", () => {
  server = up;
  assert.equal(get("/sessions/s2/label", { mode: "navigate" }), undefined);
  assert.equal(get("https://elsewhere/static/a.js"), undefined);
  assert.equal(get(page, { mode: "navigate", method: "POST" }), undefined);
});

test("nothing is kept once the browser is signed out", async () => {
  server = async () => new Response("", { status: 401 });
  /** @type {Promise<unknown>[]} */ const work = [];
  on.fetch({
    request: { url: `http://host${page}`, mode: "navigate", method: "GET" },
    respondWith() {}, waitUntil: (/** @type {Promise<unknown>} */ w) => work.push(w),
  });
  await Promise.all(work);
  assert.equal(stored.size, 0);
  assert.equal(unregistered, 1);
});

test("a copy of the page that was opened before the server said no brings nothing back", async () => {
  server = up;
  await tell("keep");
  await tell({ clips: [clip(1)] });
  const reached = unregistered;
  server = async () => new Response("", { status: 401 });
  await tell("here"); // the copy is there still
  assert.equal(unregistered, reached);
  await tell("keep");
  assert.equal(stored.size, 0);
  await tell({ clips: [clip(1)] });
  await tell("here");
  assert.equal(stored.size, 0);
  assert.equal(unregistered, reached + 3);
  server = up;
  await tell("here");
  await tell({ clips: [clip(1)] });
  assert.deepEqual(kept(), [clip(1)]);
});
