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

/** @param {string} file name @returns {string} what an upload of that file is called if its sender does not say so */
export function uploadName(file) {
	return file.toLowerCase().replace(/\.(zip|tar|tgz|tar\.gz|gz|csv)$/, "").replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64).replace(/-+$/, "");
}

/** @param {number} sent @param {number} total bytes @returns {string} */
export function sentText(sent, total) {
	const mb = (/** @type {number} */ n) => (n / 1e6).toFixed(1);
	return sent < total ? `${mb(sent)} of ${mb(total)} MB are sent.` : "All is sent.";
}

/**
 * Has a form send its file as the body of a request, and tells how far it is. Then the page is loaded with what came.
 * @param {HTMLFormElement} form
 */
function uploads(form) {
	const part = (/** @type {string} */ name) => /** @type {any} */ (form.querySelector(name));
	const [bar, says, now, stop] = ["[data-sent]", "[data-upload-says]", "[data-upload-now]", "[data-upload-stop]"].map(part);
	const tell = (/** @type {string} */ text, wrong = false) => {
		says.textContent = text;
		says.classList.toggle("alert", wrong);
	};
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		const file = part("input[type=file]").files[0];
		if (!file) return tell("Choose a file.", true);
		const table = /\.csv$/i.test(file.name);
		const name = part("input[name=upload_name]").value.trim() || uploadName(file.name);
		const request = new XMLHttpRequest(); // fetch does not tell what was sent
		const end = (/** @type {string} */ text) => {
			sending = false;
			bar.hidden = stop.hidden = true;
			now.disabled = false;
			tell(text, true);
		};
		bar.hidden = stop.hidden = false;
		now.disabled = sending = true;
		stop.onclick = () => request.abort();
		request.upload.onprogress = (e) => {
			bar.value = e.loaded / Math.max(1, file.size);
			tell(sentText(e.loaded, file.size));
		};
		request.onerror = () => end("The server cannot be reached. Send the file again.");
		request.onabort = () => end("The upload was stopped.");
		request.onload = () => {
			/** @type {{set?: string, error?: string}} */
			let reply = {};
			try {
				reply = JSON.parse(request.responseText);
			} catch {
				// a page of a proxy, or of another error
			}
			if (!reply.set) return end(reply.error ?? `The file was not taken (status ${request.status}). It may be larger than a proxy before the server lets through.`);
			location.assign(`${location.pathname}?${new URLSearchParams(table ? { episodes_csv: reply.set } : { set: reply.set })}`);
		};
		request.open("POST", `${form.dataset.upload}?${new URLSearchParams({ name, kind: table ? "table" : "archive" })}`);
		request.setRequestHeader("Content-Type", "application/octet-stream");
		request.send(file);
		tell(sentText(0, file.size));
	});
}

/** Whether a file is being sent: the page is not loaded again then. */
let sending = false;

async function look() {
	if (sending) {
		setTimeout(look, EVERY);
		return;
	}
	try {
		const reply = await fetch(location.href, { headers: { Accept: "text/html" } });
		if (reply.ok && !follow(document, new DOMParser().parseFromString(await reply.text(), "text/html"))) {
			location.replace(location.href);
			return;
		}
	} catch {
		// The server is away; the next attempt may reach it.
	}
	setTimeout(look, EVERY);
}

const form = /** @type {HTMLFormElement | null | undefined} */ (globalThis.document?.querySelector("form[data-upload]"));
if (form) uploads(form);
if (globalThis.document?.querySelector("[data-busy]")) setTimeout(look, EVERY);
