// @ts-check
// What the keys of the annotator's page mean, on any keyboard layout.

/** @typedef {"row"|"column"} Layout  of the clips: side by side, or one above the other */
/** @typedef {{key: string, code: string, shiftKey: boolean}} Key  of a KeyboardEvent */

const PRINTED = /^[0-9a-z=?[\],. ]$/; // signs with a meaning on this page
const PLACES = /** @type {Record<string, string>} */ ({
  Equal: "=", BracketLeft: "[", BracketRight: "]", Comma: ",", Period: ".",
});

/**
 * The sign of a key, or "" if it has none: a lower-case letter, a digit, one of
 * = ? [ ] , . and space, or the lower-case name of a key that prints nothing
 * ("arrowleft").
 *
 * What a key prints comes first, so that the labels of the buttons are true on
 * every layout and a key has one meaning: on AZERTY the key that prints Z is
 * undo, though it lies where W does on a US keyboard. A key that prints none of
 * these signs counts by its place on a US keyboard, digits and punctuation only
 * without Shift: so à of AZERTY is 0, and ф is A. A Latin letter never counts as
 * another one: Q, where A is on a US keyboard, is not A.
 * @param {Key} e
 */
export function sign({ key, code, shiftKey }) {
  if (key.length > 1 && key !== "Dead" && key !== "Process" && key !== "Unidentified") return key.toLowerCase();
  const printed = key.toLowerCase();
  if (PRINTED.test(printed)) return printed;
  if (/^Key[A-Z]$/.test(code)) return /^\p{Script=Latin}$/u.test(key) ? "" : code.slice(3).toLowerCase();
  if (code === "Slash" && shiftKey) return "?";
  if (shiftKey) return "";
  return /^Digit[0-9]$/.test(code) ? code.slice(5) : PLACES[code] ?? "";
}

// E and C lie at the same place on QWERTY, QWERTZ and AZERTY; they mean the same
// in both layouts. An arrow that points to no clip means nothing in a column.
const COMPARISON = /** @type {Record<Layout, Record<string, string>>} */ ({
  row: {
    arrowleft: "left", a: "left", arrowright: "right", d: "right",
    arrowup: "equal", w: "equal", e: "equal", arrowdown: "cant_tell", x: "cant_tell", c: "cant_tell",
  },
  column: { arrowup: "left", w: "left", arrowdown: "right", x: "right", e: "equal", c: "cant_tell" },
});
const RATING = /** @type {Record<string, string>} */ ({
  "=": "rate:10", t: "rate:10", arrowdown: "cant_tell", x: "cant_tell", c: "cant_tell",
});

/**
 * The choice that a key stands for, or "". "left" is the first clip: the upper
 * one of a column. With Shift, where people say how much better a clip is, it is
 * "much:left" or "much:right".
 * @param {Key} e
 * @param {Layout} layout
 * @param {boolean} [strength] whether they do
 */
export function comparisonKey(e, layout, strength = false) {
  const choice = COMPARISON[layout][sign(e)] ?? "";
  return strength && e.shiftKey && (choice === "left" || choice === "right") ? `much:${choice}` : choice;
}

/** @param {Key} e */
export function ratingKey(e) {
  const s = sign(e);
  return /^[0-9]$/.test(s) ? `rate:${s}` : RATING[s] ?? "";
}

/** What a key stands for in a question about six clips. @param {Key} e */
export function groupKey(e) {
  const s = sign(e);
  if (/^[1-6]$/.test(s)) return `pick:${s}`;
  return s === "c" || s === "x" || s === "arrowdown" ? "cant_tell" : "";
}

/**
 * Whether Ctrl, Alt or Meta make it a command of the browser. AltGr only helps to
 * print: some layouts need it for [ and ].
 * @param {KeyboardEvent} e
 */
export function command(e) {
  return (e.ctrlKey || e.altKey || e.metaKey) && !e.getModifierState("AltGraph");
}
