// @ts-check
// The legend of an annotator's pages.

const KEY = "tiebreak.legend";

/**
 * Keeps a legend open on the next page of this tab if it is open on this one.
 * @param {HTMLDetailsElement} details
 * @param {Storage|null} storage
 */
export function remember(details, storage) {
  try {
    details.open = storage?.getItem(KEY) === "open";
  } catch {
    // storage is switched off
  }
  details.addEventListener("toggle", () => {
    try {
      storage?.setItem(KEY, details.open ? "open" : "");
    } catch {
      // full or switched off: it lasts as long as the page
    }
  });
}
