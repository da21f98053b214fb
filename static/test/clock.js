// A clock that a test moves by hand, in place of those of the browser.

/** @typedef {{at: number, f: () => void, every: number}} Timer */

export class Clock {
  now = 0; // ms
  /** @type {Map<number, Timer>} */ #timers = new Map();
  #last = 0;

  /** Takes the place of performance.now, Date.now and the timers. */
  constructor() {
    const add = (/** @type {() => void} */ f, /** @type {number} */ ms, every = 0) => {
      this.#timers.set(++this.#last, { at: this.now + (ms || 0), f, every });
      return this.#last;
    };
    Object.defineProperty(performance, "now", { value: () => this.now, configurable: true });
    Date.now = () => 1_700_000_000_000 + this.now;
    Object.assign(globalThis, {
      setTimeout: add,
      setInterval: (/** @type {() => void} */ f, /** @type {number} */ ms) => add(f, ms, ms),
      clearTimeout: (/** @type {number} */ id) => this.#timers.delete(id),
      clearInterval: (/** @type {number} */ id) => this.#timers.delete(id),
    });
  }

  /** Lets time pass and runs what is due, in order. @param {number} ms */
  pass(ms) {
    const end = this.now + ms;
    for (;;) {
      const [id, timer] = [...this.#timers].filter(([, t]) => t.at <= end).sort((a, b) => a[1].at - b[1].at)[0] ?? [];
      if (id === undefined || !timer) break;
      this.now = timer.at;
      if (timer.every) timer.at += timer.every;
      else this.#timers.delete(id);
      timer.f();
    }
    this.now = end;
  }
}
