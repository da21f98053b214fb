// @ts-check

/**
 * Runs work, at most some at a time: what is asked for meanwhile waits, the first first.
 */
export class WaitingLine {
  #free;
  /** @type {(() => void)[]} */ #waiting = [];

  /** @param {number} most that run at a time */
  constructor(most) {
    this.#free = most;
  }

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>} what work returns
   */
  async run(work) {
    if (this.#free > 0) this.#free--;
    else await new Promise((/** @type {(v?: unknown) => void} */ go) => this.#waiting.push(go)); // who ends hands its place over
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
