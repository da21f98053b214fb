/**
 * Times, in ms from the release of a key: until the frame after the one in which the next question is drawn, and
 * until its answer is acknowledged.
 */
() => {
  const { dataset } = document.body;
  const times = { Frames: [], Acks: [] };
  let from = 0, was = "", frame = false, ack = false;
  addEventListener("keyup", (e) => {
    if (!e.key.startsWith("Arrow")) return;
    from = e.timeStamp;
    was = dataset.assignment;
    frame = ack = true;
  }, { capture: true });
  new MutationObserver(() => {
    const since = () => performance.now() - from;
    if (ack && dataset.unsent === "0") {
      ack = false;
      times.Acks.push(since());
    }
    if (frame && dataset.painted === "true" && dataset.assignment !== was) {
      frame = false;
      requestAnimationFrame(() => times.Frames.push(since()));
    }
  }).observe(document.body, { attributeFilter: ["data-unsent", "data-painted"] });
  window.times = times;
}
