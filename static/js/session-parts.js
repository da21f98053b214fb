// @ts-check

/**
 * A part of a session's page, which not all of its pages have.
 * @param {string} name of a data attribute
 * @returns {HTMLElement|null}
 */
export function part(name) {
  return document.querySelector(`[data-${name}]`);
}

/**
 * Writes a text in a part, if the page has it; a part without a text is hidden.
 * @param {string} name of a data attribute
 * @param {string} text
 */
export function say(name, text) {
  const el = part(name);
  if (!el) return;
  if (el.textContent !== text) el.textContent = text; // what is read aloud is read once
  el.hidden = text === "";
}

/** What stands in place of clips of policies before there are any. */
export const UNTRAINED = "Shown as soon as the first candidates are trained.";

/**
 * @param {string} name of the data attribute of a progress bar
 * @param {number} value
 * @param {number} max 0 hides the bar
 */
export function bar(name, value, max) {
  const el = /** @type {HTMLProgressElement|null} */ (part(name));
  if (!el) return;
  el.hidden = !(max > 0);
  el.max = Math.max(1, max);
  el.value = value;
}

/**
 * @typedef {{cells: (string|Node)[], dim?: boolean}} Row
 * @param {string} name of the data attribute of a table
 * @param {Row[]} list
 */
export function rows(name, list) {
  part(name)?.querySelector("tbody")?.replaceChildren(...list.map(({ cells, dim }) => {
    const tr = document.createElement("tr");
    tr.classList.toggle("dim", Boolean(dim));
    for (const c of cells) {
      const td = document.createElement("td");
      td.append(c);
      tr.append(td);
    }
    return tr;
  }));
}

/** @param {number} ms */
export function seconds(ms) {
  return ms > 0 ? `${(ms / 1000).toFixed(1)} s` : "–";
}

/**
 * @param {string} href
 * @param {string} text
 */
export function link(href, text) {
  const a = document.createElement("a");
  a.href = href;
  a.textContent = text;
  return a;
}
