// @ts-check
// The annotator's page: joins the player, the keys, the outbox and the socket.
import { Banner } from "./banner.js";
import { Beside } from "./beside.js";
import { Chooser } from "./chooser.js";
import { codecs, played } from "./clip.js";
import { ClipLoop } from "./clip-loop.js";
import { AnswerQueue } from "./answer-queue.js";
import { remember } from "./legend.js";
import { LabelController } from "./label-controller.js";
import { DuoPlayer } from "./duo-player.js";
import { Flag } from "./flag.js";
import { GroupPicker } from "./group.js";
import { Guide } from "./guide.js";
import { KeptQuestions } from "./kept-questions.js";
import { command, comparisonKey, groupKey, ratingKey, sign } from "./keys.js";
import { LabelView } from "./labelview.js";
import { LastAnswers } from "./last-answers.js";
import { Learnt } from "./learnt.js";
import { Outbox, storage } from "./outbox.js";
import { Practice } from "./practice.js";
import { PracticeView } from "./practice-view.js";
import { keepKey } from "./rejoin.js";
import { Sitting } from "./sitting.js";
import { Telling } from "./telling.js";

/** @typedef {import("./chooser.js").Input} Input */

customElements.define("duo-player", DuoPlayer);
customElements.define("clip-loop", ClipLoop);

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const player = /** @type {DuoPlayer} */ (document.querySelector("duo-player"));
const comparison = main.dataset.comparison !== undefined;
const strength = main.dataset.strength !== undefined;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const view = new LabelView(document.body);
const { session = "", annotator = "" } = main.dataset;
const store = storage();
const name = `${session}.${annotator}`;
const outbox = new Outbox(name, store);
const sitting = new Sitting(name, store && sessionStorage);
const queue = new AnswerQueue(main.dataset.socket ?? "", outbox, annotator);
const layout = () => (player.dataset.layout === "column" ? "column" : "row");
const picker = main.dataset.group === undefined ? null : new GroupPicker({
  view, player, answer: (best, worst, input) => controller.answer({ choice: "best_worst", places: [best, worst] }, input),
});
const chooser = new Chooser((e) => (picker ? groupKey(e) : comparison ? comparisonKey(e, layout(), strength) : ratingKey(e)));
const page = new AbortController();
const { signal } = page;
const kept = new KeptQuestions(name, store);
const practice = new Practice({ name, storage: store, address: main.dataset.practiceUrl ?? "", due: main.dataset.practiceDue !== undefined });
const practiceView = new PracticeView({ view, practice, show, signal });
const banner = new Banner(view.part("banner"), { session, storage: store, queue, announcer: view.announcer, signal });
const controller = new LabelController({ view, banner, player, chooser, queue, calm, sitting, kept, practice, practiceView, instructions: () => guide.version });
const help = /** @type {HTMLDialogElement} */ (view.part("help-dialog"));
const skip = /** @type {HTMLDialogElement} */ (view.part("skip-dialog"));

const guide = new Guide({ main, dialog: help, show: offer, signal });
remember(/** @type {HTMLDetailsElement} */ (help.querySelector("[data-legend]")), store && sessionStorage);
new Beside({ main, panel: view.part("beside"), player, signal });

/** @type {Input} */ let lastInput = "keyboard";
/** @type {string[]} */ let held = []; // addresses of the clips of open questions
let skipping = ""; // assignment that the skip dialog is about

/** @type {import("./judge.js").Judge|undefined} */ let judge;
if (main.dataset.kind === "clip_success") {
  import("./judge.js").then(({ Judge, judgeKey }) => {
    chooser.choiceOf = judgeKey;
    judge = new Judge({ view, player, signal });
    shortcuts.m = () => judge?.mark();
  });
}

/** Keys that are not answers. @param {KeyboardEvent} e */
function shortcut(e) {
  if (command(e) || controller.covered) return;
  const s = sign(e);
  const el = /** @type {Element} */ (e.target);
  if (!el.matches?.("textarea")) view.body.dataset.keyboard = "";
  if (!shortcuts[s] || (s === " " && el.matches?.("button:focus-visible"))) return; // Space presses a focused button
  e.preventDefault();
  lastInput = "keyboard";
  if (!e.repeat || s === "," || s === ".") shortcuts[s]();
}

const shortcuts = /** @type {Record<string, () => void>} */ ({
  ...(picker ? { escape: () => picker.undo(), backspace: () => picker.undo() } : {}),
  " ": () => player.toggle(),
  ",": () => player.step(-1),
  ".": () => player.step(1),
  "[": () => player.changeSpeed(-1),
  "]": () => player.changeSpeed(1),
  v: () => player.changeView(),
  z: () => controller.undo(),
  s: openSkip,
  b: () => controller.remark("both_bad"),
  g: () => controller.remark("both_good"),
  l: () => last.open(),
  f: () => flag.open(),
  "?": () => show(help),
  h: () => show(help),
});

/** @param {HTMLDialogElement} dialog */
function show(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  controller.cover(true);
}

/** Shows a dialog unless one is open. @param {HTMLDialogElement} dialog */
function offer(dialog) {
  if (controller.covered) return false;
  show(dialog);
  return true;
}

function openSkip() {
  if (!chooser.accepting && !controller.unplayed) return;
  skipping = view.body.dataset.assignment ?? "";
  show(skip);
}

/** @param {CustomEvent<{choice: string, input: Input}>} e */
function commit(e) {
  const { choice, input } = e.detail;
  view.flash(choice);
  view.announcer.say("answer", `${view.named(choice)}.`);
  if (choice.startsWith("pick:")) picker?.pick(Number(choice.slice(5)), input);
  else if (choice.startsWith("rate:")) {
    const rating = (Number(choice.slice(5)) - 5) / 5;
    controller.answer({ choice: "rated", rating, ...judge?.said(rating) }, input);
  }
  else if (choice.startsWith("much:")) controller.answer({ choice: choice === "much:left" ? "left" : "right", much: true }, input);
  else controller.answer({ choice: /** @type {import("./label-controller.js").Reply["choice"]} */ (choice) }, input);
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
player.addEventListener("layout", () => {
  chooser.cancel(); // what a held key said may not be true any more
  view.layout(layout());
});
chooser.listen(signal);
if (picker) {
  player.addEventListener("shown", () => picker.reset());
  onClick("again", () => picker.undo());
}
addEventListener("keydown", shortcut, { signal });
addEventListener("pointerdown", (e) => (lastInput = e.pointerType === "mouse" ? "mouse" : "touch"), { signal, capture: true });
onClick("undo", () => controller.undo());
onClick("skip", openSkip);
view.remarks((b) => {
  b.addEventListener("mousedown", (e) => e.preventDefault(), { signal });
  b.addEventListener("click", () => controller.remark(/** @type {import("./wire.js").Remark} */ (b.dataset.remark)), { signal });
});
onClick("help", () => show(help));
onClick("playnow", () => player.toggle());
onClick("reload", () => controller.reload());
onClick("report", () => controller.answer({ choice: "technical_failure" }, lastInput));
skip.addEventListener("keydown", (e) => {
  const reason = /** @type {HTMLButtonElement|null} */ (skip.querySelectorAll("button")[Number(sign(e)) - 1]);
  if (reason?.value) skip.close(reason.value);
}, { signal });
for (const dialog of view.body.querySelectorAll("dialog")) dialog.addEventListener("close", () => controller.cover(false), { signal });
skip.addEventListener("close", () => {
  if (!skip.returnValue) return;
  if (skipping !== view.body.dataset.assignment) return view.toast("Another question has come meanwhile. Nothing was skipped.");
  if (skip.returnValue === "flag") return flag.open();
  view.announcer.say("answer", "Skipped.");
  controller.answer({ choice: "skip", reason: skip.returnValue }, lastInput);
}, { signal });
addEventListener("beforeunload", (e) => {
  if (!outbox.durable && outbox.size > 0) e.preventDefault();
}, { signal });
queue.on("hello", () => keepKey(store, { session, annotator, title: document.querySelector(".title")?.textContent ?? "" }),
  { once: true });
queue.on("hello", () => guide.retry());
queue.on("status", (m) => guide.renew(m.instructions_version));
const telling = new Telling({ view, calm, address: main.dataset.tellingUrl ?? "" });
const learnt = new Learnt({ view, name, storage: store, sitting, telling, controller, calm, signal, show: offer, address: main.dataset.learnt ?? "" });
const last = new LastAnswers({ view, calm, show: offer, address: main.dataset.answers ?? "", change: (id) => controller.withdraw(id) });
onClick("last", () => last.open());
const flag = new Flag({ view, show: offer, signal, address: main.dataset.flags ?? "" });
queue.on("status", (s) => learnt.update(s));
queue.on("change", () => learnt.connected(queue.connected));
queue.on("hello", () => {
  for (const loop of document.querySelectorAll("clip-loop")) /** @type {ClipLoop} */ (loop).again();
});
queue.on("question", (q) => kept.add(q));
queue.on("status", (s) => {
  const clips = kept.keep(s);
  if (clips) keepClips([...practice.clips, ...(held = clips)]);
});
practice.addEventListener("change", () => keepClips([...practice.clips, ...held]));
codecs.addEventListener("change", () => keepClips([...practice.clips, ...held]), { signal });
controller.start(signal);
guide.open();
keepPage();

/** Has the clips of open questions kept for a time without network. @param {string[]} clips addresses */
async function keepClips(clips) {
  try {
    (await navigator.serviceWorker?.ready)?.active?.postMessage({ clips: clips.map(played) });
  } catch {
    // there is no worker
  }
}

/** Lets the page open while the server is away. Browsers allow that over HTTPS and on this machine. */
async function keepPage() {
  const workers = navigator.serviceWorker;
  if (!workers) return;
  try {
    await workers.register(new URL("./offline.js", import.meta.url), { scope: location.pathname });
    (await workers.ready).active?.postMessage(workers.controller ? "here" : "keep"); // a controller saw the page come
  } catch {
    // storage is switched off, or the server is away and the worker there already
  }
}
