/**
 * What speed.js times, on a page that does nothing: from the release of a key to the second frame, and to the echo of a
 * socket.
 * @param {string} echo address of the socket
 */
async (echo) => {
  const times = { Frames: [], Acks: [] };
  const socket = new WebSocket(echo);
  await new Promise((open) => (socket.onopen = open));
  addEventListener("keyup", (e) => {
    const since = () => performance.now() - e.timeStamp;
    requestAnimationFrame(() => requestAnimationFrame(() => times.Frames.push(since())));
    socket.onmessage = () => times.Acks.push(since());
    socket.send("x".repeat(300));
  });
  window.times = times;
  return true;
}
