// @ts-check
// The page of an arena: it keeps the result up to date while people answer.
import { refresh } from "./fresh.js";

const EVERY = 4000; // ms

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
setInterval(() => refresh(["[data-result]", "[data-people]", "[data-control]"]), EVERY);
