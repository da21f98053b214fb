// @ts-check
// Draws frames of clips on a 2-D canvas. Knows shapes and paints, no environment.
import { path, Pose } from "./clip.js";
import { SolidPainter } from "./solid.js";

/** @typedef {import("./clip.js").Clip} Clip */
/** @typedef {import("./clip.js").Shape} Shape */
/** @typedef {Record<string, string>} Palette  CSS colour of each paint */
/**
 * @typedef {object} Painter
 * @property {Clip} clip
 * @property {Promise<unknown>} [ready]
 * @property {(ctx: CanvasRenderingContext2D, frame: number, colours: Palette, speed?: number) => void} draw speed: at which the clip plays
 *   now; 0 while it rests at its end, undefined at rest
 * @property {() => void} close
 * @property {(width: number, height: number) => number} [ratio] width to height of the canvas that shows most in a room; else that of the clip
 * @property {(player: HTMLElement, change: () => void) => void} [attach] adds its controls to a player
 * @property {() => void} [turn] shows it in another way
 */

const PAINTS = ["ground", "surface", "mark", "detail", "wall", "agent", "agentfg", "other", "otherfg", "focus", "ink",
  ...Array.from({ length: 10 }, (_, i) => `object${i}`)];

/**
 * Reads the theme's colours, custom properties --paint-*, as they are for el now.
 * @param {Element} el
 * @returns {Palette}
 */
export function palette(el) {
  const style = getComputedStyle(el);
  return Object.fromEntries(PAINTS.map((p) => [p, style.getPropertyValue(`--paint-${p}`).trim() || "#888"]));
}

/**
 * What draws a clip: build it once for the clip, wait until it is ready, and close it.
 * @param {Clip} clip
 * @param {Clip[]} [beside] the clips beside it, of pictures: they show the same part
 * @param {number[]} [seen] of pictures, as Query says
 * @returns {Painter}
 */
export function painter(clip, beside, seen) {
  if (clip.footage) return clip.footage.painter(clip, beside, seen);
  return clip.distance > 0 ? new SolidPainter(clip) : new FlatPainter(clip);
}

/** Draws one clip of flat scenes. Build it once for a clip; draw allocates nothing that grows. */
class FlatPainter {
  /** @param {Clip} clip */
  constructor(clip) {
    this.clip = clip;
    this.pose = new Pose(clip);
    const label = (/** @type {Shape} */ s) => s.k === "text";
    this.still = batches(clip.still.filter((s) => !label(s)));
    this.labels = batches(clip.still.filter(label)); // over trails, so that they stay readable
    this.trails = trails(this.pose);
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
    const { width, height } = ctx.canvas;
    this.pose.go(frame);
    const [x, y] = this.pose.points;
    const scale = width / this.clip.w;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = colours.ground;
    ctx.fillRect(0, 0, width, height);
    ctx.setTransform(scale, 0, 0, -scale, width / 2 - x * scale, height / 2 + y * scale); // y is up
    ctx.lineJoin = "round";
    ctx.lineCap = "round";
    for (const b of this.still) paintBatch(ctx, b, colours);
    for (const t of this.trails) paintTrail(ctx, t, frame, colours, Math.max(this.clip.w / 110, 1.5 / scale));
    for (const b of this.labels) paintBatch(ctx, b, colours);
    for (const s of this.pose.shapes) paintBatch(ctx, one(s), colours);
  }
}

/**
 * @typedef {object} Batch  shapes that are painted in one go
 * @property {Shape["k"]} k
 * @property {string} p
 * @property {number} s
 * @property {Path2D} path of all but text
 * @property {string} t
 * @property {number} x of a text, world units
 * @property {number} y
 */

/**
 * @param {Shape} s
 * @returns {Batch}
 */
function one(s) {
  const pts = s.pts ?? [];
  const b = { k: s.k, p: s.p, s: s.s ?? 0, path: new Path2D(), t: s.t ?? "", x: pts[0], y: pts[1] };
  trace(b.path, s, pts);
  return b;
}

/**
 * Joins neighbours of the same kind, paint and size into one path.
 * @param {Shape[]} shapes
 */
function batches(shapes) {
  /** @type {Batch[]} */
  const out = [];
  for (const s of shapes) {
    const last = out.at(-1);
    if (last && s.k !== "text" && last.k === s.k && last.p === s.p && (last.s === (s.s ?? 0) || s.k !== "line")) {
      trace(last.path, s, s.pts ?? []);
    } else {
      out.push(one(s));
    }
  }
  return out;
}

/**
 * @param {Path2D} path
 * @param {Shape} s
 * @param {ArrayLike<number>} pts
 */
function trace(path, s, pts) {
  if (s.k === "text" || pts.length < 2) return;
  if (s.k === "circle") {
    path.moveTo(pts[0] + (s.s ?? 0), pts[1]);
    path.arc(pts[0], pts[1], s.s ?? 0, 0, 2 * Math.PI);
    return;
  }
  path.moveTo(pts[0], pts[1]);
  for (let i = 2; i < pts.length; i += 2) path.lineTo(pts[i], pts[i + 1]);
  if (s.k === "poly") path.closePath();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Batch} b
 * @param {Palette} colours
 */
function paintBatch(ctx, b, colours) {
  if (b.k === "text") {
    paintText(ctx, b, colours);
  } else if (b.k === "line") {
    ctx.strokeStyle = colours[b.p];
    ctx.lineWidth = b.s;
    ctx.stroke(b.path);
  } else {
    ctx.fillStyle = colours[b.p];
    ctx.fill(b.path);
  }
}

/**
 * Text stands upright although y is up, and is set in pixels: browsers refuse
 * fonts of less than one.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Batch} b
 * @param {Palette} colours
 */
function paintText(ctx, b, colours) {
  const m = ctx.getTransform();
  ctx.save();
  ctx.setTransform(1, 0, 0, 1, m.a * b.x + m.e, m.d * b.y + m.f);
  ctx.font = `600 ${(b.s * m.a).toFixed(1)}px system-ui, sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  ctx.fillStyle = colours[b.p];
  ctx.fillText(b.t, 0, 0.36 * b.s * m.a); // capitals are about 0.72 em high
  ctx.restore();
}

/**
 * @typedef {object} Trail
 * @property {Shape} shape with the points of the pose
 * @property {Float32Array} path centre in every frame, x y
 */

/**
 * @param {Pose} pose
 * @returns {Trail[]}
 */
function trails({ clip, shapes }) {
  if (clip.frames < 2) return [];
  return shapes.filter((s) => s.trail).map((shape) => ({ shape, path: path(clip, shape) }));
}

/**
 * @param {ArrayLike<number>} pts x0 y0 x1 y1 …
 * @returns {[number, number]}
 */
function centre(pts) {
  let x = 0;
  let y = 0;
  for (let i = 0; i < pts.length; i += 2) {
    x += pts[i];
    y += pts[i + 1];
  }
  const n = pts.length / 2;
  return [x / n, y / n];
}

/**
 * Draws where a shape has been since the clip began, older parts fainter.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Trail} t
 * @param {number} frame
 * @param {Palette} colours
 * @param {number} width world units
 */
function paintTrail(ctx, t, frame, colours, width) {
  const whole = Math.floor(frame);
  const end = centre(t.shape.pts ?? []);
  const parts = 8;
  ctx.save();
  ctx.strokeStyle = colours[t.shape.p];
  ctx.lineWidth = width;
  ctx.lineCap = "butt";
  for (let p = 0; p < parts; p++) {
    const from = Math.floor((whole * p) / parts);
    const to = Math.floor((whole * (p + 1)) / parts);
    ctx.globalAlpha = 0.12 + (0.5 * (p + 1)) / parts;
    ctx.beginPath();
    ctx.moveTo(t.path[2 * from], t.path[2 * from + 1]);
    for (let f = from + 1; f <= to; f++) ctx.lineTo(t.path[2 * f], t.path[2 * f + 1]);
    if (p === parts - 1) ctx.lineTo(end[0], end[1]);
    ctx.stroke();
  }
  ctx.restore();
}
