// @ts-check
import { ReconnectingSocket } from "./reconnecting-socket.js";

/** @typedef {import("./outbox.js").Outbox} Outbox */
/** @typedef {import("./outbox.js").Message} Message */
/** @typedef {import("./wire.js").FromServer} FromServer */
/** @typedef {import("./wire.js").Nak} Nak */

/** @typedef {{message: Message|undefined, nak: Nak, kept: boolean}} Refusal  kept: the message stays in the outbox */
/**
 * Events of an AnswerQueue with their details.
 * @typedef {object} Events
 * @property {import("./wire.js").Query} question
 * @property {import("./wire.js").Status} status
 * @property {import("./wire.js").Hello} hello
 * @property {Refusal} refused it will not be recorded
 * @property {undefined} change of the connection or the outbox
 */

const WINDOW = 16; // messages under way at once
const SILENCE = 8_000; // ms without an acknowledgement after which a socket counts as dead
const HELLO = 200; // ids in a hello at most
const OTHER = 409; // state of a socket that would answer as somebody else

/**
 * Takes answers to the server: each stays in the outbox until it is
 * acknowledged, which the server does once it is durable.
 */
export class AnswerQueue extends EventTarget {
  #ready = false; // the server's hello has come
  #pause = 0; // timer while the server asks us to hold
  #watch = 0; // timer of SILENCE
  other = ""; // the annotator that this browser is instead of the page's

  /**
   * @param {string} path of the socket
   * @param {Outbox} outbox
   * @param {string} annotator whose page this is
   */
  constructor(path, outbox, annotator) {
    super();
    this.annotator = annotator;
    this.outbox = outbox;
    this.socket = new ReconnectingSocket(path);
    this.socket.addEventListener("state", () => this.#connection());
    this.socket.addEventListener("message", (e) => this.#receive(/** @type {CustomEvent} */ (e).detail));
  }

  /**
   * @template {keyof Events} T
   * @param {T} type
   * @param {(detail: Events[T]) => void} f
   * @param {AddEventListenerOptions} [options]
   */
  on(type, f, options) {
    this.addEventListener(type, (e) => f(/** @type {CustomEvent} */ (e).detail), options);
  }

  start() {
    this.socket.start();
  }

  stop() {
    clearTimeout(this.#pause);
    clearTimeout(this.#watch);
    this.socket.stop();
  }

  /** Whether the server has greeted us on the present socket. */
  get connected() {
    return this.#ready;
  }

  /** @param {Message} m */
  post(m) {
    this.outbox.add(m);
    this.#pump();
    this.#emit("change", undefined);
  }

  /**
   * Resolves once the server has acknowledged everything, or after a while, or at once without a server.
   * @param {number} ms
   * @returns {Promise<void>}
   */
  settled(ms) {
    if (!this.#ready || this.outbox.pending.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const end = new AbortController();
      const done = () => {
        clearTimeout(timer);
        end.abort();
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.on("change", () => this.outbox.pending.length > 0 || done(), { signal: end.signal });
    });
  }

  /**
   * Takes back an entry that never went out, and returns it. One whose acknowledgement is
   * missing may have been recorded: it can only be undone.
   * @param {string} id
   */
  recall(id) {
    const entry = this.outbox.entries.find((e) => e.message.id === id);
    if (!entry || entry.tried) return undefined;
    this.outbox.remove(id);
    this.#emit("change", undefined);
    return entry.message;
  }

  /** Gives entries up, by their keys. @param {string[]} keys */
  discard(keys) {
    for (const e of this.outbox.entries.filter((e) => keys.includes(e.key))) this.outbox.remove(e.message.id);
    this.#emit("change", undefined);
  }

  /** @param {string[]} assignments leases to extend */
  renew(assignments) {
    if (this.#ready) for (const a of assignments) this.socket.send({ t: "renew", assignment: a });
  }

  #connection() {
    this.#ready = false;
    clearTimeout(this.#pause);
    this.#pause = 0;
    this.outbox.rewind();
    this.outbox.adopt();
    if (this.socket.state.state === "open") {
      this.socket.send({ t: "hello", outbox: this.outbox.ids().slice(0, HELLO) });
    }
    this.#emit("change", undefined);
  }

  /** @param {FromServer} m */
  #receive(m) {
    switch (m.t) {
      case "hello":
        this.other = m.annotator && m.annotator !== this.annotator ? m.annotator : "";
        if (this.other) return this.socket.refuse(OTHER); // it would record our answers as theirs
        for (const id of m.have ?? []) this.outbox.remove(id);
        this.#ready = true;
        this.#emit("hello", m);
        this.#pump();
        break;
      case "query":
        this.#emit("question", m);
        break;
      case "status":
        this.#emit("status", m);
        break;
      case "ack":
        this.outbox.remove(m.id);
        this.#pump();
        break;
      case "nak":
        this.#refused(m);
        break;
      case "bye":
        this.socket.resume(m.retry_ms);
        break;
    }
    this.#emit("change", undefined);
  }

  /** @param {Nak} nak */
  #refused(nak) {
    if (nak.retry_ms > 0) {
      this.outbox.rewind();
      clearTimeout(this.#pause);
      this.#pause = setTimeout(() => {
        this.#pause = 0;
        this.#pump();
      }, nak.retry_ms);
      return;
    }
    const entry = this.outbox.entries.find((e) => e.message.id === nak.id);
    if (entry && nak.code === "not_found" && this.#early(entry.message)) {
      entry.sent = false;
      return;
    }
    const kept = entry?.message.t === "answer" && nak.code !== "conflict"; // a conflict: the question has an answer
    if (kept) entry.refused = nak.message || "The server does not record it.";
    else if (entry) this.outbox.remove(nak.id);
    this.#emit("refused", { message: entry?.message, nak, kept });
    this.#pump();
  }

  /** Whether m takes back an answer that the server has not recorded yet, as it was busy. @param {Message} m */
  #early(m) {
    return m.t === "undo" && this.outbox.pending.some((e) => e.message.id === m.of);
  }

  /** Sends what is next, in order. */
  #pump() {
    if (!this.#ready || this.#pause) return;
    this.outbox.release();
    for (const e of this.outbox.pending.slice(0, WINDOW)) {
      if (e.sent || !this.socket.send(e.message)) continue;
      e.sent = e.tried = true;
    }
    clearTimeout(this.#watch);
    if (this.outbox.pending.length > 0) this.#watch = setTimeout(() => this.#silence(), SILENCE);
  }

  #silence() {
    if (this.#ready && !this.#pause && this.outbox.pending.length > 0) this.socket.reset();
  }

  /**
   * @template {keyof Events} T
   * @param {T} type
   * @param {Events[T]} detail
   */
  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
