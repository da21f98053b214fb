// @ts-check
import { comparisonKey } from "./keys.js";

/** @typedef {import("./keys.js").Key} Key */

const CHOICES = /** @type {Record<string, string>} */ ({ left: "rate:0", equal: "rate:5", right: "rate:10" });

/** What a key stands for where it is asked whether a clip shows a success. @param {Key} e */
export function judgeKey(e) {
  const choice = comparisonKey(e, "row");
  return CHOICES[choice] ?? choice;
}

/**
 * Takes down when it went wrong, of the clip on screen: the moment that the player shows.
 *
 *   <button data-wrong aria-pressed="false"><b data-wrong-text></b></button>
 */
export class Judge {
  #ms = 0; // from the first frame, at speed 1; 0 while nothing is said
  #parts;
  #tick = document.createElement("i");

  /**
   * @param {object} parts
   * @param {import("./labelview.js").LabelView} parts.view
   * @param {import("./duo-player.js").DuoPlayer} parts.player
   * @param {AbortSignal} parts.signal
   */
  constructor(parts) {
    this.#parts = parts;
    const { player, signal, view } = parts;
    this.#tick.className = "wrong";
    const button = view.part("wrong");
    button.addEventListener("mousedown", (e) => e.preventDefault(), { signal });
    button.addEventListener("click", () => this.mark(), { signal });
    player.addEventListener("shown", () => this.#set(0), { signal });
  }

  /** Notes the moment on screen, or takes that back where it is noted already. */
  mark() {
    const { player, view } = this.#parts;
    const { part, seconds } = player.place;
    const ms = Math.max(1, Math.round(1000 * seconds));
    if (view.body.dataset.painted !== "true") return;
    this.#set(ms === this.#ms ? 0 : ms);
    this.#tick.style.left = `${100 * part}%`;
    view.announcer.say("remark", this.#ms > 0 ? `It went wrong after ${seconds.toFixed(1)} seconds. It goes with your answer.` : "The moment is removed.");
  }

  /**
   * What goes with a rating.
   * @param {number} rating
   */
  said(rating) {
    return this.#ms > 0 && rating < 1 ? { wrong_ms: this.#ms } : {};
  }

  /** @param {number} ms */
  #set(ms) {
    const { player, view } = this.#parts;
    this.#ms = ms;
    view.part("wrong").setAttribute("aria-pressed", String(ms > 0));
    view.part("wrong-text").textContent = ms > 0 ? `Went wrong at ${(ms / 1000).toFixed(1)} s` : "It goes wrong here";
    if (ms > 0) player.querySelector(".track")?.append(this.#tick);
    else this.#tick.remove();
  }
}
