// @ts-check

/**
 * Runs work when it is asked for, never twice at a time and with a pause after each run:
 * what is asked for meanwhile is done once, after it.
 */
export class Paced {
  #work;
  #pause;
  #wanted = false;
  #busy = false;

  /**
   * @param {() => Promise<void>} work must not reject
   * @param {number} pause ms
   */
  constructor(work, pause) {
    this.#work = work;
    this.#pause = pause;
  }

  ask() {
    this.#wanted = true;
    if (!this.#busy) this.#run();
  }

  async #run() {
    this.#busy = true;
    this.#wanted = false;
    await this.#work();
    setTimeout(() => {
      this.#busy = false;
      if (this.#wanted) this.#run();
    }, this.#pause);
  }
}
