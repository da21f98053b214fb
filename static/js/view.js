// @ts-check
// Perspective: from points of a solid scene to points of a canvas.

/** @typedef {import("./clip.js").Shape} Shape */
/** @typedef {number[]} Vec  x, y, z in world units */

/**
 * @typedef {object} View  where the eye is, and how large it sees things
 * @property {Vec} eye
 * @property {Vec} forward unit vector to where it looks
 * @property {Vec} right unit vector, level
 * @property {Vec} up unit vector, up on the canvas
 * @property {number} focal pixels across of a thing of size 1 at depth 1
 * @property {number} width of the canvas, pixels
 * @property {number} height of the canvas, pixels
 * @property {number} near depth before which nothing is drawn
 */

/** @param {Vec} a @param {Vec} b */
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** @param {Vec} a @param {Vec} b @returns {Vec} */
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/** a + k·b. @param {Vec} a @param {Vec} b @param {number} [k] @returns {Vec} */
export const add = (a, b, k = 1) => [a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]];

/** @param {Vec} a @returns {Vec} */
export const unit = (a) => {
  const l = Math.hypot(a[0], a[1], a[2]) || 1;
  return [a[0] / l, a[1] / l, a[2] / l];
};

/** Part t of the way from a to b. @param {Vec} a @param {Vec} b @param {number} t */
export const mix = (a, b, t) => add(a, add(b, a, -1), t);

/**
 * The points of a shape of a solid scene.
 * @param {Shape} s
 * @returns {Vec[]}
 */
export function points({ pts = [] }) {
  const out = [];
  for (let i = 0; i < pts.length; i += 3) out.push([pts[i], pts[i + 1], pts[i + 2]]);
  return out;
}

/**
 * A level circle.
 * @param {Vec} centre
 * @param {number} r
 * @param {number} n corners
 * @returns {Vec[]}
 */
export function disc(centre, r, n) {
  return Array.from({ length: n }, (_, k) => {
    const a = (2 * Math.PI * k) / n;
    return [centre[0] + r * Math.cos(a), centre[1] + r * Math.sin(a), centre[2]];
  });
}

/**
 * The view of a camera.
 * @param {{w: number, distance: number, azimuth: number, elevation: number}} camera
 * @param {Vec} centre of the view
 * @param {number} width of the canvas, pixels
 * @param {number} height of the canvas, pixels
 * @returns {View}
 */
export function look({ w, distance, azimuth, elevation }, centre, width, height) {
  const [sa, ca, se, ce] = [Math.sin(azimuth), Math.cos(azimuth), Math.sin(elevation), Math.cos(elevation)];
  const forward = [ce * ca, ce * sa, -se];
  return {
    eye: add(centre, forward, -distance), forward, right: [sa, -ca, 0], up: [se * ca, se * sa, ce],
    focal: (distance * width) / w, width, height, near: distance / 50,
  };
}

/** Depth of a point: how far before the eye it lies. @param {View} v @param {Vec} p */
export const depth = (v, p) => dot(add(p, v.eye, -1), v.forward);

/**
 * Where a point before the eye is on the canvas, and its depth.
 * @param {View} v
 * @param {Vec} p
 * @returns {Vec}
 */
export function project(v, p) {
  const q = add(p, v.eye, -1);
  const z = dot(q, v.forward);
  return [v.width / 2 + (v.focal * dot(q, v.right)) / z, v.height / 2 - (v.focal * dot(q, v.up)) / z, z];
}

/**
 * Row of the canvas where a level plane h below the eye is at a depth. Infinity is
 * its horizon.
 * @param {View} v
 * @param {number} h
 * @param {number} z
 */
export const row = (v, h, z) => v.height / 2 + (v.focal * (h / z + v.forward[2])) / v.up[2];

/**
 * Adds a polygon to the path, without what is behind the eye.
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} v
 * @param {Vec[]} pts
 */
export function trace(ctx, v, pts) {
  let started = false;
  const to = (/** @type {Vec} */ p) => {
    const [x, y] = project(v, p);
    if (started) ctx.lineTo(x, y);
    else ctx.moveTo(x, y);
    started = true;
  };
  const z = pts.map((p) => depth(v, p) - v.near);
  pts.forEach((p, i) => {
    const j = (i + 1) % pts.length;
    if (z[i] >= 0) to(p);
    if (z[i] * z[j] < 0) to(mix(p, pts[j], z[i] / (z[i] - z[j])));
  });
  if (started) ctx.closePath();
}
