// @ts-check
// Draws frames of clips of solid scenes: a floor in perspective, marks on it, and
// bodies with their shadows. Knows shapes and paints, no environment.
import { bodies, order } from "./bodies.js";
import { path, Pose } from "./clip.js";
import { blend, veil } from "./colour.js";
import { paintBody, paintShadows } from "./lighting.js";
import { add, cross, disc, dot, look, points, row, trace, unit } from "./view.js";

/** @typedef {import("./clip.js").Clip} Clip */
/** @typedef {import("./clip.js").Shape} Shape */
/** @typedef {import("./draw.js").Palette} Palette */
/** @typedef {import("./view.js").Vec} Vec */
/** @typedef {import("./view.js").View} View */

/** Draws one clip of solid scenes. Build it once for a clip. */
export class SolidPainter {
  /** @param {Clip} clip */
  constructor(clip) {
    this.clip = clip;
    this.pose = new Pose(clip);
    this.floor = clip.still.find((s) => s.k === "checker");
    this.trails = this.pose.shapes.filter((s) => s.trail).map((shape) => ({ shape, path: path(clip, shape) }));
    /** @type {Promise<unknown>|undefined} */ this.ready = undefined; // at once
  }

  close() {}

  /**
   * Draws the clip at a frame, which may lie between two, so that the camera's
   * view fills the canvas.
   * @param {CanvasRenderingContext2D} ctx
   * @param {number} frame 0 to frames - 1
   * @param {Palette} colours
   */
  draw(ctx, frame, colours) {
    this.pose.go(frame);
    const v = look(this.clip, [...this.pose.points.subarray(0, 3)], ctx.canvas.width, ctx.canvas.height);
    const ground = this.floor ? points(this.floor)[0][2] : 0;
    const shapes = [...this.clip.still, ...this.pose.shapes];
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.lineJoin = "round";
    paintWorld(ctx, v, colours, ground);
    if (this.floor) paintChecker(ctx, v, colours, this.floor);
    const onGround = (/** @type {Shape} */ s) => points(s).every((p) => p[2] < ground + this.clip.w / 100);
    for (const s of this.clip.still) if (onGround(s)) paintDecal(ctx, v, colours, s, [0, 0, 1]);
    for (const t of this.trails) {
      paintTrail(ctx, v, colours[t.shape.p], trodden(t.path, frame, points(t.shape), ground), this.clip.w / 110);
    }
    for (const s of this.pose.shapes) if (onGround(s)) paintDecal(ctx, v, colours, s, [0, 0, 1]);
    paintHaze(ctx, v, colours, ground);
    for (const s of shapes) if (!onGround(s)) paintDecal(ctx, v, colours, s, v.forward);
    const all = bodies(v, shapes);
    if (this.floor) paintShadows(ctx, v, all, ground, colours);
    for (const b of order(v, all)) paintBody(ctx, v, b, colours[b.shape.p]);
  }
}

/** Colour of the horizon. @param {Palette} colours */
const horizonColour = (colours) => blend(colours.ground, colours.surface, 0.35);

/** Depth at which the ground has vanished in the haze. @param {View} v */
const vanishing = (v) => 200 * v.near;

/**
 * Paints sky and ground.
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} v
 * @param {Palette} colours
 * @param {number} ground height of it
 */
function paintWorld(ctx, v, colours, ground) {
  const h = v.eye[2] - ground;
  const horizon = h > 0 ? row(v, h, Infinity) : v.height;
  ctx.fillStyle = colours.surface;
  ctx.fillRect(0, 0, v.width, v.height);
  if (horizon <= 0) return;
  const sky = ctx.createLinearGradient(0, Math.min(0, horizon - v.height), 0, horizon);
  sky.addColorStop(0, colours.ground);
  sky.addColorStop(1, horizonColour(colours));
  ctx.fillStyle = sky;
  ctx.fillRect(0, 0, v.width, horizon);
}

/**
 * Paints over the ground what lies between it and the eye: nothing up to a quarter
 * of the depth at which it vanishes.
 * @type {typeof paintWorld}
 */
function paintHaze(ctx, v, colours, ground) {
  const h = v.eye[2] - ground;
  if (h <= v.near) return;
  const far = vanishing(v);
  const [horizon, top, clear] = [row(v, h, Infinity), row(v, h, far), row(v, h, far / 4)];
  const fog = ctx.createLinearGradient(0, top, 0, clear);
  for (let k = 0; k <= 4; k++) {
    const y = row(v, h, far * (1 - (0.75 * k) / 4));
    fog.addColorStop(Math.min(1, (y - top) / (clear - top)), veil(horizonColour(colours), (1 - k / 4) ** 1.5));
  }
  ctx.fillStyle = horizonColour(colours);
  ctx.fillRect(0, horizon, v.width, top - horizon);
  ctx.fillStyle = fog;
  ctx.fillRect(0, top, v.width, clear - top);
}

/**
 * Paints every other square of an endless floor. Every other strip along x and
 * along y is filled, so that where two overlap they cancel.
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} v
 * @param {Palette} colours
 * @param {Shape} floor
 */
function paintChecker(ctx, v, colours, floor) {
  const [[x0, y0, z0]] = points(floor);
  const size = floor.s ?? 1;
  if (v.eye[2] - z0 <= v.near) return;
  const spot = seen(v, v.eye[2] - z0);
  const [i0, j0, i1, j1] = [spot[0] - x0, spot[1] - y0, spot[2] - x0, spot[3] - y0].map((d) => Math.floor(d / size));
  if (i1 - i0 + j1 - j0 > 500) return; // squares too small to see
  const rectangle = (/** @type {number} */ xa, /** @type {number} */ ya, /** @type {number} */ xb, /** @type {number} */ yb) =>
    trace(ctx, v, [[xa, ya], [xb, ya], [xb, yb], [xa, yb]].map(([x, y]) => [x0 + x * size, y0 + y * size, z0]));
  ctx.beginPath();
  for (let i = i0; i <= i1; i++) if (i % 2) rectangle(i, j0, i + 1, j1 + 1);
  for (let j = j0; j <= j1; j++) if (j % 2) rectangle(i0, j, i1 + 1, j + 1);
  ctx.fillStyle = blend(colours[floor.p], colours.mark, 0.44);
  ctx.fill("evenodd");
}

/**
 * A rectangle around what is to be seen of a level plane h below the eye: least x,
 * least y, greatest x, greatest y.
 * @param {View} v
 * @param {number} h
 */
function seen(v, h) {
  const out = [Infinity, Infinity, -Infinity, -Infinity];
  for (const x of [-v.width / 2, v.width / 2]) {
    for (const y of [-v.height / 2, v.height / 2]) {
      const ray = add(add(v.forward, v.right, x / v.focal), v.up, y / v.focal);
      const z = ray[2] < 0 ? Math.min(vanishing(v), -h / ray[2]) : vanishing(v);
      const p = add(v.eye, ray, z);
      out[0] = Math.min(out[0], p[0]);
      out[1] = Math.min(out[1], p[1]);
      out[2] = Math.max(out[2], p[0]);
      out[3] = Math.max(out[3], p[1]);
    }
  }
  return out;
}

/**
 * Paints a polygon, polyline or circle; nothing for other shapes.
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} v
 * @param {Palette} colours
 * @param {Shape} s
 * @param {Vec} normal of the plane that a line widens in
 */
function paintDecal(ctx, v, colours, s, normal) {
  if (s.k !== "poly" && s.k !== "line" && s.k !== "circle") return;
  const pts = points(s);
  const size = s.s ?? 0;
  ctx.beginPath();
  trace(ctx, v, s.k === "poly" ? pts : s.k === "line" ? strip(pts, size, normal) : disc(pts[0], size, 32));
  ctx.fillStyle = colours[s.p];
  ctx.fill();
}

/**
 * The outline of a line of a width.
 * @param {Vec[]} pts
 * @param {number} width
 * @param {Vec} normal of the plane that it widens in
 * @returns {Vec[]}
 */
function strip(pts, width, normal) {
  const line = pts.filter((p, i) => i === 0 || Math.hypot(...add(p, pts[i - 1], -1)) > 0);
  const sides = line.slice(1).map((p, i) => unit(cross(add(p, line[i], -1), normal)));
  if (sides.length === 0) return [];
  const edges = line.map((p, i) => {
    const [a, b] = [sides[Math.max(0, i - 1)], sides[Math.min(i, sides.length - 1)]];
    const mitre = unit(add(a, b));
    const reach = width / 2 / Math.max(0.5, dot(mitre, b)); // not too long a one at a sharp turn
    return [add(p, mitre, reach), add(p, mitre, -reach)];
  });
  return [...edges.map((e) => e[0]), ...edges.reverse().map((e) => e[1])];
}

/**
 * The way on the ground that the centre of a shape has gone since the clip began.
 * @param {Float32Array} way x y z of every frame
 * @param {number} frame
 * @param {Vec[]} now points of the shape
 * @param {number} ground
 * @returns {Vec[]}
 */
function trodden(way, frame, now, ground) {
  const out = [];
  for (let f = 0; f <= frame; f++) out.push([way[3 * f], way[3 * f + 1], ground]);
  const [x, y] = now.reduce((sum, p) => add(sum, p, 1 / now.length), [0, 0, 0]);
  return [...out, [x, y, ground]];
}

/**
 * Paints a way, older parts fainter.
 * @param {CanvasRenderingContext2D} ctx
 * @param {View} v
 * @param {string} colour
 * @param {Vec[]} way
 * @param {number} width
 */
function paintTrail(ctx, v, colour, way, width) {
  const far = [way[0]]; // points that are apart, so that its edges do not fold
  for (const p of way) if (Math.hypot(...add(p, far[far.length - 1], -1)) > width / 2) far.push(p);
  const parts = 8;
  const n = far.length - 1;
  for (let p = 0; p < parts; p++) {
    ctx.beginPath();
    trace(ctx, v, strip(far.slice(Math.floor((n * p) / parts), Math.floor((n * (p + 1)) / parts) + 1), width, [0, 0, 1]));
    ctx.fillStyle = veil(colour, 0.12 + (0.5 * (p + 1)) / parts);
    ctx.fill();
  }
}
