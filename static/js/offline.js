// @ts-check
// A service worker for the annotator's page of one session, which is its scope.
// It keeps a copy of the page, its files, and the clips of the questions that the page
// holds, and opens these when the server is away; while the server answers, people get
// what the server sends. It leaves all other addresses alone.
(() => {
  // A ServiceWorkerGlobalScope and its events, for which TypeScript has no types beside the page's.
  /** @typedef {Event & {data?: any, waitUntil(work: Promise<unknown>): void}} Extendable */
  /** @typedef {Extendable & {request: Request, respondWith(reply: Promise<Response>): void}} Fetch */
  /**
   * @typedef {object} Scope
   * @property {ServiceWorkerRegistration} registration
   * @property {() => Promise<void>} skipWaiting
   * @property {((type: "install"|"message", f: (e: Extendable) => void) => void) & ((type: "fetch", f: (e: Fetch) => void) => void)} addEventListener
   */
  const worker = /** @type {Scope} */ (/** @type {unknown} */ (self));
  const page = new URL(worker.registration.scope).pathname;
  const copies = `tiebreak.page.${page}`;
  const clips = `tiebreak.clips.${page}`;
  const clipsAt = page.replace(/label$/, "clips/");
  const most = 100; // clips: ten questions about six, and practice
  const patience = 3_000; // ms that the server has, where there is a copy of the page
  const away = [502, 503, 504]; // of a proxy, or a server that stops
  const over = [401, 403, 404, 410]; // the browser is signed out, or the session gone

  worker.addEventListener("install", () => worker.skipWaiting());
  worker.addEventListener("message", (e) => e.waitUntil(told(e.data)));
  worker.addEventListener("fetch", (e) => {
    const url = new URL(e.request.url);
    if (e.request.method !== "GET" || url.origin !== location.origin) return;
    if (e.request.mode === "navigate" && url.pathname === page) e.respondWith(open(e));
    else if (url.pathname.startsWith("/static/")) e.respondWith(file(e.request));
    else if (url.pathname.startsWith(clipsAt)) e.respondWith(clip(e.request));
  });

  /** Whether nothing may be kept, until the server gives the page again. */
  let left = false;

  /** What the page tells: its clips, to keep it as it is now, or that it is here, a copy of it perhaps. @param {any} data */
  async function told(data) {
    if (Array.isArray(data?.clips)) return left ? leave() : keepClips(data.clips);
    if (data === "keep" || !(await caches.match(page, { cacheName: copies }))) return renew();
  }

  /** The page from the server, else the copy, also where the server takes long. @param {Fetch} e */
  async function open(e) {
    const asked = fetch(e.request).catch(() => Response.error());
    e.waitUntil(asked.then((reply) => {
      if (over.includes(reply.status)) return leave();
      if (reply.status === 200) return keep(reply.clone());
    }));
    const copy = await caches.match(page, { cacheName: copies });
    const late = () => new Promise((/** @type {(r: Response) => void} */ resolve) => setTimeout(() => resolve(Response.error()), patience));
    const reply = await (copy ? Promise.race([asked, late()]) : asked);
    return reply.type !== "error" && !away.includes(reply.status) ? reply : copy ?? reply;
  }

  /** A file's address names its content, so a copy is never old. @param {Request} request */
  async function file(request) {
    return (await caches.match(request, { cacheName: copies, ignoreVary: true })) ?? fetch(request);
  }

  /**
   * A clip's address names its content, too. Where the server is away it is the copy with a video that this browser played, which a page that was opened since
   * does not know of.
   * @param {Request} request
   */
  async function clip(request) {
    const copy = (/** @type {boolean} */ ignoreSearch) => caches.match(request, { cacheName: clips, ignoreVary: true, ignoreSearch });
    const exact = await copy(false);
    if (exact) return exact;
    const reply = await fetch(request).catch(() => Response.error());
    return reply.type !== "error" && !away.includes(reply.status) ? reply : await copy(true) ?? reply;
  }

  /** Copies these clips, and removes all others. @param {unknown[]} addresses */
  async function keepClips(addresses) {
    const wanted = [...new Set(addresses.map(String))].filter((a) => a.startsWith(clipsAt)).slice(0, most);
    const copy = await caches.open(clips);
    for (const request of await copy.keys()) {
      const { pathname, search } = new URL(request.url);
      if (!wanted.includes(pathname + search)) await copy.delete(request, { ignoreVary: true });
    }
    for (const a of wanted) {
      if (!(await copy.match(a, { ignoreVary: true }))) await copy.add(a).catch(() => {}); // the others may come
    }
  }

  /** Copies the page as the server has it now. */
  async function renew() {
    const reply = await fetch(page, { credentials: "same-origin" });
    if (over.includes(reply.status)) await leave();
    else if (reply.status === 200) await keep(reply);
  }

  /** Copies a page once all its files are copied, and removes those of the page before. @param {Response} reply */
  async function keep(reply) {
    left = false;
    const copy = await caches.open(copies);
    const html = await reply.clone().text();
    const files = Array.from(html.matchAll(/"(\/static\/[^"]+)"/g), (m) => m[1]);
    for (const f of files) if (!(await copy.match(f, { ignoreVary: true }))) await copy.add(f);
    await copy.put(page, reply);
    for (const request of await copy.keys()) {
      const { pathname } = new URL(request.url);
      if (pathname !== page && !files.includes(pathname)) await copy.delete(request, { ignoreVary: true });
    }
  }

  /** Removes all, also what a copy of the page asks for that was opened before the server said no. */
  async function leave() {
    left = true;
    await caches.delete(copies);
    await caches.delete(clips);
    await worker.registration.unregister();
  }
})();
