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
 * @returns {Promise<{clip: Clip, alike: boolean}>}
 */
export async function counterpart(clip, urls, fetch) {
  const first = await fetch(urls[0]);
  if (await beginAlike(clip, first)) return { clip: first, alike: true };
  for (const url of urls.slice(1, LOOKED_AT)) {
    const other = await fetch(url);
    if (await beginAlike(clip, other)) return { clip: other, alike: true };
  }
  return { clip: first, alike: false };
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
