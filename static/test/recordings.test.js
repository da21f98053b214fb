import assert from "node:assert/strict";
import { test } from "node:test";
import { sentText, uploadName } from "../js/recordings.js";

test("an upload is called as its file, in the letters that names may have", () => {
  const want = {
    "pick.zip": "pick", "More Pens.zip": "more-pens", "a.b_c.tar.gz": "a-b-c", "x.tgz": "x", "Who?.CSV": "who", "--a--.tar": "a", "no ending": "no-ending", ".zip": "",
    [`${"a".repeat(63)} b.zip`]: "a".repeat(63),
  };
  for (const [file, name] of Object.entries(want)) assert.equal(uploadName(file), name, file);
});

test("what was sent is told in megabytes", () => {
  assert.equal(sentText(0, 12_300_000), "0.0 of 12.3 MB are sent.");
  assert.equal(sentText(12_300_000, 12_300_000), "All is sent.");
});
