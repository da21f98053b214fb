// @ts-check
// Pages that an annotator sees while not signed in: plays the example clip, and lets a browser that
// took part before continue as the same annotator.
import { ClipLoop } from "./clip-loop.js";
import { remember } from "./legend.js";
import { left, storage } from "./outbox.js";
import { called, rejoin, remembered } from "./rejoin.js";

const example = /** @type {HTMLElement|null} */ (document.querySelector("[data-example]"));
const play = /** @type {HTMLElement|null} */ (document.querySelector("[data-example-play]"));
const legend = /** @type {HTMLDetailsElement|null} */ (document.querySelector("[data-legend]"));
if (example && play) pausable(example, play, matchMedia("(prefers-reduced-motion: reduce)").matches);
if (legend) remember(legend, storage() && sessionStorage);
customElements.define("clip-loop", ClipLoop);

const section = /** @type {HTMLElement|null} */ (document.querySelector("[data-rejoin]"));
if (section) rejoins(section);

/** @param {HTMLElement} section where to offer it */
function rejoins(section) {
  const newcomer = /** @type {HTMLElement|null} */ (document.querySelector("[data-newcomer]"));
  const text = /** @type {HTMLElement} */ (section.querySelector("[data-rejoin-text]"));
  const button = /** @type {HTMLButtonElement} */ (section.querySelector("[data-continue]"));
  const other = /** @type {HTMLButtonElement} */ (section.querySelector("[data-other]"));
  const store = storage();
  const [known] = remembered(store, section.dataset.rejoin);

  /** @param {boolean} again whether to offer to continue rather than to join */
  function offer(again) {
    button.hidden = !again;
    other.hidden = !again || !newcomer;
    if (newcomer) newcomer.hidden = again;
  }

  if (known) {
    const waiting = left(store, known.session).find((g) => g.annotator === known.annotator)?.messages.length ?? 0;
    text.textContent = (section.dataset.rejoin ? "Welcome back. " : `You took part in “${known.title}”. `) + "You go on where you stopped." +
      (waiting === 1 ? " One answer waits in this browser and will be sent." : waiting > 1 ? ` ${waiting} answers wait in this browser and will be sent.` : "");
    button.textContent = `Continue as ${called(known)}`;
    section.hidden = false;
    offer(true);
    button.addEventListener("click", async () => {
      button.disabled = true;
      const status = await rejoin(store, known);
      button.disabled = false;
      if (status === 200) location.assign(`/sessions/${encodeURIComponent(known.session)}/label`);
      else if (status === 403) {
        text.textContent = `This browser can no longer continue as ${called(known)}.` +
          (newcomer ? " You can start anew below." : " Ask for a new link.") + (waiting ? " Your answers are kept in this browser." : "");
        offer(false);
      } else text.textContent = status === 0 ? "The server does not answer. Try again in a moment." : "The server is busy. Try again in a moment.";
    });
    other.addEventListener("click", () => {
      section.hidden = true;
      offer(false);
    });
  }
}

/**
 * Has a button pause and play the example clip. It rests at first where motion is unwelcome.
 * @param {HTMLElement} clip
 * @param {HTMLElement} button
 * @param {boolean} calm
 */
function pausable(clip, button, calm) {
  const rest = (/** @type {boolean} */ on) => {
    clip.toggleAttribute("paused", on);
    button.textContent = on ? "Play" : "Pause";
  };
  rest(calm);
  button.addEventListener("click", () => rest(!clip.hasAttribute("paused")));
}
