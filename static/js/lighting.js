// @ts-check
// Shades the bodies of a solid scene and throws their shadows.
import { faces } from "./bodies.js";
import { blend, lightness, shade, veil } from "./colour.js";
import { add, cross, disc, dot, mix, project, trace, unit } from "./view.js";

/** @typedef {import("./bodies.js").Body} Body */
/** @typedef {import("./draw.js").Palette} Palette */
/** @typedef {import("./view.js").Vec} Vec */
/** @typedef {import("./view.js").View} View */

/** Unit vector to where the light comes from: above, left of the eye and behind it. @param {View} v */
export function sun(v) {
  const level = unit([v.forward[0], v.forward[1], 0]);
  return unit(add(add([0, 0, 1], v.right, -0.42), level, -0.38));
}

/** Shade of a surface. @param {Vec} sun @param {Vec} normal unit vector */
const brightness = (sun, normal) => 0.54 + 0.08 * normal[2] + 0.5 * Math.max(-0.15, dot(normal, sun));

/**
 * Throws soft shadows on the ground: layers, of which each is wider the higher
 * above the ground what throws it is.
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} v
 * @param {Body[]} bodies
 * @param {number} ground height of it
 * @param {Palette} colours
 */
export function paintShadows(ctx, v, bodies, ground, colours) {
  const to = sun(v);
  ctx.fillStyle = veil(lightness(colours.surface) > 0.5 ? blend(colours.ink, colours.ground, 0.15) : "#000", 0.12);
  for (const soft of [1, 0.4, -0.2, -0.8]) {
    ctx.beginPath();
    for (const b of bodies) {
      if (b.shape.k === "text") continue;
      trace(ctx, v, hull(b.pts.flatMap((p) => {
        const height = p[2] - ground;
        const fallen = add(p, to, -height / to[2]);
        return b.r > 0 ? disc(fallen, Math.max(0.3 * b.r, b.r + 0.07 * soft * Math.max(0, height)), 10) : [fallen];
      })));
    }
    ctx.fill();
  }
}

/**
 * The convex hull of level points, counter-clockwise.
 * @param {Vec[]} pts
 * @returns {Vec[]}
 */
function hull(pts) {
  const sorted = [...pts].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (/** @type {Vec[]} */ list) => {
    /** @type {Vec[]} */
    const out = [];
    for (const p of list) {
      while (out.length > 1 && !turnsLeft(out[out.length - 2], out[out.length - 1], p)) out.pop();
      out.push(p);
    }
    return out.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** Whether a level way from a over b to c turns left. @param {Vec} a @param {Vec} b @param {Vec} c */
const turnsLeft = (a, b, c) => (b[0] - a[0]) * (c[1] - b[1]) > (b[1] - a[1]) * (c[0] - b[0]);

/**
 * Paints a body.
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} v
 * @param {Body} b
 * @param {string} colour
 */
export function paintBody(ctx, v, b, colour) {
  ctx.lineWidth = Math.max(1, v.width / 560);
  ctx.strokeStyle = shade(colour, 0.3);
  if (b.shape.k === "text") paintText(ctx, v, b, colour);
  else if (b.shape.k === "box") paintBox(ctx, v, b, colour);
  else paintLimb(ctx, v, b, colour);
}

/** @type {typeof paintBody} */
function paintText(ctx, v, b, colour) {
  const [x, y, z] = b.at[0];
  const size = (2 * b.r * v.focal) / z;
  ctx.font = `600 ${size.toFixed(1)}px system-ui, sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  ctx.fillStyle = colour;
  ctx.fillText(b.shape.t ?? "", x, y + 0.36 * size); // capitals are about 0.72 em high
}

/** @type {typeof paintBody} */
function paintBox(ctx, v, b, colour) {
  for (const { middle, normal, pts } of faces(b)) {
    if (dot(add(v.eye, middle, -1), normal) <= 0) continue; // seen from behind
    ctx.beginPath();
    trace(ctx, v, pts);
    ctx.fillStyle = shade(colour, brightness(sun(v), normal));
    ctx.fill();
    ctx.stroke();
  }
}

/** A ball or capsule. @type {typeof paintBody} */
function paintLimb(ctx, v, b, colour) {
  const [p, q] = b.at;
  const [rp, rq] = [(b.r * v.focal) / p[2], (b.r * v.focal) / q[2]];
  const axis = unit(add(b.pts[1], b.pts[0], -1));
  const toEye = unit(add(v.eye, mix(b.pts[0], b.pts[1], 0.5), -1));
  ctx.beginPath();
  outline(ctx, p, q, rp, rq, b.cut ? Math.abs(dot(axis, toEye)) : 1);
  const round = Math.hypot(q[0] - p[0], q[1] - p[1]) < 0.3 * Math.max(rp, rq); // a ball, or seen along its axis
  ctx.fillStyle = round ? ballShade(ctx, v, p[2] < q[2] ? p : q, Math.max(rp, rq), colour) :
    limbShade(ctx, v, b, axis, toEye, colour);
  ctx.fill();
  ctx.stroke();
}

/**
 * Adds the outline of two circles and what lies between them. The first circle is
 * squeezed along the line between them, to an ellipse.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Vec} p
 * @param {Vec} q
 * @param {number} rp
 * @param {number} rq
 * @param {number} flat 0 to 1: how far it is squeezed, 1 not
 */
function outline(ctx, p, q, rp, rq, flat) {
  const d = Math.hypot(q[0] - p[0], q[1] - p[1]);
  if (d <= Math.abs(rp - rq) + 0.01) {
    const [c, r] = rp > rq ? [p, rp] : [q, rq];
    ctx.arc(c[0], c[1], r, 0, 2 * Math.PI);
    return;
  }
  const turn = Math.atan2(q[1] - p[1], q[0] - p[0]);
  const open = Math.acos((rp - rq) / d); // from the line to where the sides touch
  ctx.ellipse(p[0], p[1], Math.max(rp * flat, 0.01), rp, turn, open, 2 * Math.PI - open);
  ctx.arc(q[0], q[1], rq, turn - open, turn + open);
  ctx.closePath();
}

/** Where and how light the rings of a ball are, from its brightest point outwards. */
const RINGS = [[0, 1.16], [0.12, 1.1], [0.4, 0.95], [0.75, 0.66], [1, 0.42]];

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} v
 * @param {Vec} at on the canvas
 * @param {number} r pixels
 * @param {string} colour
 */
function ballShade(ctx, v, at, r, colour) {
  const bright = unit(add(sun(v), v.forward, -0.6)); // between the light and the eye
  const [x, y] = [at[0] + 0.75 * r * dot(bright, v.right), at[1] - 0.75 * r * dot(bright, v.up)];
  const g = ctx.createRadialGradient(x, y, 0, x, y, 1.75 * r);
  for (const [stop, s] of RINGS) g.addColorStop(stop, shade(colour, s));
  return g;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} v
 * @param {Body} b
 * @param {Vec} axis unit vector
 * @param {Vec} toEye unit vector
 * @param {string} colour
 */
function limbShade(ctx, v, b, axis, toEye, colour) {
  const to = sun(v);
  const side = unit(cross(toEye, axis));
  const out = cross(side, axis); // the normal that faces the eye, or away from it
  const sign = dot(out, toEye) < 0 ? -1 : 1;
  const [x, y, z] = project(v, mix(b.pts[0], b.pts[1], 0.5));
  const r = (b.r * v.focal) / z;
  const [dx, dy] = [r * dot(side, v.right), -r * dot(side, v.up)];
  const g = ctx.createLinearGradient(x - dx, y - dy, x + dx, y + dy);
  for (let k = -4; k <= 4; k++) {
    const s = k / 4; // sine of the angle from out to side
    const normal = add([s * side[0], s * side[1], s * side[2]], out, sign * Math.sqrt(1 - s * s));
    g.addColorStop((s + 1) / 2, shade(colour, brightness(to, normal)));
  }
  return g;
}
