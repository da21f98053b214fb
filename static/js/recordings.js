// @ts-check

/** How often the page asks how far an import is, ms. */
const EVERY = 2000;

/**
 * Puts the progress of the imports of another copy of the page into this one. Where an import has begun, told its plan or ended, the whole page
 * is loaded again: false is returned.
 * @param {ParentNode} here @param {ParentNode} there
 */
export function follow(here, there) {
	const texts = (/** @type {ParentNode} */ of) => [...of.querySelectorAll("[data-progress]")];
	const [old, now] = [texts(here), texts(there)];
	const plans = (/** @type {ParentNode} */ of) => of.querySelectorAll("[data-plan]").length;
	if (old.length !== now.length || plans(here) !== plans(there)) return false;
	old.forEach((p, i) => {
		const text = now[i]?.textContent ?? "";
		if (p.textContent !== text) p.textContent = text;
	});
	return true;
}

async function look() {
	try {
		const reply = await fetch(location.pathname, { headers: { Accept: "text/html" } });
		if (reply.ok && !follow(document, new DOMParser().parseFromString(await reply.text(), "text/html"))) {
			location.replace(location.pathname);
			return;
		}
	} catch {
		// The server is away; the next attempt may reach it.
	}
	setTimeout(look, EVERY);
}

if (globalThis.document?.querySelector("[data-busy]")) setTimeout(look, EVERY);
