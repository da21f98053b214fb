// @ts-check
// Colours #rgb and #rrggbb.

/** @type {Map<string, number[]>} */
const parsed = new Map();

/** Red, green and blue, 0 to 255. @param {string} colour @returns {number[]} */
function channels(colour) {
  let c = parsed.get(colour);
  if (!c) {
    const hex = colour.length < 7 ? colour.replace(/[^#]/g, "$&$&") : colour;
    c = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) || 0);
    parsed.set(colour, c);
  }
  return c;
}

/** A colour that lets through what is behind it. @param {string} colour @param {number} alpha 0 to 1 */
export const veil = (colour, alpha) => `rgb(${channels(colour).join(" ")} / ${alpha})`;

/** How light a colour is, 0 to 1. @param {string} colour */
export function lightness(colour) {
  const [r, g, b] = channels(colour);
  return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
}

/**
 * Part t of the way from a to b.
 * @param {string} a
 * @param {string} b
 * @param {number} t 0 to 1
 */
export function blend(a, b, t) {
  const [p, q] = [channels(a), channels(b)];
  return `#${p.map((v, i) => Math.round(v + (q[i] - v) * t).toString(16).padStart(2, "0")).join("")}`;
}

/** A colour in a shade: 0 is black, 1 the colour, and more is nearer to white. @param {string} colour @param {number} s */
export function shade(colour, s) {
  return s <= 1 ? blend("#000", colour, Math.max(0, s)) : blend(colour, "#fff", Math.min(1, 1.6 * (s - 1)));
}
