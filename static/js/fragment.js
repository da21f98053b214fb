// @ts-check

/**
 * Fetches a part of a page.
 * @param {string} url
 * @returns {Promise<Element|null>} null if there is none, or the server is away
 */
export async function fetchPart(url) {
  try {
    const reply = await fetch(url, { credentials: "same-origin", cache: "no-store" });
    if (!reply.ok) return null;
    return new DOMParser().parseFromString(await reply.text(), "text/html").body.firstElementChild; // runs no script
  } catch {
    return null; // the next change asks again
  }
}
