// @ts-check

/**
 * Takes parts of the page from a fresh copy of it.
 * @param {string[]} parts selectors, of one element each
 */
export async function refresh(parts) {
  if (document.hidden) return;
  try {
    const reply = await fetch(location.pathname, { credentials: "same-origin", cache: "no-store" });
    if (!reply.ok) return;
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    for (const part of parts) take(part, page);
  } catch {
    // the server is away; the next time may do
  }
}

/**
 * Replaces a part of the page by that of a fresh copy, if it differs and nobody uses it.
 * @param {string} part
 * @param {Document} page
 */
function take(part, page) {
  const old = document.querySelector(part);
  const fresh = page.querySelector(part);
  if (!old || !fresh || old.contains(document.activeElement) || old.querySelector("details[open]") || old.isEqualNode(fresh)) return;
  old.replaceWith(document.adoptNode(fresh));
}
