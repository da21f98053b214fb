// @ts-check
// Bodies of a solid scene: where they are on the canvas and which hides which.
// All are pure functions.
import { add, depth, dot, mix, points, project, unit } from "./view.js";

/** @typedef {import("./clip.js").Shape} Shape */
/** @typedef {import("./view.js").Vec} Vec */
/** @typedef {import("./view.js").View} View */

/**
 * @typedef {object} Body  a capsule, ball, box or text of which something is before the eye
 * @property {Shape} shape
 * @property {number} i place in the scene
 * @property {Vec[]} pts ends of its axis, which are the same but for a capsule; of a box its corners, corner i on the side of face k's middle where bit k of i is set
 * @property {number} r radius around the axis; 0 of a box
 * @property {boolean} cut the capsule ends flat at its first end
 * @property {Vec[]} at pts on the canvas, with depths
 * @property {number[]} bounds on the canvas: least x, least y, greatest x, greatest y
 * @property {number} z depth of the middle
 */

/**
 * The bodies of a scene.
 * @param {View} v
 * @param {Shape[]} shapes
 * @returns {Body[]}
 */
export function bodies(v, shapes) {
  const balls = shapes.filter((s) => s.k === "ball");
  return shapes.flatMap((shape, i) => {
    const whole = solid(shape, balls);
    if (!whole) return [];
    const pts = before(v, whole.pts, shape.k === "box" ? v.near : v.near + whole.r);
    if (pts.length === 0) return [];
    const at = pts.map((p) => project(v, p));
    const z = at.reduce((sum, p) => sum + p[2], 0) / at.length;
    return [{ ...whole, shape, i, pts, at, z, bounds: bounds(v, at, whole.r) }];
  });
}

/**
 * What is solid of a shape, if anything.
 * @param {Shape} s
 * @param {Shape[]} balls of the scene
 * @returns {{pts: Vec[], r: number, cut: boolean}|undefined}
 */
function solid(s, balls) {
  const size = s.s ?? 0;
  const pts = points(s);
  switch (s.k) {
    case "capsule": return { r: size, ...emerging(pts, size, balls) };
    case "ball": return { r: size, pts: [pts[0], pts[0]], cut: false };
    case "text": return { r: size / 2, pts: [pts[0], pts[0]], cut: false };
    case "box": return { r: 0, pts: corners(pts), cut: false };
  }
}

/** @param {Vec[]} pts centre of a box and the middles of three faces */
function corners([c, ...middles]) {
  const half = middles.map((m) => add(m, c, -1));
  return Array.from({ length: 8 }, (_, i) => half.reduce((p, h, k) => add(p, h, i & (1 << k) ? 1 : -1), c));
}

/**
 * A capsule from where it comes out of a thicker ball, as legs do out of a trunk.
 * The end that is cut off becomes the first.
 * @param {Vec[]} pts ends of its axis
 * @param {number} r
 * @param {Shape[]} balls
 * @returns {{pts: Vec[], cut: boolean}} no points if all of it is within a ball
 */
function emerging(pts, r, balls) {
  for (const ball of balls) {
    const [c] = points(ball);
    const radius = ball.s ?? 0;
    const gaps = pts.map((p) => Math.hypot(...add(p, c, -1)));
    if (Math.max(...gaps) < radius - r) return { pts: [], cut: false };
    const rim = radius * radius - r * r; // squared distance of its axis from c where its side meets the ball
    if (gaps[0] ** 2 < rim === gaps[1] ** 2 < rim) continue;
    const [a, b] = gaps[0] < gaps[1] ? pts : [pts[1], pts[0]];
    const d = add(b, a, -1);
    const q = add(a, c, -1);
    const [dd, dq, qq] = [dot(d, d), dot(d, q), dot(q, q) - rim];
    return { pts: [add(a, d, (Math.sqrt(dq * dq - dd * qq) - dq) / dd), b], cut: true };
  }
  return { pts, cut: false };
}

/**
 * What of an axis is farther than a depth; a box whole if some of it is.
 * @param {View} v
 * @param {Vec[]} pts
 * @param {number} least
 */
function before(v, pts, least) {
  const z = pts.map((p) => depth(v, p) - least);
  if (z.every((d) => d < 0)) return [];
  if (pts.length !== 2) return pts;
  return pts.map((p, i) => (z[i] < 0 ? mix(p, pts[1 - i], z[i] / (z[i] - z[1 - i])) : p));
}

/** @param {View} v @param {Vec[]} at @param {number} r */
function bounds(v, at, r) {
  const out = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y, z] of at) {
    if (z < v.near) return [-Infinity, -Infinity, Infinity, Infinity]; // a corner of a box behind the eye
    const m = (r * v.focal) / z + 1;
    out[0] = Math.min(out[0], x - m);
    out[1] = Math.min(out[1], y - m);
    out[2] = Math.max(out[2], x + m);
    out[3] = Math.max(out[3], y + m);
  }
  return out;
}

/**
 * Orders bodies so that each comes after all that it hides: by depth, unless two
 * that meet on the canvas say otherwise.
 * @param {View} v
 * @param {Body[]} list
 * @returns {Body[]}
 */
export function order(v, list) {
  const left = [...list].sort((p, q) => q.z - p.z || p.i - q.i);
  const hidden = left.map((p) => left.filter((q) => p !== q && nearer(v, p, q) > 0)); // what p hides
  /** @type {Set<Body>} */
  const done = new Set();
  while (done.size < left.length) {
    let k = left.findIndex((p, i) => !done.has(p) && hidden[i].every((q) => done.has(q)));
    if (k < 0) k = left.findIndex((p) => !done.has(p)); // they hide each other in a ring: the farthest comes first
    done.add(left[k]);
  }
  return [...done];
}

/**
 * Positive if p hides q, negative if q hides p, 0 if they do not meet on the
 * canvas.
 * @param {View} v
 * @param {Body} p
 * @param {Body} q
 * @returns {number}
 */
function nearer(v, p, q) {
  if (p.bounds[0] > q.bounds[2] || q.bounds[0] > p.bounds[2] || p.bounds[1] > q.bounds[3] || q.bounds[1] > p.bounds[3]) return 0;
  if (p.shape.k === "box" || q.shape.k === "box") return beyond(v, p, q);
  const [s, t, gap] = closest(p.at, q.at);
  const [zp, zq] = [along(p.at, s), along(q.at, t)];
  if (gap > v.focal * (p.r / zp + q.r / zq)) return 0;
  const tie = Math.min(p.r, q.r) / 2;
  for (const d of [zq - zp, q.z - p.z]) {
    if (Math.abs(d) > tie) return d;
  }
  return p.i - q.i; // equally deep, as limbs at a joint are: always the same one
}

/** Depth at part s of the way along an axis as the canvas shows it. @param {Vec[]} at @param {number} s */
const along = (at, s) => 1 / ((1 - s) / at[0][2] + s / at[1][2]);

/**
 * Where two axes come closest on the canvas: parts of the way along each, and the
 * gap in pixels.
 * @param {Vec[]} p
 * @param {Vec[]} q
 * @returns {[number, number, number]}
 */
function closest([a, b], [c, d]) {
  const [ux, uy, vx, vy, wx, wy] = [b[0] - a[0], b[1] - a[1], d[0] - c[0], d[1] - c[1], c[0] - a[0], c[1] - a[1]];
  const det = uy * vx - ux * vy;
  const [s, t] = [(wy * vx - wx * vy) / det, (wy * ux - wx * uy) / det];
  if (s >= 0 && s <= 1 && t >= 0 && t <= 1) return [s, t, 0]; // they cross
  const clamp = (/** @type {number} */ x) => Math.max(0, Math.min(1, x || 0)); // 0 where an axis is a point
  const u = (/** @type {number} */ e) => clamp(((wx + e * vx) * ux + (wy + e * vy) * uy) / (ux * ux + uy * uy));
  const w = (/** @type {number} */ e) => clamp(((e * ux - wx) * vx + (e * uy - wy) * vy) / (vx * vx + vy * vy));
  /** @type {[number, number, number]} */
  let best = [0, 0, Infinity];
  for (const [i, j] of [[u(0), 0], [u(1), 1], [0, w(0)], [1, w(1)]]) {
    const gap = Math.hypot(wx + j * vx - i * ux, wy + j * vy - i * uy);
    if (gap < best[2]) best = [i, j, gap];
  }
  return best;
}

/** Corners of the faces of a box, each in a row. */
const FACES = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

/**
 * The faces of a box.
 * @param {Body} b
 * @returns {{middle: Vec, normal: Vec, pts: Vec[]}[]}
 */
export function faces(b) {
  const centre = mix(b.pts[0], b.pts[7], 0.5);
  return FACES.map((f) => {
    const middle = mix(b.pts[f[0]], b.pts[f[2]], 0.5);
    return { middle, normal: unit(add(middle, centre, -1)), pts: f.map((i) => b.pts[i]) };
  });
}

/**
 * nearer, where p or q is a box: of the face that best separates the two, the
 * body on the eye's side hides the other.
 * @type {typeof nearer}
 */
function beyond(v, p, q) {
  let [most, sign] = [-Infinity, 0];
  for (const [box, other, s] of /** @type {[Body, Body, number][]} */ ([[p, q, -1], [q, p, 1]])) {
    if (box.shape.k !== "box") continue;
    for (const { middle, normal } of faces(box)) {
      const apart = Math.min(...other.pts.map((x) => dot(add(x, middle, -1), normal))) - other.r;
      if (apart > most) [most, sign] = [apart, dot(add(v.eye, middle, -1), normal) > 0 ? s : -s];
    }
  }
  return sign;
}
