// @ts-check
// The page of an arena: it keeps the result up to date while people answer.
const EVERY = 4000; // ms

/** Takes the result and the people from a fresh copy of the page. */
async function refresh() {
  if (document.hidden) return;
  try {
    const reply = await fetch(location.pathname, { credentials: "same-origin", cache: "no-store" });
    if (!reply.ok) return;
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    for (const part of ["[data-result]", "[data-people]", "[data-control]"]) take(part, page);
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

/** @param {Event} e */
async function copy(e) {
  const field = /** @type {HTMLInputElement} */ (document.querySelector("[data-invite-link]"));
  field.select();
  const button = /** @type {HTMLElement} */ (e.target);
  try {
    await navigator.clipboard.writeText(field.value);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Press Ctrl C"; // not allowed here; the link is selected
  }
}

document.querySelector("[data-copy]")?.addEventListener("click", copy);
setInterval(refresh, EVERY);
