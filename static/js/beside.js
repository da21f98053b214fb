// @ts-check
// Finds room for a panel beside the clips, or below them, that leaves the clips as large
// as they are without it.

const NARROW = 208; // least width of the panel, CSS pixels
const WIDE = 384; // greatest width
const LOW = 104; // least height of the panel below
const HIGH = 320; // greatest height
const TALL = 300; // height of clips and panel together, below which there is no room for both
const CONTROLS = 600; // width that the controls below the clips are left at least
const STAGE = 224; // height that the stylesheet leaves the clips at least
const GAP = 16; // between it and the clips
const REST = 8; // CSS pixels of the panel that may be out of view
const SCROLL = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "];

/**
 * @typedef {object} Room
 * @property {"side"|"below"|""} place "" for none
 * @property {number} size width at the side, greatest height below, CSS pixels
 */

/**
 * Where a panel fits.
 * @param {{width: number, height: number}} box what clips and panel have together
 * @param {{width: number, height: number}} clips all clips as they are shown without the panel
 * @returns {Room}
 */
export function room(box, clips) {
  const aside = Math.min(WIDE, box.width - Math.max(clips.width, CONTROLS) - GAP);
  if (aside >= NARROW) return { place: "side", size: Math.floor(aside) };
  const below = Math.min(HIGH, box.height - Math.max(clips.height, STAGE) - GAP);
  return below >= LOW && box.height >= TALL ? { place: "below", size: Math.floor(below) } : { place: "", size: 0 };
}

/** Keeps a panel where room() finds a place for it, whatever the window does. */
export class Beside {
  #shape = ""; // of the clips when the place was found

  /** @param {{main: HTMLElement, panel: HTMLElement, player: import("./duo-player.js").DuoPlayer, signal: AbortSignal}} parts */
  constructor({ main, panel, player, signal }) {
    this.parts = { main, panel, player };
    const observer = new ResizeObserver(() => this.#arrange());
    observer.observe(main);
    signal.addEventListener("abort", () => observer.disconnect());
    panel.addEventListener("scroll", () => this.#tell(), { signal });
    panel.addEventListener("keydown", (e) => {
      if (SCROLL.includes(e.key)) e.stopPropagation(); // while the panel has the focus these scroll it, and are no answers
    }, { signal });
    player.addEventListener("shown", () => {
      if (player.shape !== this.#shape) this.#arrange();
    }, { signal });
  }

  /**
   * Takes the panel away, looks how large the clips are then, and puts it where it leaves them so. The mark of
   * practice is taken away meanwhile, and the room of notices counts as that of clips: the panel is where it is for the
   * questions that count, and no notice moves it.
   */
  #arrange() {
    const { main, panel, player } = this.parts;
    const mark = /** @type {HTMLElement} */ (main.querySelector("[data-practice-mark]"));
    const skip = /** @type {HTMLElement} */ (main.querySelector("[data-practice-skip]"));
    const skippable = !skip.hidden;
    panel.hidden = mark.hidden = skip.hidden = true;
    main.dataset.beside = "";
    this.#shape = player.shape;
    const { width, height } = /** @type {HTMLElement} */ (player.querySelector(".frames")).getBoundingClientRect();
    const notices = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-banner], [data-rest]"));
    const box = { width, height: [...notices].reduce((sum, { offsetHeight }) => sum + offsetHeight, height) };
    const clips = player.wanted(box.width, box.height);
    const { place, size } = clips ? room(box, clips) : { place: "", size: 0 };
    panel.hidden = place === "";
    mark.hidden = false;
    skip.hidden = !skippable;
    main.dataset.beside = place;
    main.style.setProperty("--beside", `${size}px`);
    this.#tell();
  }

  /** Says whether there is more below what is in view. */
  #tell() {
    const { panel } = this.parts;
    panel.toggleAttribute("data-more", panel.scrollHeight - panel.clientHeight - panel.scrollTop > REST);
  }
}
