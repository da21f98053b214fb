// @ts-check
// Where the pictures of several cameras go on a canvas.

/** @typedef {import("./footage.js").Camera} Camera */
/** @typedef {{camera: Camera, x: number, y: number, w: number, h: number}} Cell  in units of the plan */

/**
 * @typedef {object} Plan
 * @property {number} w of all cells
 * @property {number} h
 * @property {Cell[]} cells
 * @property {string} choice that it is one for
 */

const GAP = 0.02; // between two cells, as a share of the height of one
const SMALL = 0.4; // size of a small picture beside a large one, at most
const READABLE = 260; // CSS pixels: a narrower picture is not worth the others being as large as it

/** Cells beside each other, of one height. @param {Camera[]} cameras @returns {Plan} */
function row(cameras) {
  let w = -GAP;
  const cells = cameras.map((camera) => {
    const cell = { camera, x: w + GAP, y: 0, w: camera.w / camera.h, h: 1 };
    w = cell.x + cell.w;
    return cell;
  });
  return { w, h: 1, cells, choice: "all" };
}

/** The plan with x and y exchanged, for cameras whose width and height are exchanged. @param {Plan} p @returns {Plan} */
const turned = ({ w, h, cells, choice }) => ({ w: h, h: w, choice, cells: cells.map((c) => ({ camera: c.camera, x: c.y, y: c.x, w: c.h, h: c.w })) });

/** Cells above each other, of one width. @param {Camera[]} cameras @returns {Plan} */
const column = (cameras) => restored(turned(row(cameras.map(exchanged))), cameras);

/** @param {Camera} c @returns {Camera} */
const exchanged = (c) => ({ ...c, w: c.h, h: c.w });

/** @param {Plan} p @param {Camera[]} cameras in the order of its cells @returns {Plan} */
const restored = (p, cameras) => ({ ...p, cells: p.cells.map((c, i) => ({ ...c, camera: cameras[i] })) });

/** The first camera large, the others in a row below it. @param {Camera[]} cameras @returns {Plan} */
function below([first, ...others]) {
  const w = first.w / first.h;
  const strip = row(others);
  const size = Math.min(SMALL, w / strip.w);
  const left = w - strip.w * size; // beside a large one they are at its lower end: at the upper one there may be a line of text
  const small = strip.cells.map((c) => ({ camera: c.camera, x: left + c.x * size, y: 1 + GAP, w: c.w * size, h: size }));
  return { w, h: 1 + GAP + size, choice: "", cells: [{ camera: first, x: 0, y: 0, w, h: 1 }, ...small] };
}

/** The first camera large, the others in a column to its right. @param {Camera[]} cameras @returns {Plan} */
const beside = (cameras) => restored(turned(below(cameras.map(exchanged))), cameras);

/**
 * The ways to show cameras: all of a size for "all", else the one of that number, from 0 on, large.
 * @param {Camera[]} cameras
 * @param {string} choice
 * @returns {Plan[]}
 */
export function plans(cameras, choice) {
  if (cameras.length === 1) return [row(cameras)];
  if (choice === "all") return [row(cameras), column(cameras)];
  const large = cameras[Number(choice)] ?? cameras[0];
  const order = [large, ...cameras.filter((c) => c !== large)];
  return [below(order), beside(order)].map((p) => ({ ...p, choice }));
}

/** How much wider than the plan's units a room shows it. @param {Plan} p @param {number} width @param {number} height */
export const scaleIn = (p, width, height) => Math.min(width / p.w, height / p.h);

/**
 * The plan that shows the first of its cameras largest in a room. Without a choice all are of a size, unless they are hard to see then.
 * @param {Camera[]} cameras
 * @param {string} choice "" for none
 * @param {number} width CSS pixels
 * @param {number} height
 * @returns {Plan}
 */
export function best(cameras, choice, width, height) {
  const size = (/** @type {Plan} */ p) => p.cells[0].w * scaleIn(p, width, height);
  const largest = (/** @type {Plan[]} */ list) => list.reduce((a, b) => (size(b) > size(a) ? b : a));
  if (choice) return largest(plans(cameras, choice));
  const all = largest(plans(cameras, "all"));
  return size(all) >= READABLE ? all : largest(plans(cameras, "0"));
}

/**
 * The plan for a canvas that was given the shape of one.
 * @param {Camera[]} cameras
 * @param {string} choice "" for none
 * @param {number} ratio width to height of the canvas
 */
export function fitting(cameras, choice, ratio) {
  const list = choice ? plans(cameras, choice) : [...plans(cameras, "all"), ...plans(cameras, "0")];
  const off = (/** @type {Plan} */ p) => Math.abs(Math.log(p.w / p.h / ratio));
  return list.reduce((a, b) => (off(b) < off(a) ? b : a));
}
