import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { steady } from "../js/steady.js";

/** A piece of a page at y, which may go. */
const piece = (y) => ({
  y, height: 50, isConnected: true,
  getClientRects() { return [1]; },
  getBoundingClientRect() { return { top: this.y - globalThis.window.scrollY, bottom: this.y + this.height - globalThis.window.scrollY }; },
});

/** A page of pieces that is scrolled. */
function page(pieces, scrollY) {
  globalThis.document = { querySelectorAll: () => pieces.filter((p) => p.isConnected) };
  globalThis.window = { scrollY, innerHeight: 800, scrollBy({ top }) { this.scrollY += top; } };
}

afterEach(() => { delete globalThis.document; delete globalThis.window; });

test("a note that grows above moves nothing, also where the first piece on the screen is replaced", () => {
  const pieces = [piece(0), piece(510), piece(600)];
  page(pieces, 500);
  steady(() => {
    pieces[1].isConnected = false;
    for (const p of pieces.slice(1)) p.y += 60;
  });
  assert.equal(pieces[2].getBoundingClientRect().top, 100);
});

test("where all that began on the screen is gone, what began above it holds the place", () => {
  const pieces = [{ ...piece(400), height: 1000 }, piece(510)];
  page(pieces, 500);
  steady(() => {
    pieces[1].isConnected = false;
    pieces[0].y += 60;
  });
  assert.equal(pieces[0].getBoundingClientRect().top, -100);
});

test("the top of a page stays its top", () => {
  const pieces = [piece(100)];
  page(pieces, 0);
  steady(() => { pieces[0].y += 60; });
  assert.equal(globalThis.window.scrollY, 0);
});
