// @ts-check
// An annotator's page that is only shown, to researchers before they make a session: its clips play,
// and nothing can be answered.
import { fetchPlayed } from "./clip.js";
import { DuoPlayer } from "./duo-player.js";

customElements.define("duo-player", DuoPlayer);

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const player = /** @type {DuoPlayer} */ (document.querySelector("duo-player"));
const urls = (main.dataset.sample ?? "").split(" ").filter(Boolean);
const text = /** @type {HTMLElement} */ (document.querySelector("[data-note-text]"));
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

player.addEventListener("layout", () => (document.body.dataset.layout = player.dataset.layout ?? "row"));
text.textContent = "Clips of the session are shown here.";
if (urls.length > 0) show();

async function show() {
  try {
    await player.load(await Promise.all(urls.map(fetchPlayed)), { play: !calm });
    Object.assign(document.body.dataset, { state: "ready", assignment: "example", gate: "open", layout: player.dataset.layout ?? "row" });
    /** @type {HTMLElement} */ (document.querySelector("[data-note]")).hidden = true;
  } catch {
    text.textContent = "Example clips could not be made.";
  }
}
