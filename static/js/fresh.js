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
 * Replaces a part of the page by that of a fresh copy, if it differs and is not in use. What is folded by data-fold stays
 * as it is, open or closed.
 * @param {string} part
 * @param {Document} page
 */
function take(part, page) {
  const old = document.querySelector(part);
  const fresh = page.querySelector(part);
  if (!old || !fresh) return;
  const active = document.activeElement;
  const at = active?.matches("[data-fold] > summary") && old.contains(active) ? fold(active.parentElement) : "";
  if ((!at && old.contains(active)) || old.querySelector("details[open]:not([data-fold])")) return;
  for (const open of old.querySelectorAll("[data-fold][open]")) fresh.querySelector(fold(open))?.setAttribute("open", "");
  if (old.isEqualNode(fresh)) return;
  old.replaceWith(document.adoptNode(fresh));
  if (at) /** @type {HTMLElement|null} */ (document.querySelector(`${at} > summary`))?.focus({ preventScroll: true });
}

/**
 * Returns the selector of a folded part.
 * @param {Element|null} e
 */
const fold = (e) => `[data-fold="${e?.getAttribute("data-fold")}"]`;
