// What the modules need of a browser, and Node does not have.

/** The storage of a site: keys are properties, as of a real one. */
export class MemoryStorage {
  /** @param {string} key */
  getItem(key) {
    return Object.hasOwn(this, key) ? Reflect.get(this, key) : null;
  }

  /** @param {string} key @param {string} value */
  setItem(key, value) {
    Reflect.set(this, key, String(value));
  }

  /** @param {string} key */
  removeItem(key) {
    Reflect.deleteProperty(this, key);
  }
}

/** @returns {Storage} */
export const memoryStorage = () => /** @type {Storage} */ (/** @type {unknown} */ (new MemoryStorage()));

const elements = { createElement: () => ({ canPlayType: () => "" }) };

/** Makes a document whose videos play nothing. */
export function noVideos() {
  Object.assign(globalThis, { document: elements });
}

/** Makes window of the global object: events that reach it, and a place. */
export function browser() {
  const window = new EventTarget();
  const document = Object.assign(new EventTarget(), { hidden: false, ...elements });
  globalThis.CustomEvent ??= /** @type {typeof CustomEvent} */ (class extends Event {
    /** @param {string} type @param {CustomEventInit} [init] */
    constructor(type, init) {
      super(type, init);
      this.detail = init?.detail;
    }
  });
  Object.assign(globalThis, {
    addEventListener: window.addEventListener.bind(window),
    dispatchEvent: window.dispatchEvent.bind(window),
    document,
    location: { href: "http://host/sessions/s1/label", pathname: "/sessions/s1/label" },
    WebSocket: FakeSocket,
  });
  return { window, document };
}

/** A websocket whose other end is the test. */
export class FakeSocket {
  static OPEN = 1;
  /** @type {FakeSocket[]} */ static all = [];
  readyState = 0;
  /** @type {import("../js/wire.js").FromClient[]} */ sent = [];
  /** @type {(() => void)|null} */ onopen = null;
  /** @type {((e: {data: string}) => void)|null} */ onmessage = null;
  /** @type {(() => void)|null} */ onclose = null;

  /** @param {string} url */
  constructor(url) {
    this.url = url;
    FakeSocket.all.push(this);
  }

  /** The socket that was opened last. */
  static get last() {
    return FakeSocket.all[FakeSocket.all.length - 1];
  }

  open() {
    this.readyState = FakeSocket.OPEN;
    this.onopen?.();
  }

  /** @param {string} text */
  send(text) {
    this.sent.push(JSON.parse(text));
  }

  /** Says something from the server. @param {import("../js/wire.js").FromServer} m */
  say(m) {
    this.onmessage?.({ data: JSON.stringify(m) });
  }

  close() {
    this.readyState = 3;
  }

  /** Breaks. */
  fail() {
    this.readyState = 3;
    this.onclose?.();
  }
}
