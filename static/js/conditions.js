// @ts-check

/**
 * @typedef {import("./wire.js").Conditions} Message
 * @typedef {import("./wire.js").Condition} Condition
 */

/** The section of a session's page that compares its conditions. */
export class Conditions {
  #root;

  /** @param {ParentNode} root where the section is, if the page has it */
  constructor(root) {
    this.#root = /** @type {HTMLElement|null} */ (root.querySelector("[data-conditions]"));
  }

  /** @param {Message} m */
  show(m) {
    const root = this.#root;
    if (!root) return;
    this.#part("sum").textContent = m.sum;
    this.#part("empty").hidden = !m.empty;
    this.#part("empty").textContent = m.empty;
    const equal = root.querySelector("[data-conditions-equal]");
    if (equal && m.equal) equal.textContent = m.equal;
    const body = /** @type {HTMLElement} */ (root.querySelector("tbody"));
    body.replaceChildren(...m.rows.map((row) => line(row, Boolean(equal))));
  }

  /** @param {string} name */
  #part(name) {
    return /** @type {HTMLElement} */ (this.#root?.querySelector(`[data-conditions-${name}]`));
  }
}

/**
 * @param {Condition} row
 * @param {boolean} several
 */
function line(row, several) {
  const tr = document.createElement("tr");
  tr.dataset.condition = row.name;
  const name = document.createElement("td");
  name.append(row.name);
  tr.append(name, ...[row.share, row.questions, row.answers, row.accuracy, row.log_loss, ...(several ? [row.even, row.lead] : [])].map((text) => {
    const td = document.createElement("td");
    td.textContent = text;
    return td;
  }));
  return tr;
}
