// @ts-check
// The annotator's page: joins the player, the keys, the outbox and the socket.
import { Chooser } from "./chooser.js";
import { Courier } from "./courier.js";
import { Desk } from "./desk.js";
import { DuoPlayer } from "./duo-player.js";
import { LabelView } from "./labelview.js";
import { Outbox, storage } from "./outbox.js";

/** @typedef {import("./chooser.js").Input} Input */

customElements.define("duo-player", DuoPlayer);

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const player = /** @type {DuoPlayer} */ (document.querySelector("duo-player"));
const comparison = main.dataset.comparison !== undefined;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const view = new LabelView(document.body);
const outbox = new Outbox(`${main.dataset.session}.${main.dataset.annotator}`, storage());
const courier = new Courier(main.dataset.socket ?? "", outbox);
const chooser = new Chooser(comparison ? comparisonKey : ratingKey);
const desk = new Desk({ view, player, chooser, courier, calm, instructions: Number(main.dataset.instructionsVersion) });
const help = /** @type {HTMLDialogElement} */ (view.part("help-dialog"));
const skip = /** @type {HTMLDialogElement} */ (view.part("skip-dialog"));
const page = new AbortController();
const { signal } = page;

/** @type {Input} */ let lastInput = "keyboard";

/** @param {KeyboardEvent} e */
function comparisonKey(e) {
  const keys = /** @type {Record<string, string>} */ ({
    arrowleft: "left", a: "left", arrowright: "right", d: "right",
    arrowup: "equal", w: "equal", arrowdown: "cant_tell", x: "cant_tell",
  });
  return keys[e.key.toLowerCase()] ?? "";
}

/** @param {KeyboardEvent} e */
function ratingKey(e) {
  if (e.key === "=" || (e.code === "Digit0" && e.shiftKey && e.key !== "0")) return "rate:10";
  if (/^[0-9]$/.test(e.key)) return `rate:${e.key}`;
  return ["arrowdown", "x"].includes(e.key.toLowerCase()) ? "cant_tell" : "";
}

/** Keys that are not answers. @param {KeyboardEvent} e */
function shortcut(e) {
  const el = /** @type {Element} */ (e.target);
  if (e.ctrlKey || e.altKey || e.metaKey || el.closest?.("dialog")) return;
  const action = shortcuts[e.key.toLowerCase()];
  if (!action || (e.key === " " && el.matches?.("button:focus-visible"))) return; // Space presses a focused button
  e.preventDefault();
  lastInput = "keyboard";
  if (!e.repeat || e.key === "," || e.key === ".") action();
}

const shortcuts = /** @type {Record<string, () => void>} */ ({
  " ": () => player.toggle(),
  ",": () => player.step(-1),
  ".": () => player.step(1),
  "[": () => player.changeSpeed(-1),
  "]": () => player.changeSpeed(1),
  z: () => desk.undo(),
  s: openSkip,
  "?": () => help.showModal(),
});
if (comparison) [0, 1, 2, 3].forEach((i) => (shortcuts[i + 1] = () => player.setSpeed(i)));

function openSkip() {
  if (!chooser.accepting) return;
  skip.returnValue = "";
  skip.showModal();
}

/** @param {CustomEvent<{choice: string, input: Input}>} e */
function commit(e) {
  const { choice, input } = e.detail;
  view.flash(choice);
  if (choice.startsWith("rate:")) desk.answer({ choice: "rated", rating: (Number(choice.slice(5)) - 5) / 5 }, input);
  else desk.answer({ choice }, input);
}

/**
 * @param {string} name of a data attribute
 * @param {() => void} f
 */
function onClick(name, f) {
  const el = view.part(name);
  el.addEventListener("mousedown", (e) => e.preventDefault(), { signal }); // keep the focus off: keys are for answers
  el.addEventListener("click", f, { signal });
}

chooser.addEventListener("preview", (e) => view.preview(/** @type {CustomEvent} */ (e).detail));
chooser.addEventListener("commit", (e) => commit(/** @type {CustomEvent} */ (e)));
view.buttons((b) => chooser.attach(b, () => b.dataset.choice ?? "", signal));
for (const frame of /** @type {NodeListOf<HTMLElement>} */ (player.querySelectorAll("[data-side]"))) {
  chooser.attach(frame, () => frame.dataset.side ?? "", signal);
}
chooser.listen(signal);
addEventListener("keydown", shortcut, { signal });
addEventListener("pointerdown", (e) => (lastInput = e.pointerType === "mouse" ? "mouse" : "touch"), { signal, capture: true });
onClick("undo", () => desk.undo());
onClick("skip", openSkip);
onClick("help", () => help.showModal());
onClick("playnow", () => player.toggle());
onClick("retry", () => courier.live.retry());
onClick("reload", () => desk.reload());
onClick("report", () => desk.answer({ choice: "technical_failure" }, lastInput));
skip.addEventListener("keydown", (e) => {
  const reason = /** @type {HTMLButtonElement|null} */ (skip.querySelectorAll("button")[Number(e.key) - 1]);
  if (reason?.value) skip.close(reason.value);
}, { signal });
skip.addEventListener("close", () => {
  if (skip.returnValue) desk.answer({ choice: "skip", reason: skip.returnValue }, lastInput);
}, { signal });
addEventListener("beforeunload", (e) => {
  if (!outbox.durable && outbox.size > 0) e.preventDefault();
}, { signal });
desk.start(signal);
