// @ts-check
// The page after a withdrawal of data: the browser keeps nothing of the session either.
import { forget, storage } from "./outbox.js";

const main = /** @type {HTMLElement} */ (document.querySelector("[data-forget]"));
forget(storage(), main.dataset.forget ?? "");
