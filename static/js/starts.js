// @ts-check
/** @typedef {import("./clip.js").Clip} Clip */

/** Clips of a policy, at most, among which one is sought that begins as another does: each of them is fetched. */
export const LOOKED_AT = 12;

/**
 * Whether two clips begin with the same picture.
 * @param {Clip} a
 * @param {Clip} b
 */
export async function beginAlike(a, b) {
  if (a.columns !== b.columns || a.w !== b.w || a.h !== b.h || JSON.stringify([a.still, a.moving]) !== JSON.stringify([b.still, b.moving])) return false;
  for (let k = 0; k < a.columns; k++) if (a.data[k] !== b.data[k]) return false;
  const [one, other] = await Promise.all([a, b].map(picture));
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}

/**
 * The file of the first picture of a clip; empty where it is drawn.
 * @param {Clip} clip
 */
async function picture({ footage }) {
  const first = footage?.pictures[footage.show[0]];
  return new Uint8Array(first ? await first.arrayBuffer() : []);
}

/**
 * Finds the first of some clips that begins as another one does; else it is the first of them.
 * @param {Clip} clip
 * @param {string[]} urls the likeliest first, at least one
 * @param {(url: string) => Promise<Clip>} fetch
 * @param {string} [named] the first of urls that recordings say begins as clip does, if there is one: then pictures are not compared
 * @returns {Promise<{clip: Clip, by: "start"|"picture"|""}>} by what they are paired; empty if they do not begin alike
 */
export async function counterpart(clip, urls, fetch, named) {
  if (named) return { clip: await fetch(named), by: "start" };
  const first = await fetch(urls[0]);
  if (await beginAlike(clip, first)) return { clip: first, by: "picture" };
  for (const url of urls.slice(1, LOOKED_AT)) {
    const other = await fetch(url);
    if (await beginAlike(clip, other)) return { clip: other, by: "picture" };
  }
  return { clip: first, by: "" };
}

/**
 * The first of some clips that begins from the same start as another one, as recordings say.
 * @param {string} begins what the other one begins from; "?" or nothing where that is not known
 * @param {Map<string, string>} starts what each clip begins from, by its address
 */
export function named(begins, starts) {
  if (begins === "" || begins === "?") return undefined;
  return [...starts].find(([, is]) => is === begins)?.[0];
}

/** What is to be said of two recordings that are paired. @param {"start"|"picture"} by */
export function paired(by) {
  return by === "start" ? "Paired by the start that the recordings name." : "Paired by the first picture: the recordings name no start that both have.";
}

/**
 * What is to be said of two clips that do not begin alike.
 * @param {string} name of the policy beside the recommended one
 * @param {number} clips how many it has
 */
export function apart(name, clips) {
  const none = clips === 1 ? `the one clip of ${name} has another start` : `none of the ${clips > LOOKED_AT ? `first ${LOOKED_AT} ` : ""}clips of ${name} has this start`;
  return `These begin at different places: ${none}.`;
}
