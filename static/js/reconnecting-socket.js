// @ts-check
const PROTOCOL = "tiebreak.v1";
const FIRST = 250; // ms, bound of the first wait
const LONGEST = 30_000; // ms
export const NOTICED = 900; // ms without a connection after which it is worth words
export const RESTART = 60_000; // ms after which a server that said that it restarts counts as away
const STEADY = 5_000; // ms a socket must stay open before the bound is reset to FIRST

/**
 * @typedef {object} State
 * @property {"connecting"|"open"|"waiting"|"refused"|"closed"} state refused: the server does not let us in
 * @property {number} retryAt while waiting, when the next attempt is made, ms on Date.now()'s clock
 * @property {number} status while refused, the HTTP status that said so
 */

/**
 * A websocket that reconnects. The wait before an attempt is drawn uniformly
 * between 0 and a bound that doubles ("full jitter"), so that many pages do not
 * reconnect at the same time. Events: "message" (detail: the parsed message) and
 * "state" (detail: State).
 */
export class ReconnectingSocket extends EventTarget {
  #url;
  /** @type {WebSocket|undefined} */ #socket;
  #timer = 0;
  #failures = 0;
  #openedAt = 0;
  #toldAt = 0; // when the server said that it stops; 0 once it is back
  /** @type {AbortController|undefined} */ #page;
  /** @type {State} */ state = { state: "closed", retryAt: 0, status: 0 };

  /** @param {string} path of the socket on this server */
  constructor(path) {
    super();
    const url = new URL(path, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    this.#url = url.href;
  }

  start() {
    this.#page = new AbortController();
    const { signal } = this.#page;
    addEventListener("online", () => this.retry(), { signal });
    document.addEventListener("visibilitychange", () => document.hidden || this.retry(), { signal });
    this.#connect();
  }

  stop() {
    this.#page?.abort();
    this.#drop();
    this.#set({ state: "closed", retryAt: 0, status: 0 });
  }

  /** Tries at once, if it is waiting. */
  retry() {
    if (this.state.state === "waiting" || this.state.state === "refused") this.#connect();
  }

  /**
   * Stays disconnected until retry is called.
   * @param {number} status the HTTP status that says why
   */
  refuse(status) {
    this.#drop();
    this.#set({ state: "refused", retryAt: 0, status });
  }

  /** Replaces a socket that does not answer. */
  reset() {
    this.#lost(FIRST);
  }

  /** Whether the server said that it stops, and has not been away for long since. */
  get restarting() {
    return this.#toldAt > 0 && Date.now() - this.#toldAt < RESTART;
  }

  /**
   * The server stops. Reconnects after a time that it named.
   * @param {number} ms
   */
  resume(ms) {
    this.#toldAt ||= Date.now();
    this.#lost(ms + Math.random() * FIRST);
  }

  /**
   * @param {object} message
   * @returns {boolean} whether it went out; the server may still not get it
   */
  send(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  #connect() {
    this.#drop();
    this.#set({ state: "connecting", retryAt: 0, status: 0 });
    const socket = new WebSocket(this.#url, PROTOCOL);
    this.#socket = socket;
    socket.onopen = () => {
      this.#openedAt = Date.now();
      this.#toldAt = 0;
      this.#set({ state: "open", retryAt: 0, status: 0 });
    };
    socket.onmessage = (e) => this.dispatchEvent(new CustomEvent("message", { detail: JSON.parse(e.data) }));
    socket.onclose = () => this.#closed();
  }

  async #closed() {
    if (this.#openedAt && Date.now() - this.#openedAt > STEADY) this.#failures = 0;
    const opened = this.#openedAt > 0;
    this.#lost(Math.random() * Math.min(LONGEST, FIRST * 2 ** this.#failures++));
    const status = opened ? 0 : await refusal();
    if (status && this.state.state === "waiting") this.refuse(status);
  }

  /** @param {number} wait ms */
  #lost(wait) {
    this.#drop();
    this.#timer = setTimeout(() => this.#connect(), wait);
    this.#set({ state: "waiting", retryAt: Date.now() + wait, status: 0 });
  }

  #drop() {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    this.#openedAt = 0;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  /** @param {State} state */
  #set(state) {
    this.state = state;
    this.dispatchEvent(new CustomEvent("state", { detail: state }));
  }
}

/**
 * A browser does not say why a socket failed. This page's own URL does: it
 * returns the status with which the server turns us away, or 0 if it does not.
 */
export async function refusal() {
  try {
    const { status } = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
    return [401, 403, 404, 410].includes(status) ? status : 0;
  } catch {
    return 0;
  }
}
