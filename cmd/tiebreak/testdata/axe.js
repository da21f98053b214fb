/** Runs axe on the page. @param {boolean} all or only the rules that depend on colours */
async (all) => {
  for (const animation of document.getAnimations()) {
    try {
      animation.finish(); // half-faded words have half the contrast
    } catch {
      // it never ends
    }
  }
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const runOnly = all ? { type: "tag", values: tags } : { type: "rule", values: ["color-contrast", "link-in-text-block"] };
  const found = await axe.run(document, { runOnly, resultTypes: ["violations"] });
  return {
    Passed: found.passes.length,
    Violations: found.violations.flatMap((v) => v.nodes.map((n) =>
      `${v.id} (${v.impact}): ${v.help}\n${n.target.join(" ")}\n${n.html.slice(0, 200)}\n${n.failureSummary}`)),
  };
}
