// @ts-check
// Plays clips of video on a canvas, exact to the frame. It is loaded with the first of them.
import { best, fitting, scaleIn } from "./cameras.js";
import { fetchClip, replayed } from "./clip.js";
import { frameAt } from "./footage.js";

/** @typedef {import("./clip.js").Clip} Clip */
/** @typedef {import("./footage.js").Tape} Tape */

const KEY = "tiebreak.cameras";
const UNPLAYED = "This browser cannot play the video: it shows single pictures of it.";
const START = 8_000; // ms after which a video that does not come is not waited for
const SLOWEST = 0.25; // speed of the video below which each frame is gone to: browsers do not play slower
const CATCH = 0.2; // seconds in which a video that is behind or ahead is brought back
const FAR = 0.6; // seconds from which on it jumps there
const EARLY = 0.1; // part of a frame by which its time may be too early: WebM counts milliseconds
const STALE = 15; // frames by which it may be behind: more says that the browser does not tell
const GROUND = "#1c2027"; // beside the pictures
const LIKE = 0.02; // share by which two speeds may differ

/** @type {Map<string, Promise<boolean>>} */ const works = new Map(); // by media type, whether a video of it was played
/** @type {WeakMap<Clip[], Pair>} */ const pairs = new WeakMap(); // of clips that are beside each other
let choice = ""; // which camera is large, "all" for none, "" as the room has it
try {
  choice = sessionStorage.getItem(KEY) ?? "";
} catch {
  // switched off
}
let shown = "all"; // what is shown where nothing was chosen

/**
 * Makes a clip one of video. Where the video cannot be played it has that of another codec, or single pictures, from the server.
 * @param {Clip} clip
 * @param {Tape} tape
 * @param {string} url of the clip; empty if it is not known
 */
export async function tape(clip, tape, url) {
  const footage = /** @type {import("./footage.js").Footage} */ (clip.footage);
  if (tape.video && !(await playable(tape.video))) {
    const other = url ? await fetchClip(replayed(url, tape.video.type)) : null;
    if (other) return void Object.assign(clip, other);
    tape = { ...tape, video: undefined };
  }
  footage.tape = tape;
  footage.painter = (c, beside = [c]) => new VideoPainter(c, tape, pairs.get(beside) ?? pairs.set(beside, new Pair()).get(beside));
  if (!tape.video) clip.note = [clip.note, UNPLAYED].join(" ").trim();
}

/** @param {Blob} video */
function playable(video) {
  const known = works.get(video.type);
  if (known) return known;
  const el = element(video);
  const result = settled(el).then((ok) => (dismiss(el), ok));
  works.set(video.type, result);
  return result;
}

/** A video that is in no page. @param {Blob} file */
function element(file) {
  const v = document.createElement("video");
  v.muted = v.defaultMuted = v.playsInline = true;
  v.preload = "auto";
  v.src = URL.createObjectURL(file);
  v.load();
  return v;
}

/** @param {HTMLVideoElement} v */
function dismiss(v) {
  const { src } = v;
  v.pause();
  v.removeAttribute("src");
  v.load();
  URL.revokeObjectURL(src);
}

/** Whether the first picture of a video has come. @param {HTMLVideoElement} v @returns {Promise<boolean>} */
function settled(v) {
  return new Promise((resolve) => {
    if (v.readyState >= 2) return resolve(true);
    v.addEventListener("loadeddata", () => resolve(true), { once: true });
    v.addEventListener("error", () => resolve(false), { once: true });
    setTimeout(() => resolve(v.readyState >= 1), START);
  });
}

/** The clips that are beside each other: they take their pictures together, so that these are never more than a frame apart. */
class Pair {
  /** @type {Set<VideoPainter>} */ members = new Set();
  #drawn = 0;

  /** One of them was drawn. After the last, all that play take their pictures, if these are at most one frame apart. */
  drawn() {
    this.#drawn = (this.#drawn + 1) % this.members.size;
    if (this.#drawn !== 0) return;
    const moving = [...this.members].filter((p) => p.moving);
    const frames = moving.map((p) => p.grab());
    const alike = Math.max(...frames) - Math.min(...frames) <= 1;
    for (const p of moving) p.take(alike);
    this.rest();
  }

  /** Those that rest take their pictures once all of them are where they were sent, and go on to where they are wanted. */
  rest() {
    const resting = [...this.members].filter((p) => !p.moving);
    for (let there = true; there;) {
      if (resting.some((p) => p.busy)) return;
      for (const p of resting) p.land();
      for (const p of resting) p.send();
      there = resting.some((p) => p.fresh); // they were there already
    }
  }
}

/**
 * Draws a clip of video. While it plays, the video follows the player's clock; else the video goes to the frame, and the
 * last picture stays until it is there.
 */
export class VideoPainter {
  /** @type {HTMLVideoElement|undefined} */ #video;
  /** @type {ImageBitmap[]} */ #stills = [];
  #shown = document.createElement("canvas"); // the last picture of the video
  #has = -2; // its frame; -1: not known, -2: there is none
  #at = -1; // frame at which the video rests; -1: not known
  #goal = -1; // frame to which it goes; -1 if it goes nowhere, or was moved while it plays
  #going = false;
  fresh = false; // its picture is to be taken as soon as it is there
  #want = 0; // frame to show
  moving = false; // it follows the clock
  #ahead = false; // the next frame is the first: it may go there while the last one stays
  #stuck = false; // the browser does not let it play: every frame is gone to
  /** @type {VideoFrame|undefined} */ #grabbed;
  #painted = -1; // frame that the browser says it painted last
  #open = new AbortController();
  /** @type {CanvasRenderingContext2D|undefined} */ #ctx;

  /**
   * @param {Clip} clip
   * @param {Tape} tape
   * @param {Pair} [pair] with the clips beside it
   */
  constructor(clip, tape, pair = new Pair()) {
    this.clip = clip;
    this.tape = tape;
    this.pair = pair;
    /** Settles when the first frame can be drawn; it is rejected if a picture cannot be decoded. */
    this.ready = this.#start();
    this.ready.catch(() => {}); // whoever waits hears of it
  }

  async #start() {
    const { signal } = this.#open;
    const { video, w, h } = this.tape;
    const begun = video && this.#load(video, signal);
    Object.assign(this.#shown, { width: w, height: h });
    const files = this.clip.footage?.pictures ?? [];
    const stills = await Promise.all(files.map((f) => createImageBitmap(f)));
    if (signal.aborted) return stills.forEach((b) => b.close());
    this.#stills = stills;
    this.#paint();
    await begun;
  }

  /** @param {Blob} file @param {AbortSignal} signal */
  #load(file, signal) {
    const v = this.#video = element(file);
    this.pair.members.add(this);
    v.addEventListener("seeked", () => this.#arrived(), { signal });
    const painted = (/** @type {number} */ _, /** @type {VideoFrameCallbackMetadata} */ { mediaTime }) => {
      this.#painted = Math.round(mediaTime / this.tape.dt);
      if (this.#at >= 0 && this.#has === this.#at && !this.#going && !this.moving) this.#take(v, this.#at); // WebKit may say that it is there before its picture is
      v.requestVideoFrameCallback(painted);
    };
    v.requestVideoFrameCallback?.(painted);
    v.addEventListener("error", () => this.pair.members.delete(this), { signal });
    v.addEventListener("canplay", () => this.#arrived(), { signal }); // its picture may come after that
    document.addEventListener("visibilitychange", () => document.hidden && v.pause(), { signal });
    return settled(v);
  }

  /** Frees what it holds. */
  close() {
    this.#open.abort();
    this.pair.members.delete(this);
    if (this.#video) dismiss(this.#video);
    this.#video = undefined;
    for (const b of this.#stills) b.close();
    this.#stills = [];
    this.#ctx = undefined;
  }

  /**
   * Draws a frame, now or as soon as the video is there.
   * @param {CanvasRenderingContext2D} ctx
   * @param {number} frame 0 to frames - 1
   * @param {import("./draw.js").Palette} _colours
   * @param {number} [speed] see Painter
   */
  draw(ctx, frame, _colours, speed) {
    this.#ctx = ctx;
    this.#want = frameAt(this.clip, frame);
    const rate = (speed ?? 0) * this.tape.pace;
    this.moving = rate >= SLOWEST && !this.#stuck && this.#want < this.clip.frames - 1;
    this.#ahead = speed === 0;
    if (this.#video && this.moving) this.#follow(this.#video, frame, rate);
    else if (this.#video && !this.#video.paused) this.#video.pause();
    this.#paint();
    if (this.pair.members.has(this)) this.pair.drawn();
  }

  /**
   * Plays at a rate, and faster or slower for a moment if it is off the clock.
   * @param {HTMLVideoElement} v
   * @param {number} frame
   * @param {number} rate
   */
  #follow(v, frame, rate) {
    const time = frame * this.tape.dt;
    this.#at = -1;
    this.fresh = false;
    if (v.readyState < 1 || v.seeking) return;
    const behind = (time - v.currentTime) / rate;
    if (v.ended || Math.abs(behind) > FAR) return this.#go(v, -1, time);
    const factor = Math.abs(time - v.currentTime) < this.tape.dt / 4 ? 1 : Math.max(0.25, Math.min(1 + behind / CATCH, 3));
    if (Math.abs(v.playbackRate - rate * factor) > LIKE * rate) this.#pace(v, rate * factor);
    if (v.paused) v.play().catch((e) => (this.#stuck ||= e.name === "NotAllowedError"));
  }

  /** Has hold of the picture that the video is at, and returns its frame; none while it goes elsewhere. */
  grab() {
    const v = this.#video;
    if (!v || v.seeking || v.readyState < 2) return NaN;
    let time = v.currentTime;
    if ("VideoFrame" in window) { // the time of the element may be a little ahead of its picture
      try {
        this.#grabbed = new VideoFrame(v);
        time = this.#grabbed.timestamp / 1e6;
      } catch {
        return NaN; // it has none yet
      }
    }
    const part = time / this.tape.dt;
    const begins = Math.abs(part - Math.round(part)) < EARLY; // else it is the time of the element, as in Firefox
    const known = this.#painted >= 0 && Math.abs(part - this.#painted) < STALE;
    return begins || !known ? Math.floor(part + EARLY) : this.#painted;
  }

  /** @param {boolean} wanted whether to show what grab has hold of */
  take(wanted) {
    if (wanted && this.#video) {
      this.#take(this.#grabbed ?? this.#video, -1);
    }
    this.#grabbed?.close();
    this.#grabbed = undefined;
  }

  /** @param {HTMLVideoElement} v @param {number} rate */
  #pace(v, rate) {
    try {
      v.playbackRate = rate;
    } catch {
      this.#stuck = true;
    }
  }

  /** Whether the video is on its way to a frame, or has no picture of it yet. */
  get busy() {
    const v = this.#video;
    return v !== undefined && (this.#going || v.readyState < (this.fresh ? 2 : 1));
  }

  /** Takes the picture of the frame that the video was sent to. */
  land() {
    if (!this.#video || !this.fresh) return;
    this.fresh = false;
    this.#take(this.#video, this.#at);
  }

  /** Sends the video to the frame that is wanted, or that will be. */
  send() {
    const v = this.#video;
    const there = this.#has === this.#want;
    const next = there ? 0 : this.#want;
    if (!v || there && !this.#ahead) return;
    if (this.#at !== next) this.#go(v, next, (next + 0.5) * this.tape.dt);
    this.fresh = !there;
  }

  /** @param {HTMLVideoElement} v @param {number} frame @param {number} time */
  #go(v, frame, time) {
    this.#going = true;
    this.#goal = frame;
    if (v.ended) { // from there WebKitGTK goes nowhere before it is told to play
      v.play().catch(() => {});
      v.pause();
    }
    v.currentTime = time;
  }

  /** The video is where it was sent to, or has a picture. */
  #arrived() {
    if (this.#video?.seeking) return;
    if (this.#going) this.#at = this.moving ? -1 : this.#goal;
    this.#going = false;
    if (!this.moving) this.pair.rest();
  }

  /** Takes a picture, and shows it. @param {HTMLVideoElement|VideoFrame} from @param {number} frame that it is, -1 if that is not known */
  #take(from, frame) {
    if ("readyState" in from && from.readyState < 2) return;
    this.#shown.getContext("2d", { alpha: false })?.drawImage(from, 0, 0, this.#shown.width, this.#shown.height);
    this.#has = frame;
    this.#paint();
  }

  #paint() {
    const ctx = this.#ctx;
    if (!ctx) return;
    const still = this.#stills[this.clip.footage?.show[this.#want] ?? 0];
    const picture = this.#has > -2 ? this.#shown : still;
    const { width, height } = ctx.canvas;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = GROUND;
    ctx.fillRect(0, 0, width, height);
    if (!picture) return;
    const plan = fitting(this.tape.cameras, choice, width / height);
    if (!choice && shown !== plan.choice) {
      shown = plan.choice;
      this.#nameAll();
    }
    const scale = scaleIn(plan, width, height);
    const [left, top] = [(width - plan.w * scale) / 2, (height - plan.h * scale) / 2];
    const [kx, ky] = [picture.width / this.tape.w, picture.height / this.tape.h];
    ctx.imageSmoothingQuality = "high";
    for (const { camera: c, x, y, w, h } of plan.cells) {
      ctx.drawImage(picture, c.x * kx, c.y * ky, c.w * kx, c.h * ky, left + x * scale, top + y * scale, w * scale, h * scale);
    }
  }

  /** @param {number} width @param {number} height CSS pixels */
  ratio(width, height) {
    const plan = best(this.tape.cameras, choice, width, height);
    return plan.w / plan.h;
  }

  /** Shows another camera large, and all of one size after the last. */
  turn() {
    const { cameras } = this.tape;
    if (cameras.length < 2) return;
    const all = ["all", ...cameras.keys()].map(String);
    choice = all[(all.indexOf(choice || shown) + 1) % all.length];
    this.#nameAll();
    try {
      sessionStorage.setItem(KEY, choice);
    } catch {
      // full or switched off
    }
  }

  /**
   * Adds the button that changes the view to a player.
   * @param {HTMLElement} player
   * @param {() => void} change
   */
  attach(player, change) {
    if (this.tape.cameras.length < 2) return;
    player.dataset.cameras = `${this.tape.cameras.length}`;
    let button = player.querySelector("button.views");
    if (!button) {
      button = Object.assign(document.createElement("button"), { type: "button", className: "views" });
      button.addEventListener("mousedown", (e) => e.preventDefault()); // a click must not take the focus: the arrows are for answers
      button.addEventListener("click", change);
      player.querySelector(".transport")?.append(button);
    }
    if (player.hasAttribute("keys")) button.setAttribute("aria-keyshortcuts", "V");
    this.#name(button);
  }

  #nameAll() {
    for (const button of document.querySelectorAll("button.views")) this.#name(button);
  }

  /** Says on the button which camera is large. @param {Element} button */
  #name(button) {
    const { cameras } = this.tape;
    const now = choice || shown;
    const name = now === "all" ? "All" : cameras[Number(now)]?.name || `${Number(now) + 1}`;
    const names = cameras.map((c, i) => c.name || `${i + 1}`).join(", ");
    const key = document.createElement("kbd");
    key.textContent = "V";
    key.setAttribute("aria-hidden", "true");
    const text = (/** @type {string} */ textContent, className = "sr") => Object.assign(document.createElement("span"), { textContent, className });
    const said = [text("Cameras: "), text(name, ""), text(now === "all" ? ` of one size (${names})` : " large")];
    button.replaceChildren(...(button.hasAttribute("aria-keyshortcuts") ? [key] : []), ...said);
    button.setAttribute("title", "Show another camera large");
  }
}
