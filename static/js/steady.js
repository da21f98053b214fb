// @ts-check

// What may hold the place of a reader: pieces of a page that are there before and after a change.
const HELD = "main section, main h2, main h3, main p, main figure, main table, main [id]";

/**
 * Makes a change of the page that its reader has not asked for; what the reader looks at stays where it is on the screen, also in
 * browsers that do not hold the place themselves (CSS overflow-anchor).
 * @param {() => void} change
 */
export function steady(change) {
  const held = window.scrollY > 0 ? seen() : [];
  change();
  const one = held.find(({ el }) => el.isConnected && el.getClientRects().length > 0);
  if (!one) return;
  const by = one.el.getBoundingClientRect().top - one.top;
  if (by !== 0) window.scrollBy({ top: by, behavior: "instant" });
}

/** The pieces that begin on the screen, the highest first, and then those that begin above it and end on it or below, the lowest first. */
function seen() {
  const all = [...document.querySelectorAll(HELD)].map((el) => ({ el, top: el.getBoundingClientRect().top, bottom: el.getBoundingClientRect().bottom }));
  const shown = all.filter(({ top, bottom }) => bottom > Math.max(top, 0) && top < window.innerHeight);
  const begins = shown.filter(({ top }) => top > -1).sort((a, b) => a.top - b.top);
  return [...begins, ...shown.filter(({ top }) => top <= -1).sort((a, b) => b.top - a.top)];
}
