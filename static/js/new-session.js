// @ts-check
// The form for a new session: clips of environments, search, marks of what was changed, and what to
// expect of the choices. Without it the form works as a plain one.
import { ClipLoop } from "./clip-loop.js";

const DELAY = 400; // ms after the last change until the server is asked what it means

const form = /** @type {HTMLFormElement} */ (document.querySelector("form[data-form=session]"));
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
let waiting = 0; // timer
let asked = 0; // number of the last request

for (const clip of form.querySelectorAll("clip-loop")) clip.toggleAttribute("paused", calm);
customElements.define("clip-loop", ClipLoop);

search("env", "[data-env]", "[data-env-none]");
search("setting", "[data-setting]", "[data-setting-none]");
for (const hidden of form.querySelectorAll("[data-env-search], [data-setting-search]")) /** @type {HTMLElement} */ (hidden).hidden = false;
/** @type {HTMLElement} */ (form.querySelector("[data-look]")).hidden = true;
offerResets();
offerUpload();

form.addEventListener("change", (e) => {
  const field = /** @type {HTMLInputElement} */ (e.target);
  if (field.type === "radio" && field.name !== "who") remember(field.name, true);
  if (field.name) look();
});
form.addEventListener("input", (e) => {
  if (/** @type {HTMLInputElement} */ (e.target).name) look();
});
form.addEventListener("click", (e) => {
  const button = /** @type {HTMLElement} */ (e.target).closest?.("[data-reset]");
  if (button) reset(/** @type {HTMLElement} */ (button).dataset.reset ?? "");
});

/**
 * Shows only what has all words of a search field.
 * @param {string} name of the field
 * @param {string} items @param {string} none what is shown where nothing is left
 */
function search(name, items, none) {
  const field = /** @type {HTMLInputElement} */ (form.querySelector(`[data-search=${name}]`));
  field.addEventListener("keydown", (e) => {
    if (e.key === "Enter") e.preventDefault(); // which would send the form
  });
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    const more = /** @type {HTMLDetailsElement|null} */ (form.querySelector(`[data-more-${name}s]`));
    if (more && words.length > 0) more.open = true;
    for (const item of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll(items))) {
      const group = item.closest("[data-group]")?.querySelector("h3")?.textContent ?? "";
      const text = `${item.textContent} ${group} ${item.dataset.setting ?? item.dataset.env ?? ""}`.toLowerCase();
      item.hidden = !words.every((w) => text.includes(w));
      if (!item.hidden) left++;
    }
    for (const group of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-group]"))) {
      group.hidden = !group.querySelector("[data-setting]:not([hidden])");
    }
    /** @type {HTMLElement} */ (form.querySelector(none)).hidden = left > 0;
  });
}

/** Notes whether a choice was made by hand. @param {string} key @param {boolean} on */
function remember(key, on) {
  const hand = /** @type {HTMLInputElement} */ (form.querySelector("[data-hand]"));
  const keys = new Set(hand.value.split(",").filter(Boolean));
  if (on) keys.add(key);
  else keys.delete(key);
  hand.value = [...keys].join(",");
}

/** Gives a setting its default again. @param {string} key */
function reset(key) {
  remember(key, false);
  const fields = /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll(`[name="${key}"]`));
  for (const field of fields) {
    if (field.type === "radio") field.checked = false;
    else field.value = "";
  }
  look(0).then(() => /** @type {HTMLElement|null} */ (form.querySelector(`[data-setting="${key}"] :is(input:checked, input:not([type=radio]), textarea)`))?.focus());
}

/** Asks the server what the choices mean, a moment after the last one. */
function look(delay = DELAY) {
  clearTimeout(waiting);
  return new Promise((done) => {
    waiting = setTimeout(async () => {
      await ask();
      done(undefined);
    }, delay);
  });
}

async function ask() {
  const mine = ++asked;
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form)));
  body.set("do", "look");
  const reply = await fetch(form.action, { method: "POST", body, credentials: "same-origin" }).catch(() => null);
  if (!reply?.ok || mine !== asked) return; // creating the session says what is wrong
  show(new DOMParser().parseFromString(await reply.text(), "text/html"));
}

/** Puts what has changed in place, except where somebody writes. @param {Document} page */
function show(page) {
  for (const part of form.querySelectorAll("[data-part], [data-setting]")) {
    const { part: name, setting } = /** @type {HTMLElement} */ (part).dataset;
    const next = page.querySelector(name ? `[data-part=${name}]` : `[data-setting=${setting}]`);
    if (!next || next.isEqualNode(part)) continue;
    part.toggleAttribute("data-changed", next.hasAttribute("data-changed"));
    if (part.contains(document.activeElement)) {
      const [old, fresh] = [part.querySelector(".why"), next.querySelector(".why")];
      if (old && fresh && !old.contains(document.activeElement)) old.replaceChildren(...fresh.childNodes);
    } else part.replaceChildren(...next.childNodes);
  }
  for (const field of /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("[name][placeholder]"))) {
    const next = /** @type {HTMLInputElement|null} */ (page.querySelector(`form[data-form=session] [name="${field.name}"][placeholder]`));
    if (next) field.placeholder = next.placeholder;
  }
  for (const name of ["was", "hand"]) {
    const next = /** @type {HTMLInputElement|null} */ (page.querySelector(`[data-${name}]`));
    if (next) /** @type {HTMLInputElement} */ (form.querySelector(`[data-${name}]`)).value = next.value;
  }
  offerResets();
}

/** Lets a study file be chosen in place of typing its text. */
function offerUpload() {
  const file = /** @type {HTMLInputElement|null} */ (document.querySelector("[data-upload] input"));
  if (!file) return;
  /** @type {HTMLElement} */ (file.closest("[data-upload]")).hidden = false;
  const area = /** @type {HTMLTextAreaElement} */ (document.querySelector("[data-import] textarea"));
  const name = /** @type {HTMLInputElement} */ (document.querySelector("[data-import] [name=preset_name]"));
  file.addEventListener("change", async () => {
    const chosen = file.files?.[0];
    if (!chosen) return;
    area.value = await chosen.text();
    name.value ||= chosen.name.replace(/\.ya?ml$/, "");
  });
}

/** Shows the buttons that reset what is changed. */
function offerResets() {
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-reset]"))) {
    button.hidden = !button.closest("[data-setting]")?.hasAttribute("data-changed");
  }
}
