// @ts-check

/**
 * Returns a whole number as people read it, with separators from five digits on: "9999", "10,000".
 * @param {number} n
 */
export function count(n) {
  return n < 10_000 ? String(n) : n.toLocaleString("en-US");
}
