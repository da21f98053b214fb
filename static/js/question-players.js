// @ts-check
import { fetchPlayed } from "./clip.js";

/** @typedef {import("./duo-player.js").DuoPlayer} DuoPlayer */

/**
 * Loads the clips of players when they come into view for the first time. They rest on their
 * first frame until they are played.
 * @param {ParentNode} root of players with data-clips, addresses with spaces between them
 */
export function loadPlayers(root) {
  const sight = new IntersectionObserver((entries) => {
    for (const e of entries) {
      if (!e.isIntersecting) continue;
      sight.unobserve(e.target);
      load(/** @type {DuoPlayer} */ (e.target));
    }
  }, { rootMargin: "200px" });
  for (const player of root.querySelectorAll("duo-player[data-clips]")) sight.observe(player);
}

/** @param {DuoPlayer} player */
async function load(player) {
  const urls = (player.dataset.clips ?? "").split(" ").filter(Boolean);
  try {
    await player.load(await Promise.all(urls.map(fetchPlayed)), { play: false });
  } catch {
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = "The clips cannot be shown. Reload the page to try again.";
    player.replaceWith(note);
  }
}
